#include "host/screen/agent_input.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kFirst{1h}, kLater{1h + 3s}, kNever{};

struct AgentInputTest : ::testing::Test {
  AgentInput keyboard{[](bool) {}};

  void expect(SteadyTime edit, SteadyTime enter) const {
    EXPECT_EQ(keyboard.typing().edit, edit);
    EXPECT_EQ(keyboard.typing().enter, enter);
    EXPECT_EQ(keyboard.typing().any, std::max(edit, enter));
  }
};

TEST_F(AgentInputTest, EnterIsEnterThoughEscapeWasPressedBefore) {
  keyboard.on_user_input("\x1b", kFirst);
  expect(kFirst, kNever);
  keyboard.on_user_input("\r", kLater);
  expect(kFirst, kLater);
}

TEST_F(AgentInputTest, EnterWithAltIsAnEdit) {
  keyboard.on_user_input("\x1b", kFirst);
  keyboard.on_user_input("\r", kFirst + 1ms);
  expect(kFirst + 1ms, kNever);
}

TEST_F(AgentInputTest, TerminalReplyIsNoEditInPieces) {
  for (const std::string_view reply : {"\x1b[?62;22c", "\x1b]11;rgb:0/0/0\x1b\\", "\x1bP>|term\x1b\\"})
    for (std::size_t cut = 2; cut <= reply.size(); ++cut) {
      AgentInput fresh{[](bool) {}};
      fresh.on_user_input(reply.substr(0, cut), kFirst);
      fresh.on_user_input(reply.substr(cut), kFirst + 1ms);
      EXPECT_EQ(fresh.typing().any, kNever) << reply.substr(1) << " cut at " << cut;
    }
}

