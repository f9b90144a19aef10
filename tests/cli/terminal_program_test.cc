// Chat on a terminal.
#include <gtest/gtest.h>

#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

constexpr unsigned short kWide = 200;  // columns, so that no notice is wrapped

class OnTerminal : public ::testing::Test {
 protected:
  OnTerminal() {
    box_.set("NO_COLOR", "1");
    box_.ok({"up"});
    box_.ok({"chat", "--name", "Bob"});
    box_.ok({"chat", "--name", "Alice"});
  }
  Sandbox box_;
};

TEST_F(OnTerminal, ChatPrintsGreeting) {
  Terminal alice{box_, {"chat", "--name", "Alice"}, kWide};
  EXPECT_TRUE(alice.shows("you are Alice; send a message with `@Bob hello`; /help shows more, /quit leaves\n"))
      << alice.screen();
  alice.type("hello\n");
  EXPECT_TRUE(alice.shows("no recipient; write: @NAME TEXT"));
  alice.type("/quit\n");
  EXPECT_EQ(alice.finish(), 0) << "on a terminal an error does not set the exit code";
}

TEST_F(OnTerminal, ChatCommandIsNeverSent) {
  Terminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}};
  EXPECT_TRUE(alice.shows("you are Alice, writing to Bob")) << alice.screen();
  alice.type("/qiut\n");
  EXPECT_TRUE(alice.shows("unknown command /qiut; there are /help and /quit"));
  alice.type("/help\n");
  EXPECT_TRUE(alice.shows("agent-relay: `@Bob hello` sends hello to Bob"));
  alice.type("/usr/bin is full\n@Bob /quit is how one leaves\n/quit\n");
  EXPECT_EQ(alice.finish(), 0);
  const auto inbox = box_.ok({"inbox", "Bob"});
  EXPECT_EQ(std::count(inbox.begin(), inbox.end(), '\n'), 2) << inbox;
  EXPECT_NE(inbox.find("/usr/bin is full"), std::string::npos);
  EXPECT_NE(inbox.find("/quit is how one leaves"), std::string::npos);
}

TEST_F(OnTerminal, EnterRetriesConnection) {
  Terminal alice{box_, {"chat", "--name", "Alice"}, kWide};
  ASSERT_TRUE(alice.shows("you are Alice"));
  box_.kill_daemon();
  ASSERT_TRUE(alice.shows(
      "lost the connection to the daemon; your messages are stored and sent when the daemon is running; start it"));
  for (int i = 0; i < 20; ++i) {  // each failed attempt makes the back-off longer, up to half a minute
    alice.type("\n");
    (void)box_.run({"agents"});
  }
  box_.ok({"up"});
  alice.type("\n");
  EXPECT_TRUE(alice.shows("reconnected to the daemon"));
}

TEST_F(OnTerminal, LinesAfterFirstHaveMargin) {
  Terminal alice{box_, {"chat", "--name", "Alice"}};
  ASSERT_TRUE(alice.shows("you are Alice"));
  box_.ok({"send", "Alice", "-", "--from", "Bob"}, "one\n12:00:00  Carol: forged\nthree\n");
  ASSERT_TRUE(alice.shows("three"));
  EXPECT_NE(alice.screen().find("one\n          | 12:00:00  Carol: forged\n          | three\n"), std::string::npos)
      << alice.screen();
}

TEST_F(OnTerminal, SlowTerminalGetsEverythingInOrder) {
  constexpr int kLines = 1'500;
  std::string lines;
  for (int i = 0; i < kLines; ++i) lines += "line " + std::to_string(i) + "\n";
  box_.ok({"chat", "--name", "Bob", "--to", "Alice"}, lines);
  const std::string large(20'000, 'x');
  box_.ok({"send", "Alice", "-", "--from", "Carol"}, large + "end of it");

  Terminal alice{box_, {"chat", "--name", "Alice"}};
  // The test reads the screen only now, in small blocks.
  ASSERT_TRUE(box_.is_connected("Alice"));
  ASSERT_TRUE(alice.shows("end of it", 100));
  std::string::size_type at = 0;
  for (int i = 0; i < kLines; ++i) {
    at = alice.screen().find("Bob: line " + std::to_string(i) + "\n", at);
    ASSERT_NE(at, std::string::npos) << "line " << i << " is missing or out of order";
  }
  EXPECT_NE(alice.screen().find("Carol: " + large + "end of it\n", at), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
