#include "host/screen/agent_input.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kTypedAt{1h}, kLater{1h + 3s}, kNever{};

struct AgentInputTest : ::testing::Test {
  AgentInput input{[](bool) {}};

  void expect(SteadyTime edit, SteadyTime enter) const {
    EXPECT_EQ(input.typing().edit, edit);
    EXPECT_EQ(input.typing().enter, enter);
    EXPECT_EQ(input.typing().any, std::max(edit, enter));
  }
};

TEST_F(AgentInputTest, EnterAfterEscapeIsEnter) {
  input.on_user_input("\x1b", kTypedAt);
  expect(kTypedAt, kNever);
  input.on_user_input("\r", kLater);
  expect(kTypedAt, kLater);
}

TEST_F(AgentInputTest, EnterWithAltIsAnEdit) {
  input.on_user_input("\x1b", kTypedAt);
  input.on_user_input("\r", kTypedAt + 1ms);
  expect(kTypedAt + 1ms, kNever);
}

TEST_F(AgentInputTest, TerminalReplyIsNoEditInPieces) {
  for (const std::string_view reply : {"\x1b[?62;22c", "\x1b]11;rgb:0/0/0\x1b\\", "\x1bP>|term\x1b\\"})
    for (std::size_t cut = 2; cut <= reply.size(); ++cut) {
      AgentInput fresh{[](bool) {}};
      fresh.on_user_input(reply.substr(0, cut), kTypedAt);
      fresh.on_user_input(reply.substr(cut), kTypedAt + 1ms);
      EXPECT_EQ(fresh.typing().any, kNever) << reply.substr(1) << " cut at " << cut;
    }
}