TEST_F(AgentInputTest, LoneEscapeCountsAsUser) {
  keyboard.on_user_input("\x1b", kFirst);
  keyboard.on_user_input("[?62;22c", kFirst + 1ms);
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

struct HoldingInputTest : ::testing::Test {
  FakeProgram program;
  std::vector<bool> crowded;
  AgentInput keyboard{[this](bool now) { crowded.push_back(now); }};

  HoldingInputTest() {
    keyboard.connect(program);
    keyboard.hold(KeyHold::All, kFirst);
  }
};

TEST_F(HoldingInputTest, HeldKeysFollowOurTextAndCountThen) {
  keyboard.on_user_input("a", kFirst);
  keyboard.on_user_input("b", kFirst + 10ms);
  keyboard.write("\r");
  EXPECT_EQ(program.taken, "\r");
  EXPECT_EQ(keyboard.held(kFirst + 20ms).since, kFirst);
  EXPECT_EQ(keyboard.typing().any, kNever) << "they did not touch the composer";
  EXPECT_TRUE(keyboard.hold(KeyHold::None, kLater));
  EXPECT_EQ(program.taken, "\rab");
  EXPECT_EQ(keyboard.typing().edit, kLater);
  EXPECT_FALSE(keyboard.held(kLater).since);
  keyboard.on_user_input("c", kLater + 1ms);
  EXPECT_EQ(program.taken, "\rabc");
}

TEST_F(HoldingInputTest, TerminalReplyIsNotHeld) {
  keyboard.on_user_input("\x1b[?62;22c", kFirst);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
  program.taken.clear();
  keyboard.on_user_input("\x1b", kFirst);
  EXPECT_EQ(program.taken, "") << "it may be the Escape key";
  keyboard.on_user_input("[?62;22c", kFirst + 1ms);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
}

TEST_F(HoldingInputTest, KeysAreNotHeldForEver) {
  keyboard.on_user_input("a", kFirst);
  EXPECT_EQ(keyboard.due(), kFirst + kMaxHeld);
  EXPECT_FALSE(keyboard.hold(KeyHold::All, kFirst + kMaxHeld - 1ms));
  EXPECT_TRUE(keyboard.hold(KeyHold::All, kFirst + kMaxHeld));
  EXPECT_EQ(program.taken, "a");
}

TEST_F(HoldingInputTest, FloodOfKeysPausesUser) {
  keyboard.on_user_input(std::string(kMaxHeldBytes - 1, 'a'), kFirst);
  EXPECT_TRUE(crowded.empty());
  keyboard.on_user_input("b", kFirst);
  EXPECT_EQ(crowded, std::vector<bool>{true});
  keyboard.hold(KeyHold::None, kLater);
  EXPECT_EQ(crowded, (std::vector<bool>{true, false}));
  EXPECT_EQ(program.taken.size(), kMaxHeldBytes);
}

TEST_F(HoldingInputTest, HeldEnterFollowsKeysAfterGap) {
  keyboard.on_user_input("hello", kFirst);
  keyboard.on_user_input("\r", kFirst + 100ms);
  keyboard.hold(KeyHold::None, kLater);
  keyboard.on_user_input("!", kLater + 1ms);
  EXPECT_EQ(program.taken, "hello");
  EXPECT_EQ(keyboard.due(), kLater + kEnterGap);
  keyboard.hold(KeyHold::None, kLater + kEnterGap);
  EXPECT_EQ(program.taken, "hello\r!");
  EXPECT_EQ(keyboard.typing().enter, kLater + kEnterGap);
}

struct DialogInputTest : HoldingInputTest {
  static constexpr SteadyTime kOpened = kFirst + 100ms, kClosed = kFirst + 60s;

  void open(KeyHold hold = KeyHold::Earlier) { keyboard.hold(hold, kOpened); }
  /// What is held is with the program once the dialog counts as closed.
  void close() {
    keyboard.hold(KeyHold::None, kClosed);
    keyboard.hold(KeyHold::None, kClosed + kDialogSettle);
    keyboard.hold(KeyHold::None, kClosed + kDialogSettle + kEnterGap);
  }
};

TEST_F(DialogInputTest, EnterPressedBeforeTheDialogDoesNotApproveIt) {
  keyboard.on_user_input("yes", kFirst);
  keyboard.on_user_input("\r", kFirst + 50ms);
  open();
  EXPECT_FALSE(keyboard.hold(KeyHold::Earlier, kFirst + 30s)) << "however long it is open";
  EXPECT_EQ(program.taken, "");
  EXPECT_FALSE(keyboard.due()) << "only the dialog is waited for";
  EXPECT_TRUE(keyboard.overtaken());
  close();
  EXPECT_EQ(program.taken, "yes\r");
  EXPECT_FALSE(keyboard.overtaken());
}

TEST_F(DialogInputTest, KeysPressedAfterTheDialogWasDrawnReachItAtOnce) {
  keyboard.on_user_input("draft", kFirst);
  open();
  for (const auto* key : {"\x1b[B", "\x03", "\r"}) {
    program.taken.clear();
    keyboard.on_user_input(key, kOpened + 1s);
    EXPECT_EQ(program.taken, key);
  }
  EXPECT_EQ(keyboard.typing().enter, kOpened + 1s);
  program.taken.clear();
  close();
  EXPECT_EQ(program.taken, "draft");
}

TEST_F(DialogInputTest, AnotherDialogRightBehindTheFirstGetsNoHeldKeys) {
  keyboard.on_user_input("\r", kFirst);
  open();
  EXPECT_FALSE(keyboard.hold(KeyHold::None, kClosed));
  EXPECT_EQ(keyboard.due(), kClosed + kDialogSettle);
  keyboard.on_user_input("!", kClosed + 10ms);
  EXPECT_EQ(program.taken, "") << "in the order they were pressed";
  keyboard.hold(KeyHold::Earlier, kClosed + kDialogSettle - 1ms);
  EXPECT_FALSE(keyboard.hold(KeyHold::Earlier, kClosed + 10s));
  EXPECT_EQ(program.taken, "");
  keyboard.hold(KeyHold::None, kClosed + 20s);
  EXPECT_TRUE(keyboard.hold(KeyHold::None, kClosed + 20s + kDialogSettle));
  EXPECT_EQ(program.taken, "\r!");
}

TEST_F(DialogInputTest, UnsentMessageBehindDialogHoldsKeysAgain) {
  keyboard.on_user_input("a", kFirst);
  open();
  EXPECT_FALSE(keyboard.held(kOpened + 20s).since) << "the message has not to give way to them";
  EXPECT_FALSE(keyboard.hold(KeyHold::All, kClosed));
  EXPECT_EQ(keyboard.held(kClosed).since, kClosed);
  EXPECT_FALSE(keyboard.hold(KeyHold::All, kClosed + kMaxHeld - 1ms));
  EXPECT_TRUE(keyboard.hold(KeyHold::All, kClosed + kMaxHeld));
  EXPECT_EQ(program.taken, "a");
}

TEST_F(DialogInputTest, SuspectedDialogKeepsBound) {
  keyboard.on_user_input("a", kFirst);
  keyboard.on_user_input("\r", kFirst + 1ms);
  open(KeyHold::EarlierBounded);
  keyboard.on_user_input("n", kOpened + 1s);
  EXPECT_EQ(program.taken, "n");
  EXPECT_EQ(keyboard.due(), kFirst + kMaxHeld);
  EXPECT_TRUE(keyboard.hold(KeyHold::EarlierBounded, kFirst + kMaxHeld));
  EXPECT_EQ(program.taken, "na");
  EXPECT_EQ(keyboard.due(), kFirst + kMaxHeld + kEnterGap);
  EXPECT_TRUE(keyboard.hold(KeyHold::EarlierBounded, kFirst + kMaxHeld + kEnterGap));
  EXPECT_EQ(program.taken, "na\r");
}

TEST_F(DialogInputTest, NothingHeldFollowsWhileAFrameIsDrawn) {
  keyboard.on_user_input("yes", kFirst);
  keyboard.on_user_input("\r", kFirst + 1ms);
  keyboard.hold(KeyHold::None, kFirst + 2ms);
  ASSERT_EQ(program.taken, "yes");
  EXPECT_FALSE(keyboard.hold(KeyHold::Frame, kFirst + 3ms));
  EXPECT_FALSE(keyboard.hold(KeyHold::Frame, kFirst + kMaxHeld)) << "the frame may be a dialog's";
  EXPECT_FALSE(keyboard.due()) << "the frame ends in its own time";
  open();
  EXPECT_EQ(program.taken, "yes");
  close();
  EXPECT_EQ(program.taken, "yes\r");
}

TEST_F(DialogInputTest, FrameKeepsHoldOfKeys) {
  keyboard.hold(KeyHold::None, kFirst);
  keyboard.hold(KeyHold::Frame, kFirst);
  keyboard.on_user_input("a", kFirst + 1ms);
  EXPECT_EQ(program.taken, "a");
  keyboard.hold(KeyHold::All, kFirst + 2ms);
  keyboard.hold(KeyHold::Frame, kFirst + 3ms);
  keyboard.on_user_input("b", kFirst + 4ms);
  EXPECT_EQ(program.taken, "a");
}

TEST_F(DialogInputTest, KeysPressedBeforeADialogWasRecognisedAndAfterItWasDrawnReachIt) {
  keyboard.on_user_input("mine", kFirst);
  keyboard.hold(KeyHold::Frame, kFirst + 100ms);
  keyboard.on_user_input("\x1b[B", kFirst + 300ms);
  keyboard.on_user_input("\r", kFirst + 400ms);
  EXPECT_EQ(program.taken, "") << "the composer may come back";
  EXPECT_TRUE(keyboard.hold(KeyHold::Earlier, kFirst + 1s, kFirst + 100ms));
  EXPECT_EQ(program.taken, "\x1b[B\r");
  EXPECT_EQ(keyboard.typing().enter, kFirst + 400ms);
  EXPECT_EQ(keyboard.describe_held().bytes, 4U);
  EXPECT_FALSE(keyboard.hold(KeyHold::Earlier, kFirst + 2s, kFirst + 100ms));
  close();
  EXPECT_EQ(program.taken, "\x1b[B\rmine");
}

TEST_F(DialogInputTest, EscapeBeforeRecognitionReachesDialog) {
  keyboard.hold(KeyHold::Frame, kFirst);
  keyboard.on_user_input("\x1b", kFirst + 1ms);
  EXPECT_TRUE(keyboard.hold(KeyHold::Earlier, kFirst + 1s, kFirst));
  EXPECT_EQ(program.taken, "\x1b");
  EXPECT_FALSE(keyboard.overtaken());
}

TEST_F(DialogInputTest, SequenceBegunBeforeLateDialogStaysWhole) {
  keyboard.on_user_input("x\x1b[", kFirst);
  keyboard.hold(KeyHold::Frame, kFirst + 1ms);
  keyboard.on_user_input("1;5Dn", kFirst + 2ms);
  keyboard.hold(KeyHold::Earlier, kFirst + 1s, kFirst + 1ms);
  EXPECT_EQ(program.taken, "n");
  close();
  EXPECT_EQ(program.taken, "nx\x1b[1;5D");
}

TEST(KeyHold, KeysAreNotReleasedIntoUndescribedDialog) {
  using profiles::Blocker, profiles::State;
  EXPECT_EQ(key_hold({.state = State::Blocked, .blocker = Blocker::Dialog}), KeyHold::Earlier);
  EXPECT_EQ(key_hold({.state = State::Blocked, .blocker = Blocker::UnknownScreen}), KeyHold::Earlier);
  EXPECT_EQ(key_hold({.state = State::Typing, .mid_frame = true, .message_unsent = true}), KeyHold::Frame)
      << "the frame may be a dialog's";
}

TEST(KeyHold, NothingIsHeldForEverWithoutADialog) {
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
      fresh.hold(KeyHold::All, kFirst);
      fresh.on_user_input("x", kFirst);
      fresh.on_user_input(sequence.substr(0, cut), kFirst + 1ms);
      fresh.hold(KeyHold::Earlier, kFirst + 2ms);
      fresh.on_user_input(std::string{sequence.substr(cut)} + "\x1b[B", kFirst + 3ms);
      EXPECT_EQ(fresh_program.taken, "\x1b[B") << "cut at " << cut;
      fresh.hold(KeyHold::None, kClosed);
      fresh.hold(KeyHold::None, kClosed + kDialogSettle);
      EXPECT_EQ(fresh_program.taken, "\x1b[Bx" + std::string{sequence}) << "cut at " << cut;
    }
}

