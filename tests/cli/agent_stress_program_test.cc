// Kills of the daemon, hosts and agents, and fifty megabytes of output: no message is lost or typed twice, and the
// delivery history is correct.
#include <signal.h>

#include <fstream>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;

/// The peak memory of the process, in kB.
std::size_t peak_memory(pid_t pid) {
  std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
  std::size_t peak = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> peak;
  return peak;
}

struct Stress : Agents {
  void restart_daemon() {
    box.kill_daemon();
    box.ok({"up", "--no-http"});
  }
};

TEST_F(Stress, FiftyMegabytesOfOutputDelayOnlyMessages) {
  constexpr int kLines = 50 * 1024 * 1024 / 77 + 1;
  auto& bob = start("Bob");
  bob.type("/flood 50\r");
  ASSERT_TRUE(bob.shows("flood 00001000"));
  const auto id = send("Bob", "these are words");  // the terminal is not read meanwhile
  ASSERT_TRUE(bob.shows(format("flood {:08} x", kLines), 64 * 1024));
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"/flood 50", delivered_line(id, "these are words")}));
  std::size_t at = 0;
  for (int line = 1; line <= kLines; ++line) {
    at = bob.screen().find(format("flood {:08} x", line), at);
    ASSERT_NE(at, std::string::npos) << "line " << line << " is missing";
  }
  EXPECT_LT(peak_memory(bob.pid()), 64u * 1024);
}

TEST_F(Stress, DaemonRestartLosesNothing) {
  script(R"({"rules": [{"contains": "greet", "reply": "I will.\n\n@relay:Bob hello from Alice\n\nDone."}]})");
  start("Bob");
  auto& alice = start("Alice");
  box.kill_daemon();
  alice.type("greet\r");
  ASSERT_TRUE(alice.shows("Done."));
  box.ok({"up", "--no-http"});
  EXPECT_TRUE(receives("Bob", "hello from Alice"));
  EXPECT_EQ(submitted("Bob").size(), 1u);
}

TEST_F(Stress, ConversationSurvivesRepeatedDaemonKills) {
  constexpr int kRounds = 9;
  std::string rules;
  for (int i = 1; i < kRounds; ++i)
    rules += format(R"({}{{"contains": "round {};", "reply": "So.\n\n@relay:{} round {};\n\nDone."}})",
                    i > 1 ? "," : "", i, i % 2 == 1 ? "Bob" : "Alice", i + 1);
  script(format(R"({{"rules": [{}]}})", rules));
  start("Bob");
  start("Alice").type("round 1;\r");
  for (const int round : {2, 5, 6}) {
    ASSERT_TRUE(receives(round % 2 == 1 ? "Alice" : "Bob", format("round {};", round)));
    restart_daemon();
  }
  EXPECT_TRUE(receives("Alice", format("round {};", kRounds)));
  for (int i = 1; i <= kRounds; ++i)
    EXPECT_EQ(submit_count(i % 2 == 1 ? "Alice" : "Bob", format("round {};", i)), 1u) << "round " << i;
  EXPECT_EQ(submitted("Alice").size() + submitted("Bob").size(), static_cast<std::size_t>(kRounds));
}

TEST_F(Stress, PendingMessagesAtHostSurviveDaemon) {
  auto& bob = start_with_draft("Bob");
  const auto id = send_behind_draft("Bob", "these are words");
  restart_daemon();
  ASSERT_TRUE(is_connected("Bob"));
  bob.type("ne\r");
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", delivered_line(id, "these are words")}));
}

TEST_F(Stress, DaemonKilledBetweenTextAndEnterGetsResult) {
  submit_gap(1s);
  start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  box.kill_daemon();
  ASSERT_TRUE(receives("Bob", "these are words")) << "the host continues without the daemon";
  box.ok({"up", "--no-http"});
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(trace_of(id).proof, "submitted");
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(reaches_state(next, "delivered")) << trace_of(next).history;
  EXPECT_EQ(submitted("Bob"), (std::vector{delivered_line(id, "these are words"), delivered_line(next, "the next")}));
}

TEST_F(Stress, DeadHostFreesName) {
  start("Bob");
  kill("Bob");
  start("Bob");
  const auto id = send("Bob", "these are words");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(id, "these are words")});
}

// A dead host means SIGHUP and a closed terminal (src/pty/README.md). A program that ignores SIGHUP and does not read the
// terminal survives; this agent ignores only SIGHUP, with --stubborn.
TEST_F(Stress, DeadHostHangsUpAgent) {
  for (const auto& options : {std::vector<std::string>{}, {"--stubborn"}}) {
    start("Bob", options);
    const auto agent = agent_pid("Bob");
    ASSERT_TRUE(is_running(agent));
    kill("Bob");
    EXPECT_TRUE(eventually([&] { return !is_running(agent); }));
  }
}

TEST_F(Stress, PendingMessagesOfDeadHostGoToNextHost) {
  start_with_draft("Bob");
  const auto id = send_behind_draft("Bob", "these are words");
  kill("Bob");
  start("Bob");
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(id, "these are words")});
}

TEST_F(Stress, MessageTypedAtHostDeathIsInDoubtAndNotTypedAgain) {
  start("Bob", {"--swallow-enter", "9"});
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  kill("Bob");
  start("Bob");
  EXPECT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).history;
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(reaches_state(next, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(next, "the next")});
}

TEST_F(Stress, NextHostReportsUnsentResult) {
  start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  box.kill_daemon();
  ASSERT_TRUE(receives("Bob", "these are words"));
  ASSERT_TRUE(until(
      [&] { return file_contents(box.workspace_directory() + "/outboxes/Bob.outbox.intent").contains("submitted"); }));
  kill("Bob");
  box.ok({"up", "--no-http"});
  start("Bob");
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(trace_of(id).proof, "submitted");
  EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(id, "these are words")});
}

/// Kills the host as soon as the agent has logged this event.
struct HostKills : Stress, testing::WithParamInterface<const char*> {};

TEST_P(HostKills, NeverDuplicateMessagesOrFalsifyHistory) {
  start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", GetParam()) > 0; }));
  kill("Bob");
  start("Bob");
  ASSERT_TRUE(until([&] {
    const auto state = trace_of(id).state;
    return state == "delivered" || state == "in_doubt";
  })) << trace_of(id).history;
  const auto next = send("Bob", "the next");  // later in the same stream: once it has arrived, the first is final
  EXPECT_TRUE(reaches_state(next, "delivered"));
  EXPECT_LE(submit_count("Bob", delivered_line(id, "these are words")), 1u);
  if (trace_of(id).state == "delivered") {
    EXPECT_EQ(submit_count("Bob", "these are words"), 1u) << trace_of(id).history;
  }
  EXPECT_EQ(submit_count("Bob", "the next"), 1u);
}

INSTANTIATE_TEST_SUITE_P(AtEveryStep, HostKills, testing::Values("start", "paste", "submit", "replied"));

TEST_F(Stress, AgentExitBetweenTextAndEnterIsInDoubt) {
  script(R"({"moments": [{"when": "after_paste", "exit": 9}]})");
  auto& bob = start("Bob");
  const auto id = send("Bob", "these are words");
  EXPECT_EQ(bob.finish(), 9);
  EXPECT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).history;
  script("{}");
  start("Bob");
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(reaches_state(next, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(next, "the next")});
}

}  // namespace
}  // namespace relay::cli_tests