TEST_F(AgentInputTest, LoneEscapeCountsAsUser) {
  input.on_user_input("\x1b", kTypedAt);
  input.on_user_input("[?62;22c", kTypedAt + 1ms);
  expect(kTypedAt, kNever);
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

struct HoldingInputTest : ::testing::Test {
  FakeProgram program;
  std::vector<bool> crowded;
  AgentInput input{[this](bool now) { crowded.push_back(now); }};

  HoldingInputTest() {
    input.connect(program);
    input.hold(KeyHold::All, kTypedAt);
  }
};

TEST_F(HoldingInputTest, HeldKeysFollowInjectedTextAndCountThen) {
  input.on_user_input("a", kTypedAt);
  input.on_user_input("b", kTypedAt + 10ms);
  input.write("\r");
  EXPECT_EQ(program.taken, "\r");
  EXPECT_EQ(input.held(kTypedAt + 20ms).since, kTypedAt);
  EXPECT_EQ(input.typing().any, kNever) << "they did not touch the composer";
  EXPECT_TRUE(input.hold(KeyHold::None, kLater));
  EXPECT_EQ(program.taken, "\rab");
  EXPECT_EQ(input.typing().edit, kLater);
  EXPECT_FALSE(input.held(kLater).since);
  input.on_user_input("c", kLater + 1ms);
  EXPECT_EQ(program.taken, "\rabc");
}

TEST_F(HoldingInputTest, TerminalReplyIsNotHeld) {
  input.on_user_input("\x1b[?62;22c", kTypedAt);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
  program.taken.clear();
  input.on_user_input("\x1b", kTypedAt);
  EXPECT_EQ(program.taken, "") << "it may be the Escape key";
  input.on_user_input("[?62;22c", kTypedAt + 1ms);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
}

TEST_F(HoldingInputTest, HeldKeysAreReleasedAfterTimeout) {
  input.on_user_input("a", kTypedAt);
  EXPECT_EQ(input.due(), kTypedAt + kMaxHeld);
  EXPECT_FALSE(input.hold(KeyHold::All, kTypedAt + kMaxHeld - 1ms));
  EXPECT_TRUE(input.hold(KeyHold::All, kTypedAt + kMaxHeld));
  EXPECT_EQ(program.taken, "a");
}

TEST_F(HoldingInputTest, FloodOfKeysPausesUser) {
  input.on_user_input(std::string(kMaxHeldBytes - 1, 'a'), kTypedAt);
  EXPECT_TRUE(crowded.empty());
  input.on_user_input("b", kTypedAt);
  EXPECT_EQ(crowded, std::vector<bool>{true});
  input.hold(KeyHold::None, kLater);
  EXPECT_EQ(crowded, (std::vector<bool>{true, false}));
  EXPECT_EQ(program.taken.size(), kMaxHeldBytes);
}

TEST_F(HoldingInputTest, HeldEnterFollowsKeysAfterGap) {
  input.on_user_input("hello", kTypedAt);
  input.on_user_input("\r", kTypedAt + 100ms);
  input.hold(KeyHold::None, kLater);
  input.on_user_input("!", kLater + 1ms);
  EXPECT_EQ(program.taken, "hello");
  EXPECT_EQ(input.due(), kLater + kEnterGap);
  input.hold(KeyHold::None, kLater + kEnterGap);
  EXPECT_EQ(program.taken, "hello\r!");
  EXPECT_EQ(input.typing().enter, kLater + kEnterGap);
}

struct DialogInputTest : HoldingInputTest {
  static constexpr SteadyTime kOpened = kTypedAt + 100ms, kClosed = kTypedAt + 60s;

  void open(KeyHold hold = KeyHold::Earlier) { input.hold(hold, kOpened); }
  /// What is held is with the program once the dialog counts as closed.
  void close() {
    input.hold(KeyHold::None, kClosed);
    input.hold(KeyHold::None, kClosed + kDialogClosedTime);
    input.hold(KeyHold::None, kClosed + kDialogClosedTime + kEnterGap);
  }
};

TEST_F(DialogInputTest, EnterPressedBeforeDialogDoesNotApproveIt) {
  input.on_user_input("yes", kTypedAt);
  input.on_user_input("\r", kTypedAt + 50ms);
  open();
  EXPECT_FALSE(input.hold(KeyHold::Earlier, kTypedAt + 30s)) << "however long it is open";
  EXPECT_EQ(program.taken, "");
  EXPECT_FALSE(input.due()) << "only the end of the dialog releases them";
  EXPECT_TRUE(input.overtaken());
  close();
  EXPECT_EQ(program.taken, "yes\r");
  EXPECT_FALSE(input.overtaken());
}

TEST_F(DialogInputTest, KeysPressedAfterDialogWasDrawnReachItAtOnce) {
  input.on_user_input("draft", kTypedAt);
  open();
  for (const auto* key : {"\x1b[B", "\x03", "\r"}) {
    program.taken.clear();
    input.on_user_input(key, kOpened + 1s);
    EXPECT_EQ(program.taken, key);
  }
  EXPECT_EQ(input.typing().enter, kOpened + 1s);
  program.taken.clear();
  close();
  EXPECT_EQ(program.taken, "draft");
}

TEST_F(DialogInputTest, SecondDialogGetsNoHeldKeys) {
  input.on_user_input("\r", kTypedAt);
  open();
  EXPECT_FALSE(input.hold(KeyHold::None, kClosed));
  EXPECT_EQ(input.due(), kClosed + kDialogClosedTime);
  input.on_user_input("!", kClosed + 10ms);
  EXPECT_EQ(program.taken, "") << "in the order they were pressed";
  input.hold(KeyHold::Earlier, kClosed + kDialogClosedTime - 1ms);
  EXPECT_FALSE(input.hold(KeyHold::Earlier, kClosed + 10s));
  EXPECT_EQ(program.taken, "");
  input.hold(KeyHold::None, kClosed + 20s);
  EXPECT_TRUE(input.hold(KeyHold::None, kClosed + 20s + kDialogClosedTime));
  EXPECT_EQ(program.taken, "\r!");
}

TEST_F(DialogInputTest, UnsentMessageBehindDialogHoldsKeysAgain) {
  input.on_user_input("a", kTypedAt);
  open();
  EXPECT_FALSE(input.held(kOpened + 20s).since) << "the message need not yield to them";
  EXPECT_FALSE(input.hold(KeyHold::All, kClosed));
  EXPECT_EQ(input.held(kClosed).since, kClosed);
  EXPECT_FALSE(input.hold(KeyHold::All, kClosed + kMaxHeld - 1ms));
  EXPECT_TRUE(input.hold(KeyHold::All, kClosed + kMaxHeld));
  EXPECT_EQ(program.taken, "a");
}

TEST_F(DialogInputTest, SuspectedDialogKeepsBound) {
  input.on_user_input("a", kTypedAt);
  input.on_user_input("\r", kTypedAt + 1ms);
  open(KeyHold::EarlierBounded);
  input.on_user_input("n", kOpened + 1s);
  EXPECT_EQ(program.taken, "n");
  EXPECT_EQ(input.due(), kTypedAt + kMaxHeld);
  EXPECT_TRUE(input.hold(KeyHold::EarlierBounded, kTypedAt + kMaxHeld));
  EXPECT_EQ(program.taken, "na");
  EXPECT_EQ(input.due(), kTypedAt + kMaxHeld + kEnterGap);
  EXPECT_TRUE(input.hold(KeyHold::EarlierBounded, kTypedAt + kMaxHeld + kEnterGap));
  EXPECT_EQ(program.taken, "na\r");
}

TEST_F(DialogInputTest, HeldKeysAreNotReleasedDuringFrame) {
  input.on_user_input("yes", kTypedAt);
  input.on_user_input("\r", kTypedAt + 1ms);
  input.hold(KeyHold::None, kTypedAt + 2ms);
  ASSERT_EQ(program.taken, "yes");
  EXPECT_FALSE(input.hold(KeyHold::Frame, kTypedAt + 3ms));
  EXPECT_FALSE(input.hold(KeyHold::Frame, kTypedAt + kMaxHeld)) << "the frame may be a dialog's";
  EXPECT_FALSE(input.due()) << "the frame has its own timeout";
  open();
  EXPECT_EQ(program.taken, "yes");
  close();
  EXPECT_EQ(program.taken, "yes\r");
}

TEST_F(DialogInputTest, FrameKeepsHoldOfKeys) {
  input.hold(KeyHold::None, kTypedAt);
  input.hold(KeyHold::Frame, kTypedAt);
  input.on_user_input("a", kTypedAt + 1ms);
  EXPECT_EQ(program.taken, "a");
  input.hold(KeyHold::All, kTypedAt + 2ms);
  input.hold(KeyHold::Frame, kTypedAt + 3ms);
  input.on_user_input("b", kTypedAt + 4ms);
  EXPECT_EQ(program.taken, "a");
}

TEST_F(DialogInputTest, KeysPressedBetweenDrawingAndRecognitionReachDialog) {
  input.on_user_input("mine", kTypedAt);
  input.hold(KeyHold::Frame, kTypedAt + 100ms);
  input.on_user_input("\x1b[B", kTypedAt + 300ms);
  input.on_user_input("\r", kTypedAt + 400ms);
  EXPECT_EQ(program.taken, "") << "the composer may return";
  EXPECT_TRUE(input.hold(KeyHold::Earlier, kTypedAt + 1s, kTypedAt + 100ms));
  EXPECT_EQ(program.taken, "\x1b[B\r");
  EXPECT_EQ(input.typing().enter, kTypedAt + 400ms);
  EXPECT_EQ(input.describe_held().bytes, 4U);
  EXPECT_FALSE(input.hold(KeyHold::Earlier, kTypedAt + 2s, kTypedAt + 100ms));
  close();
  EXPECT_EQ(program.taken, "\x1b[B\rmine");
}

TEST_F(DialogInputTest, EscapeBeforeRecognitionReachesDialog) {
  input.hold(KeyHold::Frame, kTypedAt);
  input.on_user_input("\x1b", kTypedAt + 1ms);
  EXPECT_TRUE(input.hold(KeyHold::Earlier, kTypedAt + 1s, kTypedAt));
  EXPECT_EQ(program.taken, "\x1b");
  EXPECT_FALSE(input.overtaken());
}

TEST_F(DialogInputTest, SequenceStartedBeforeLateDialogStaysWhole) {
  input.on_user_input("x\x1b[", kTypedAt);
  input.hold(KeyHold::Frame, kTypedAt + 1ms);
  input.on_user_input("1;5Dn", kTypedAt + 2ms);
  input.hold(KeyHold::Earlier, kTypedAt + 1s, kTypedAt + 1ms);
  EXPECT_EQ(program.taken, "n");
  close();
  EXPECT_EQ(program.taken, "nx\x1b[1;5D");
}

TEST(KeyHold, KeysAreNotReleasedIntoUnknownDialog) {
  using profiles::Blocker, profiles::State;
  EXPECT_EQ(key_hold({.state = State::Blocked, .blocker = Blocker::Dialog}), KeyHold::Earlier);
  EXPECT_EQ(key_hold({.state = State::Blocked, .blocker = Blocker::UnknownScreen}), KeyHold::Earlier);
  EXPECT_EQ(key_hold({.state = State::Typing, .mid_frame = true, .message_unsent = true}), KeyHold::Frame)
      << "the frame may be a dialog's";
}

TEST(KeyHold, KeysAreReleasedWithoutDialog) {
  using profiles::Blocker, profiles::State;
  EXPECT_EQ(key_hold({.state = State::Blocked, .blocker = Blocker::Silent}), KeyHold::EarlierBounded);
  EXPECT_EQ(key_hold({.state = State::Typing, .message_unsent = true}), KeyHold::All);
  EXPECT_EQ(key_hold({.state = State::Typing}), KeyHold::None);
  EXPECT_EQ(key_hold({.state = State::Working, .screen = State::Unknown, .overtaken = true}), KeyHold::All);
  EXPECT_EQ(key_hold({.state = State::Working, .screen = State::Working, .overtaken = true}), KeyHold::None);
}

TEST_F(DialogInputTest, SequenceCutByDialogStaysWhole) {
  for (const std::string_view sequence : {"\x1b[1;5D", "\x1b[200~a\rb\x1b[201~", "\x1b[<0;5;7M", "\xc3\xa4"})
    for (std::size_t cut = 1; cut < sequence.size(); ++cut) {
      FakeProgram fresh_program;
      AgentInput fresh{[](bool) {}};
      fresh.connect(fresh_program);
      fresh.hold(KeyHold::All, kTypedAt);
      fresh.on_user_input("x", kTypedAt);
      fresh.on_user_input(sequence.substr(0, cut), kTypedAt + 1ms);
      fresh.hold(KeyHold::Earlier, kTypedAt + 2ms);
      fresh.on_user_input(std::string{sequence.substr(cut)} + "\x1b[B", kTypedAt + 3ms);
      EXPECT_EQ(fresh_program.taken, "\x1b[B") << "cut at " << cut;
      fresh.hold(KeyHold::None, kClosed);
      fresh.hold(KeyHold::None, kClosed + kDialogClosedTime);
      EXPECT_EQ(fresh_program.taken, "\x1b[Bx" + std::string{sequence}) << "cut at " << cut;
    }
}

TEST_F(DialogInputTest, SequenceStartedInDialogEndsThere) {
  input.on_user_input("x", kTypedAt);
  open();
  input.on_user_input("\x1b[", kClosed - 1ms);
  input.hold(KeyHold::None, kClosed);
  input.on_user_input("By", kClosed + 1ms);
  EXPECT_EQ(program.taken, "\x1b[B");
  close();
  EXPECT_EQ(program.taken, "\x1b[Bxy");
}

TEST_F(DialogInputTest, EscapeBeforeDialogIsNotJoinedToLaterKey) {
  input.on_user_input("x\x1b", kTypedAt);
  open();
  input.on_user_input("y", kOpened + 1s);
  EXPECT_EQ(program.taken, "y");
  close();
  EXPECT_EQ(program.taken, "yx\x1b");
}

TEST_F(DialogInputTest, FloodOfKeysLeavesDialogAnswerable) {
  input.on_user_input(std::string(kMaxHeldBytes, 'a'), kTypedAt);
  EXPECT_EQ(crowded, std::vector<bool>{true});
  open();
  EXPECT_EQ(crowded, (std::vector<bool>{true, false}));
  input.on_user_input("\r", kOpened + 1s);
  EXPECT_EQ(program.taken, "\r");
}

TEST_F(DialogInputTest, PasteBeyondBoundIsTruncatedAndEnds) {
  input.on_user_input("\x1b[200~", kTypedAt);
  open();
  input.on_user_input(std::string(kMaxHeldBytes + 10, '\r'), kOpened);
  EXPECT_EQ(program.taken, "") << "it must not reach the dialog";
  input.on_user_input("\x1b[201~", kOpened + 1ms);
  input.on_user_input("n", kOpened + 2ms);
  EXPECT_EQ(program.taken, "n");
  EXPECT_EQ(input.describe_held().discarded, 6 + 10 + 6U);
  program.taken.clear();
  close();
  EXPECT_EQ(program.taken.size(), kMaxHeldBytes + 6);
  EXPECT_TRUE(program.taken.ends_with("\r\x1b[201~"));
}

TEST_F(DialogInputTest, TerminalReplyPassesHeldKeys) {
  input.on_user_input("a", kTypedAt);
  open();
  input.on_user_input("\x1b[?62;22c", kOpened + 1ms);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
}

}  // namespace
}  // namespace relay::host