TEST_F(DialogInputTest, SequenceBegunInDialogEndsThere) {
  keyboard.on_user_input("x", kFirst);
  open();
  keyboard.on_user_input("\x1b[", kClosed - 1ms);
  keyboard.hold(KeyHold::None, kClosed);
  keyboard.on_user_input("By", kClosed + 1ms);
  EXPECT_EQ(program.taken, "\x1b[B");
  close();
  EXPECT_EQ(program.taken, "\x1b[Bxy");
}

TEST_F(DialogInputTest, EscapeBeforeDialogIsNotJoinedToLaterKey) {
  keyboard.on_user_input("x\x1b", kFirst);
  open();
  keyboard.on_user_input("y", kOpened + 1s);
  EXPECT_EQ(program.taken, "y");
  close();
  EXPECT_EQ(program.taken, "yx\x1b");
}

TEST_F(DialogInputTest, FloodOfKeysLeavesDialogAnswerable) {
  keyboard.on_user_input(std::string(kMaxHeldBytes, 'a'), kFirst);
  EXPECT_EQ(crowded, std::vector<bool>{true});
  open();
  EXPECT_EQ(crowded, (std::vector<bool>{true, false}));
  keyboard.on_user_input("\r", kOpened + 1s);
  EXPECT_EQ(program.taken, "\r");
}

TEST_F(DialogInputTest, PasteBeyondBoundIsTruncatedAndEnds) {
  keyboard.on_user_input("\x1b[200~", kFirst);
  open();
  keyboard.on_user_input(std::string(kMaxHeldBytes + 10, '\r'), kOpened);
  EXPECT_EQ(program.taken, "") << "it must not reach the dialog";
  keyboard.on_user_input("\x1b[201~", kOpened + 1ms);
  keyboard.on_user_input("n", kOpened + 2ms);
  EXPECT_EQ(program.taken, "n");
  EXPECT_EQ(keyboard.describe_held().discarded, 6 + 10 + 6U);
  program.taken.clear();
  close();
  EXPECT_EQ(program.taken.size(), kMaxHeldBytes + 6);
  EXPECT_TRUE(program.taken.ends_with("\r\x1b[201~"));
}

TEST_F(DialogInputTest, TerminalReplyPassesHeldKeys) {
  keyboard.on_user_input("a", kFirst);
  open();
  keyboard.on_user_input("\x1b[?62;22c", kOpened + 1ms);
  EXPECT_EQ(program.taken, "\x1b[?62;22c");
}

}  // namespace
}  // namespace relay::host
