// Agents that were started without agent-relay and have its hooks: visible, and left alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

/// Stands for the process of an agent.
class Process {
 public:
  Process() : pid_{::fork()} {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  ~Process() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

struct AnObservedAgent : ::testing::Test {
  Sandbox sandbox;
  Process process;
  std::string transcript = sandbox.project() + "/session.jsonl";

  void SetUp() override {
    sandbox.set("RELAY_HOME", sandbox.home() + "-captured");
    sandbox.set("CLAUDE_PID", relay::format("{}", process.pid()));
    sandbox.ok({"up"});
  }
  /// As Claude Code calls its hook.
  void hook(std::string_view event, std::string_view more = "") {
    const auto ran = sandbox.run(
        {"hook", "claude"},
        relay::format(R"({{"session_id":"47649650-e4f1","cwd":"{}","hook_event_name":"{}","transcript_path":"{}"{}}})",
                      sandbox.project(), event, transcript, more));
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "");
  }
  json::object agent() {
    const auto listed = sandbox.ok_json({"agents"});
    for (const auto& each : listed.at("agents").as_array())
      if (bool_member(each.as_object(), "observed").value_or(false)) return each.as_object();
    return {};
  }
  bool is_in_state(const std::string& state) {
    return eventually([&] { return string_member(agent(), "state") == state; });
  }
  std::string events() { return sandbox.ok({"events", "--json"}); }
  static std::string row(std::string_view id, std::string_view text) {
    return relay::format(
        R"({{"type":"assistant","uuid":"{}","timestamp":"2099-01-01T00:00:00.000Z","sessionId":"47649650-e4f1",)"
        R"("message":{{"id":"m","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"text","text":"{}"}}],)"
        R"("usage":{{"input_tokens":1000,"output_tokens":500}}}},"requestId":"r"}})"
        "\n",
        id, text);
  }
};

TEST_F(AnObservedAgent, IsListedWithItsStateEventsAndCost) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  EXPECT_TRUE(string_member(agent(), "name").value_or("").starts_with("claude-"));
  EXPECT_EQ(string_member(agent(), "cli"), "claude");
  EXPECT_NE(sandbox.ok({"agents"}).find("observed"), std::string::npos);
  hook("UserPromptSubmit", R"(,"prompt":"greet")");
  EXPECT_TRUE(is_in_state("working"));
  sandbox.write(transcript, row("u1", "Hello."));
  EXPECT_TRUE(eventually([&] { return events().find("Hello.") != std::string::npos; }));
  EXPECT_TRUE(eventually([&] { return sandbox.ok({"cost"}).find("claude-") != std::string::npos; }));
  hook("Stop");
  EXPECT_TRUE(is_in_state("idle"));
  hook("SessionEnd", R"(,"reason":"other")");
  EXPECT_TRUE(eventually([&] { return agent().empty(); }));
}

TEST_F(AnObservedAgent, TakesNoMessages) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  const auto name = string_member(agent(), "name").value_or("");
  const auto ran = sandbox.run({"send", name, "hello"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_NE(ran.err.find("only observed"), std::string::npos) << ran.err;
}

TEST_F(AnObservedAgent, IsSaidToBeObservedWhereAHostIsNeeded) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  const auto name = string_member(agent(), "name").value_or("");
  const auto says = [&](const std::vector<std::string>& words, const std::string& done, int code) {
    const auto ran = sandbox.run(words);
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_EQ(ran.err, "agent-relay: " + name +
                           " is only observed: it was started without agent-relay, so it cannot be " + done + "\n");
  };
  says({"input", name, "x"}, "typed into", 1);
  says({"explain", name}, "explained", 1);
  says({"release", name}, "released", 1);
  says({"pause", name}, "paused", 5);
}

TEST_F(AnObservedAgent, IsGoneWithItsProcess) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  process.end();
  EXPECT_TRUE(eventually([&] { return agent().empty(); }));
}

TEST_F(AnObservedAgent, IsNotTheOneWithAHost) {
  sandbox.set("AGENT_RELAY_NAME", "Alice");
  hook("SessionStart", R"(,"source":"startup")");
  sandbox.set("AGENT_RELAY_NAME", "");
  hook("Notification", R"(,"message":"x")");
  EXPECT_TRUE(agent().empty() || string_member(agent(), "name") != "Alice");
}

}  // namespace
}  // namespace relay::cli_tests
