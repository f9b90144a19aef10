// Daemon, hosts and agents die, and fifty megabytes pour out: nothing is lost, nothing is typed twice, and the ledger
// says what is known and what is not.
#include <signal.h>

#include <fstream>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;

/// The most memory the process ever had, in kB.
std::size_t peak_memory(pid_t pid) {
  std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
  std::size_t peak = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> peak;
  return peak;
}

struct Storms : Agents {
  void restart_daemon() {
    box.kill_daemon();
    box.ok({"up", "--no-http"});
  }
};

TEST_F(Storms, FiftyMegabytesOfOutputReachThePersonAndDelayOnlyTheMail) {
  constexpr int kLines = 50 * 1024 * 1024 / 77 + 1;
  auto& bob = start("Bob");
  bob.type("/flood 50\r");
  ASSERT_TRUE(bob.shows("flood 00001000"));
  const auto id = send("Bob", "these are words");  // nobody reads the terminal meanwhile
  ASSERT_TRUE(bob.shows(format("flood {:08} x", kLines), 64 * 1024));
  EXPECT_TRUE(comes_to(id, "delivered")) << ledger(id).story;
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"/flood 50", letter(id, "these are words")}));
  std::size_t at = 0;
  for (int line = 1; line <= kLines; ++line) {
    at = bob.screen().find(format("flood {:08} x", line), at);
    ASSERT_NE(at, std::string::npos) << "line " << line << " is missing";
  }
  EXPECT_LT(peak_memory(bob.pid()), 64u * 1024);
}

TEST_F(Storms, ADaemonThatWasAwayCostsNothing) {
  script(R"({"rules": [{"contains": "greet", "reply": "I will.\n\n@relay:Bob hello from Alice\n\nDone."}]})");
  start("Bob");
  auto& alice = start("Alice");
  box.kill_daemon();
  alice.type("greet\r");
  ASSERT_TRUE(alice.shows("Done."));
  box.ok({"up", "--no-http"});
  EXPECT_TRUE(hears("Bob", "hello from Alice"));
  EXPECT_EQ(submitted("Bob").size(), 1u);
}

TEST_F(Storms, AConversationGoesOnThroughADaemonThatIsKilledAgainAndAgain) {
  constexpr int kRounds = 9;
  std::string rules;
  for (int i = 1; i < kRounds; ++i)
    rules += format(R"({}{{"contains": "round {};", "reply": "So.\n\n@relay:{} round {};\n\nDone."}})",
                    i > 1 ? "," : "", i, i % 2 == 1 ? "Bob" : "Alice", i + 1);
  script(format(R"({{"rules": [{}]}})", rules));
  start("Bob");
  start("Alice").type("round 1;\r");
  for (const int round : {2, 5, 6}) {
    ASSERT_TRUE(hears(round % 2 == 1 ? "Alice" : "Bob", format("round {};", round)));
    restart_daemon();
  }
  EXPECT_TRUE(hears("Alice", format("round {};", kRounds)));
  for (int i = 1; i <= kRounds; ++i)
    EXPECT_EQ(heard(i % 2 == 1 ? "Alice" : "Bob", format("round {};", i)), 1u) << "round " << i;
  EXPECT_EQ(submitted("Alice").size() + submitted("Bob").size(), static_cast<std::size_t>(kRounds));
}

TEST_F(Storms, MailThatWaitsAtAHostOutlivesTheDaemon) {
  auto& bob = start("Bob");
  bob.type("half a li");
  ASSERT_TRUE(bob.shows("half a li"));
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(waits_because(id, "the composer holds a draft"));
  restart_daemon();
  ASSERT_TRUE(is_here("Bob"));
  bob.type("ne\r");
  EXPECT_TRUE(comes_to(id, "delivered")) << ledger(id).story;
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", letter(id, "these are words")}));
}

TEST_F(Storms, ADaemonKilledBetweenTextAndEnterHearsTheEndOfIt) {
  submit_gap(1s);
  start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  box.kill_daemon();
  ASSERT_TRUE(hears("Bob", "these are words")) << "the host goes on without it";
  box.ok({"up", "--no-http"});
  EXPECT_TRUE(comes_to(id, "delivered")) << ledger(id).story;
  EXPECT_EQ(ledger(id).proof, "submitted");
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(comes_to(next, "delivered")) << ledger(next).story;
  EXPECT_EQ(submitted("Bob"), (std::vector{letter(id, "these are words"), letter(next, "the next")}));
}

