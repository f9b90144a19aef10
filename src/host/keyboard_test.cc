#include "host/keyboard.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kFirst{1h}, kLater{1h + 3s}, kNever{};

struct KeyboardTest : testing::Test {
  Keyboard keyboard{[](bool) {}};

  void expect(SteadyTime edit, SteadyTime enter) const {
    EXPECT_EQ(keyboard.typing().edit, edit);
    EXPECT_EQ(keyboard.typing().enter, enter);
    EXPECT_EQ(keyboard.typing().any, std::max(edit, enter));
  }
};

TEST_F(KeyboardTest, EnterIsEnterThoughEscapeWasPressedBefore) {
  keyboard.person_types("\x1b", kFirst);
  expect(kFirst, kNever);
  keyboard.person_types("\r", kLater);
  expect(kFirst, kLater);
}

TEST_F(KeyboardTest, EnterWithAltIsAnEdit) {
  keyboard.person_types("\x1b", kFirst);
  keyboard.person_types("\r", kFirst + 1ms);
  expect(kFirst + 1ms, kNever);
}

TEST_F(KeyboardTest, ATerminalsReplyIsNoEditHoweverItIsCut) {
  for (const std::string_view reply : {"\x1b[?62;22c", "\x1b]11;rgb:0/0/0\x1b\\", "\x1bP>|term\x1b\\"})
    for (std::size_t cut = 2; cut <= reply.size(); ++cut) {
      Keyboard fresh{[](bool) {}};
      fresh.person_types(reply.substr(0, cut), kFirst);
      fresh.person_types(reply.substr(cut), kFirst + 1ms);
      EXPECT_EQ(fresh.typing().any, kNever) << reply.substr(1) << " cut at " << cut;
    }
}

TEST_F(KeyboardTest, AnEscapeThatMayBeAloneIsThePersons) {
  keyboard.person_types("\x1b", kFirst);
  keyboard.person_types("[?62;22c", kFirst + 1ms);
  expect(kFirst, kNever);
}

/// Takes what is written, or nothing.
struct FakeProgram final : pty::Program {
  std::string taken;
  [[nodiscard]] pid_t pid() const override { return 1; }
  std::size_t write(std::string_view bytes) override {
    taken += bytes;
    return bytes.size();
  }
  [[nodiscard]] std::size_t input_waiting() const override { return 0; }
  void pause_output() override {}
  void resume_output() override {}
  Result<void> resize(pty::WindowSize) override { return {}; }
  void end(Millis) override {}
};

struct HoldingKeyboardTest : testing::Test {
  FakeProgram program;
  std::vector<bool> crowded;
  Keyboard keyboard{[this](bool now) { crowded.push_back(now); }};

  HoldingKeyboardTest() {
    keyboard.connect(program);
    keyboard.hold(true, kFirst);
  }
};

TEST_F(HoldingKeyboardTest, HeldKeysFollowWhatWeWriteAndCountWhenTheyDo) {
  keyboard.person_types("a", kFirst);
  keyboard.person_types("b", kFirst + 10ms);
  keyboard.write("\r");
  EXPECT_EQ(program.taken, "\r");
  EXPECT_EQ(keyboard.held(kFirst + 20ms).since, kFirst);
  EXPECT_EQ(keyboard.typing().any, kNever) << "they did not touch the composer";
  EXPECT_TRUE(keyboard.hold(false, kLater));
  EXPECT_EQ(program.taken, "\rab");
  EXPECT_EQ(keyboard.typing().edit, kLater);
  EXPECT_FALSE(keyboard.held(kLater).since);
  keyboard.person_types("c", kLater + 1ms);
  EXPECT_EQ(program.taken, "\rabc");
}

TEST_F(HoldingKeyboardTest, ATerminalsReplyIsNotHeld) {
  keyboard.person_types("\x1b[?62;22c", kFirst);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
  program.taken.clear();
  keyboard.person_types("\x1b", kFirst);
  EXPECT_EQ(program.taken, "") << "it may be the Escape key";
  keyboard.person_types("[?62;22c", kFirst + 1ms);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
}

TEST_F(HoldingKeyboardTest, KeysAreNotHeldForEver) {
  keyboard.person_types("a", kFirst);
  EXPECT_EQ(keyboard.due(), kFirst + kMaxHeld);
  EXPECT_FALSE(keyboard.hold(true, kFirst + kMaxHeld - 1ms));
  EXPECT_TRUE(keyboard.hold(true, kFirst + kMaxHeld));
  EXPECT_EQ(program.taken, "a");
}

TEST_F(HoldingKeyboardTest, WhoTypesMuchIsPaused) {
  keyboard.person_types(std::string(kMaxHeldBytes - 1, 'a'), kFirst);
  EXPECT_TRUE(crowded.empty());
  keyboard.person_types("b", kFirst);
  EXPECT_EQ(crowded, std::vector<bool>{true});
  keyboard.hold(false, kLater);
  EXPECT_EQ(crowded, (std::vector<bool>{true, false}));
  EXPECT_EQ(program.taken.size(), kMaxHeldBytes);
}

TEST_F(HoldingKeyboardTest, AHeldEnterComesAMomentAfterTheKeysBeforeIt) {
  keyboard.person_types("hello", kFirst);
  keyboard.person_types("\r", kFirst + 100ms);
  keyboard.hold(false, kLater);
  keyboard.person_types("!", kLater + 1ms);
  EXPECT_EQ(program.taken, "hello");
  EXPECT_EQ(keyboard.due(), kLater + kEnterGap);
  keyboard.hold(false, kLater + kEnterGap);
  EXPECT_EQ(program.taken, "hello\r!");
  EXPECT_EQ(keyboard.typing().enter, kLater + kEnterGap);
}

}  // namespace
}  // namespace relay::host
