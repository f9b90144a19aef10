#include "host/prompts/terminal_notifier.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

struct TerminalNotifierTest : ::testing::Test {
  SteadyTime now{std::chrono::seconds{100}};
  static events::Event asks(std::string id, std::string what = "make deploy") {
    return events::PermissionRequested{.request_id = std::move(id), .tool = "Bash", .description = std::move(what)};
  }
};

TEST_F(TerminalNotifierTest, NotifiesOnceForLastingPrompt) {
  TerminalNotifier bell{TerminalNotification::Osc9, "Bob"};
  EXPECT_EQ(bell.notification({asks("r1")}, now), "");
  EXPECT_EQ(bell.due(), now + TerminalNotifier::kTimeout);
  now += TerminalNotifier::kTimeout;
  EXPECT_EQ(bell.notification({asks("r1")}, now), "\x1b]9;Agent Relay: Bob asks for permission: make deploy\x07");
  EXPECT_FALSE(bell.due());
  now += TerminalNotifier::kTimeout;
  EXPECT_EQ(bell.notification({asks("r1")}, now), "");
}

TEST_F(TerminalNotifierTest, PromptAnsweredByRuleDoesNotNotify) {
  TerminalNotifier bell{TerminalNotification::Osc9, "Bob"};
  (void)bell.notification({asks("r1")}, now);
  (void)bell.notification({}, now);
  EXPECT_FALSE(bell.due());
  now += TerminalNotifier::kTimeout;
  EXPECT_EQ(bell.notification({}, now), "");
}

TEST_F(TerminalNotifierTest, FirstApprovalByRuleIsNotifiedOnce) {
  TerminalNotifier bell{TerminalNotification::Osc9, "Bob"};
  bell.note_approval("preset read-only: approves ls and pwd");
  EXPECT_EQ(bell.notification({}, now),
            "\x1b]9;Agent Relay: Bob was approved without asking you by preset read-only: approves ls and pwd\x07");
  bell.note_approval("config.toml:4");
  EXPECT_EQ(bell.notification({}, now), "");
  TerminalNotifier silent{TerminalNotification::Off, "Bob"};
  silent.note_approval("config.toml:4");
  EXPECT_EQ(silent.notification({}, now), "");
}

TEST_F(TerminalNotifierTest, TextCannotEscapeSequence) {
  TerminalNotifier bell{TerminalNotification::Osc777, "Bob"};
  const auto wild = asks("r1", "a;b\x07\x1b]52;c;x\x07" + std::string(500, 'y'));
  (void)bell.notification({wild}, now);
  const auto rung = bell.notification({wild}, now + TerminalNotifier::kTimeout);
  ASSERT_TRUE(rung.starts_with("\x1b]777;notify;Agent Relay;Bob asks for permission: a,b")) << rung;
  EXPECT_EQ(rung.find('\x07'), rung.size() - 1);
  EXPECT_EQ(rung.find('\x1b', 1), std::string::npos);
  EXPECT_LT(rung.size(), 300U);
}

TEST_F(TerminalNotifierTest, NotifiesOnlyWhenEnabled) {
  TerminalNotifier bell{TerminalNotification::Off, "Bob"};
  (void)bell.notification({asks("r1")}, now);
  EXPECT_FALSE(bell.due());
  EXPECT_EQ(bell.notification({asks("r1")}, now + TerminalNotifier::kTimeout), "");
}

}  // namespace
}  // namespace relay::host
