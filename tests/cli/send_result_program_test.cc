// Every command reports the same result of a message.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

struct SendResults : testing::Test {
  Sandbox box;
  void SetUp() override {
    box.ok({"up"});
    box.ok({"chat", "--name", "Bob"});
  }
  /// The state of a message in every view; all of them when they differ.
  std::string state_of(const std::string& id) {
    std::string in_log;
    for (const auto& message : parse_json_lines(box.ok({"log", "--json"})))
      if (string_member(message, "id") == id) in_log = string_member(message, "status").value_or("none");
    const auto read = string_member(box.ok_json({"read", id}), "status").value_or("none");
    const auto trace = box.ok_json({"trace", id});
    const auto traced = string_member(trace.at("deliveries").as_array().back().as_object(), "state").value_or("none");
    if (in_log == read && read == traced) return traced;
    return format("log: {}, read: {}, trace: {}", in_log, read, traced);
  }
  bool reaches_state(const std::string& id, const std::string& state) {
    return eventually([&] { return state_of(id) == state; });
  }
  /// Runs a line of shell, where $RELAY is the program; returns its exit code.
  int shell(const std::string& line) {
    const int status = std::system(
        format("cd '{}' && export AGENT_RELAY_HOME='{}' RELAY='{}' && {}", box.project(), box.home(), program(), line)
            .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(SendResults, MessageWithUnknownResultIsStoredOnceUnderId) {
  ASSERT_EQ(::kill(box.daemon_pid(), SIGSTOP), 0);
  const auto first = box.run({"send", "Bob", "only once"});
  EXPECT_EQ(::kill(box.daemon_pid(), SIGCONT), 0);
  EXPECT_EQ(first.code, 4);
  const auto at = first.err.find("--id ");
  ASSERT_NE(at, std::string::npos) << first.err;
  const auto id = first.err.substr(at + 5, first.err.find(' ', at + 5) - at - 5);
  box.ok({"send", "Bob", "only once", "--id", id});
  EXPECT_EQ(line_count(box.ok({"inbox", "Bob"})), 1u);
}

TEST_F(SendResults, AgentsHaveConnectedInsteadOfIdle) {
  std::string agents;  // the daemon may read the BYE of the chat later
  EXPECT_TRUE(eventually([&] {
    agents = box.ok({"agents", "--all", "--json"});
    return agents.contains(R"("connected":false)");
  })) << agents;
  EXPECT_EQ(agents.find(R"("idle")"), std::string::npos) << agents;
}

TEST_F(SendResults, MessageCountsAgreeEverywhereAndAfterRestart) {
  box.ok({"chat", "--name", "Alice"}, "@Bob one\n@Bob two\n");
  box.ok({"send", "Alice", "for later"});  // from $USER, tester
  const auto bob = box.start({"chat", "--name", "Bob"});
  ASSERT_TRUE(bob->prints("two"));
  const auto counts_in = [](const json::object& answer) {
    std::string all;
    for (const auto& value : answer.at("agents").as_array()) {
      const auto& agent = value.as_object();
      all += format("{} {} {}; ", string_member(agent, "name").value_or("?"),
                    integer_member(agent, "messagesSent").value_or(-1),
                    integer_member(agent, "messagesReceived").value_or(-1));
    }
    return all;
  };
  const auto listed = [&] { return counts_in(box.ok_json({"agents", "--all"})); };
  const auto in_file = [&] {
    const auto agents = parse_json_object(file_contents(box.workspace_directory() + "/agents.json"));
    return agents ? counts_in(*agents) : std::string{};
  };
  const std::string expected = "Alice 2 0; Bob 0 2; tester 1 0; ";
  EXPECT_TRUE(eventually([&] { return listed() == expected; })) << listed();
  EXPECT_TRUE(eventually([&] { return in_file() == expected; })) << in_file();
  bob->end_input();
  bob->finish();
  box.kill_daemon();
  box.ok({"up"});
  EXPECT_EQ(listed(), expected);
  EXPECT_TRUE(eventually([&] { return in_file() == expected; })) << in_file();
}

TEST_F(SendResults, RedeliveryHasOneStateInEveryView) {
  const auto id = *string_member(box.ok_json({"send", "Bob", "expires soon", "--ttl", "1ms"}), "id");
  ASSERT_TRUE(reaches_state(id, "expired")) << state_of(id);
  box.ok({"dead", "redeliver", id});
  EXPECT_EQ(state_of(id), "queued");
  const auto bob = box.start({"chat", "--name", "Bob", "--listen"});
  ASSERT_TRUE(bob->prints("expires soon"));
  EXPECT_TRUE(reaches_state(id, "delivered")) << state_of(id);
}

TEST_F(SendResults, FlushedRedeliveryHasOneStateInEveryView) {
  const auto id =
      *string_member(box.ok_json({"send", "Bob", "held message", "--ttl", "1ms", "--mode", "manual"}), "id");
  ASSERT_TRUE(reaches_state(id, "expired")) << state_of(id);
  const auto bob = box.start({"chat", "--name", "Bob", "--listen"});
  ASSERT_TRUE(box.is_connected("Bob"));
  box.ok({"dead", "redeliver", id});
  ASSERT_TRUE(reaches_state(id, "deferred")) << state_of(id);
  EXPECT_EQ(box.ok({"flush", "Bob"}), "released 1 message for Bob\n");
  ASSERT_TRUE(bob->prints("held message"));
  EXPECT_TRUE(reaches_state(id, "delivered")) << state_of(id);
}

TEST_F(SendResults, LinesAfterQuitAreNotSent) {
  box.ok({"chat", "--name", "Alice"}, "@Bob before\n/quit\n@Bob after\n");
  const auto inbox = box.ok({"inbox", "Bob"});
  EXPECT_NE(inbox.find("before"), std::string::npos);
  EXPECT_EQ(inbox.find("after"), std::string::npos) << inbox;
}

TEST_F(SendResults, LoneAtSignIsUsageError) {
  EXPECT_EQ(box.run({"chat", "--name", "Alice"}, "@Bob hello\n@ only for Carol\n").code, 2);
  EXPECT_EQ(line_count(box.ok({"inbox", "Bob"})), 1u);
}

TEST_F(SendResults, InvalidUtf8IsRefused) {
  const auto ran = box.run({"chat", "--name", "Alice"}, "@Bob \xff\xfe\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("not UTF-8"), std::string::npos) << ran.err;
  EXPECT_EQ(line_count(box.ok({"inbox", "Bob"})), 0u);
}

TEST_F(SendResults, MessageWithoutRecipientIsReported) {
  const auto ran = box.run({"send", "#empty", "anyone?"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.err.find("there is no recipient"), std::string::npos) << ran.err;
  EXPECT_EQ(box.run({"send", "#", "hello"}).code, 2);
}

TEST_F(SendResults, LogOfNameHasItsMessages) {
  box.ok({"send", "*", "before Carol joined"});
  box.ok({"chat", "--name", "Carol"}, "@Bob from Carol\n");
  box.ok({"send", "Carol", "to Carol"});
  const auto log = box.ok({"log", "Carol"});
  EXPECT_EQ(line_count(log), 2u) << log;
  EXPECT_EQ(log.find("before Carol joined"), std::string::npos) << log;
}

TEST_F(SendResults, IdOfAnotherProjectIsUnknown) {
  const auto id = *string_member(box.ok_json({"send", "Bob", "here"}), "id");
  box.enter_project("elsewhere");
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  box.ok({"send", "Bob", "there"});
  EXPECT_EQ(box.run({"read", id}).code, 1);
}

TEST_F(SendResults, UnwritableOutputIsFailure) {
  box.ok({"send", "Bob", "hello"});
  EXPECT_EQ(shell("$RELAY log >&- 2>/dev/null"), 1);
  EXPECT_EQ(shell("$RELAY down --all >/dev/null && { $RELAY up <&- >&- 2>&-; $RELAY status >/dev/null; }"), 0);
}

TEST_F(SendResults, FollowEndsWithReader) {
  box.ok({"send", "Bob", "one"});
  EXPECT_EQ(shell("timeout 10 sh -c '$RELAY log --follow | head -n 1 >/dev/null'"), 0);
}

}  // namespace
}  // namespace relay::cli_tests