TEST_F(Storms, AHostThatDiedGivesItsNameToTheNext) {
  start("Bob");
  kill("Bob");
  start("Bob");
  const auto id = send("Bob", "these are words");
  EXPECT_TRUE(comes_to(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{letter(id, "these are words")});
}

// The promise is SIGHUP, and a terminal that has ended (src/pty/README.md). Who ignores the one and does not read the
// other survives; this agent ignores only the first, when it is stubborn.
TEST_F(Storms, AHostThatDiedHangsUpOnItsAgent) {
  for (const auto& options : {std::vector<std::string>{}, {"--stubborn"}}) {
    start("Bob", options);
    const auto agent = agent_pid("Bob");
    ASSERT_TRUE(is_running(agent));
    kill("Bob");
    EXPECT_TRUE(eventually([&] { return !is_running(agent); }));
  }
}

TEST_F(Storms, MailThatWaitedAtAHostThatDiedGoesToTheNext) {
  auto& bob = start("Bob");
  bob.type("half a li");
  ASSERT_TRUE(bob.shows("half a li"));
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(waits_because(id, "the composer holds a draft"));
  kill("Bob");
  start("Bob");
  EXPECT_TRUE(comes_to(id, "delivered")) << ledger(id).story;
  EXPECT_EQ(submitted("Bob"), std::vector{letter(id, "these are words")});
}

TEST_F(Storms, WhatWasBeingTypedWhenTheHostDiedIsInDoubtAndNeverTypedAgain) {
  start("Bob", {"--swallow-enter", "9"});
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  kill("Bob");
  start("Bob");
  EXPECT_TRUE(comes_to(id, "in_doubt")) << ledger(id).story;
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(comes_to(next, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{letter(next, "the next")});
}

TEST_F(Storms, AnEndThatNoDaemonHeardIsToldByTheNextHost) {
  start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  box.kill_daemon();
  ASSERT_TRUE(hears("Bob", "these are words"));
  ASSERT_TRUE(until([&] {
    std::ifstream notes{box.workspace_directory() + "/outboxes/Bob.outbox.intent"};
    return std::string{std::istreambuf_iterator<char>{notes}, {}}.find("submitted") != std::string::npos;
  }));
  kill("Bob");
  box.ok({"up", "--no-http"});
  start("Bob");
  EXPECT_TRUE(comes_to(id, "delivered")) << ledger(id).story;
  EXPECT_EQ(ledger(id).proof, "submitted");
  EXPECT_EQ(submitted("Bob"), std::vector{letter(id, "these are words")});
}

/// Kills the host as soon as the agent has noted this.
struct HostKills : Storms, testing::WithParamInterface<const char*> {};

TEST_P(HostKills, NeverMakeAMessageArriveTwiceOrALedgerLie) {
  start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", GetParam()) > 0; }));
  kill("Bob");
  start("Bob");
  ASSERT_TRUE(until([&] {
    const auto state = ledger(id).state;
    return state == "delivered" || state == "in_doubt";
  })) << ledger(id).story;
  const auto next = send("Bob", "the next");  // behind it in the same stream: once this is there, all is said and done
  EXPECT_TRUE(comes_to(next, "delivered"));
  EXPECT_LE(heard("Bob", letter(id, "these are words")), 1u);
  if (ledger(id).state == "delivered") { EXPECT_EQ(heard("Bob", "these are words"), 1u) << ledger(id).story; }
  EXPECT_EQ(heard("Bob", "the next"), 1u);
}

INSTANTIATE_TEST_SUITE_P(AtEveryStep, HostKills, testing::Values("start", "paste", "submit", "replied"));

TEST_F(Storms, AnAgentThatEndsBetweenTextAndEnterLeavesADoubt) {
  script(R"({"moments": [{"when": "after_paste", "exit": 9}]})");
  auto& bob = start("Bob");
  const auto id = send("Bob", "these are words");
  EXPECT_EQ(bob.finish(), 9);
  EXPECT_TRUE(comes_to(id, "in_doubt")) << ledger(id).story;
  script("{}");
  start("Bob");
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(comes_to(next, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{letter(next, "the next")});
}

}  // namespace
}  // namespace relay::cli_tests
