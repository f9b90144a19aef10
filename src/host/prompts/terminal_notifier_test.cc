#include "host/prompts/terminal_notifier.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

struct TerminalNotifierTest : ::testing::Test {
  SteadyTime now{std::chrono::seconds{100}};
  static events::Event permission(std::string id, std::string what = "make deploy") {
    return events::PermissionRequested{.request_id = std::move(id), .tool = "Bash", .description = std::move(what)};
  }
};

TEST_F(TerminalNotifierTest, NotifiesOnceForLastingPrompt) {
  TerminalNotifier notifier{TerminalNotification::Osc9, "Bob"};
  EXPECT_EQ(notifier.notification({permission("r1")}, now), "");
  EXPECT_EQ(notifier.due(), now + TerminalNotifier::kNotifyDelay);
  now += TerminalNotifier::kNotifyDelay;
  EXPECT_EQ(notifier.notification({permission("r1")}, now),
            "\x1b]9;Agent Relay: Bob asks for permission: make deploy\x07");
  EXPECT_FALSE(notifier.due());
  now += TerminalNotifier::kNotifyDelay;
  EXPECT_EQ(notifier.notification({permission("r1")}, now), "");
}

TEST_F(TerminalNotifierTest, PromptAnsweredByRuleDoesNotNotify) {
  TerminalNotifier notifier{TerminalNotification::Osc9, "Bob"};
  (void)notifier.notification({permission("r1")}, now);
  (void)notifier.notification({}, now);
  EXPECT_FALSE(notifier.due());
  now += TerminalNotifier::kNotifyDelay;
  EXPECT_EQ(notifier.notification({}, now), "");
}

TEST_F(TerminalNotifierTest, FirstApprovalByRuleIsNotifiedOnce) {
  TerminalNotifier notifier{TerminalNotification::Osc9, "Bob"};
  notifier.note_approval("preset read-only: approves ls and pwd");
  EXPECT_EQ(notifier.notification({}, now),
            "\x1b]9;Agent Relay: Bob was approved without asking you by preset read-only: approves ls and pwd\x07");
  notifier.note_approval("config.toml:4");
  EXPECT_EQ(notifier.notification({}, now), "");
  TerminalNotifier silent{TerminalNotification::Off, "Bob"};
  silent.note_approval("config.toml:4");
  EXPECT_EQ(silent.notification({}, now), "");
}

TEST_F(TerminalNotifierTest, TextCannotEscapeSequence) {
  TerminalNotifier notifier{TerminalNotification::Osc777, "Bob"};
  const auto wild = permission("r1", "a;b\x07\x1b]52;c;x\x07" + std::string(500, 'y'));
  (void)notifier.notification({wild}, now);
  const auto notified = notifier.notification({wild}, now + TerminalNotifier::kNotifyDelay);
  ASSERT_TRUE(notified.starts_with("\x1b]777;notify;Agent Relay;Bob asks for permission: a,b")) << notified;
  EXPECT_EQ(notified.find('\x07'), notified.size() - 1);
  EXPECT_EQ(notified.find('\x1b', 1), std::string::npos);
  EXPECT_LT(notified.size(), 300U);
}

TEST_F(TerminalNotifierTest, NotifiesOnlyWhenEnabled) {
  TerminalNotifier notifier{TerminalNotification::Off, "Bob"};
  (void)notifier.notification({permission("r1")}, now);
  EXPECT_FALSE(notifier.due());
  EXPECT_EQ(notifier.notification({permission("r1")}, now + TerminalNotifier::kNotifyDelay), "");
}

}  // namespace
}  // namespace relay::host
