// Agents started without agent-relay but with its hooks: observed, not controlled.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

/// The process of an agent.
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

struct ObservedAgent : ::testing::Test {
  Sandbox sandbox;
  Process process;
  std::string transcript = sandbox.project() + "/session.jsonl";

  void SetUp() override {
    sandbox.set("RELAY_HOME", sandbox.home() + "-captured");
    sandbox.set("CLAUDE_PID", relay::format("{}", process.pid()));
    sandbox.ok({"up"});
  }
  /// Calls the hook as Claude Code does.
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
  std::string name() { return string_member(agent(), "name").value_or(""); }
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

TEST_F(ObservedAgent, IsListedWithItsStateEventsAndCost) {
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

TEST_F(ObservedAgent, TakesNoMessages) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  const auto agent_name = name();
  const auto ran = sandbox.run({"send", agent_name, "hello"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_NE(ran.err.find("only observed"), std::string::npos) << ran.err;
}

/// An inbox like that of Claude Code: one line is one message.
class Inbox {
 public:
  explicit Inbox(const std::string& path) : listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
  }
  /// The text of the next message; empty on a timeout.
  std::string next() const {
    pollfd connection{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&connection, 1, 10'000) != 1) return {};
    const UniqueFd writer{::accept(listener_.get(), nullptr, nullptr)};
    std::string line;
    for (char c = 0; ::read(writer.get(), &c, 1) == 1 && c != '\n';) line += c;
    const auto parsed = parse_json_object(line);
    return parsed ? string_member(parsed->at("message").as_object(), "content").value_or("") : "";
  }
  bool is_empty() const {
    pollfd connection{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&connection, 1, 0) == 0;
  }

 private:
  UniqueFd listener_;
};

struct ObservedClaude : ObservedAgent {
  std::string config = sandbox.project() + "/.claude";
  std::string socket = sandbox.project() + "/inbox.sock";
  std::optional<Inbox> inbox;

  void SetUp() override {
    ObservedAgent::SetUp();
    for (const auto* folder : {"/sessions", "/projects/p"}) std::filesystem::create_directories(config + folder);
    transcript = config + "/projects/p/47649650-e4f1.jsonl";
    sandbox.write(transcript, "");
    inbox.emplace(socket);
    sandbox.write(
        config + relay::format("/sessions/{}.json", process.pid()),
        relay::format(R"({{"pid":{},"sessionId":"47649650-e4f1","messagingSocketPath":"{}"}})", process.pid(), socket));
    hook("SessionStart", R"(,"source":"startup")");
    ASSERT_TRUE(is_in_state("idle"));
  }
  std::string send(const std::string& text, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"send", name(), text, "--from", "tester"};
    words.insert(words.end(), options.begin(), options.end());
    return string_member(sandbox.ok_json(words), "id").value_or("");
  }
  int rows = 0;
  void add_to_transcript(const std::string& text) {
    std::ofstream{transcript, std::ios::app}
        << json::serialize(json::object{{"type", "user"},
                                        {"uuid", relay::format("u{}", ++rows)},
                                        {"promptId", "p1"},
                                        {"timestamp", "2099-01-01T00:00:00.000Z"},
                                        {"sessionId", "47649650-e4f1"},
                                        {"message", {{"role", "user"}, {"content", text}}}})
        << "\n";
  }
  bool trace_shows(const std::string& id, const std::string& words) {
    return eventually([&] { return sandbox.ok({"trace", id, "--json"}).find(words) != std::string::npos; });
  }
};

TEST_F(ObservedClaude, TakesMessagesViaInbox) {
  EXPECT_NE(sandbox.ok({"agents"}).find("observed, has an inbox"), std::string::npos);
  const auto id = send("hello");
  const auto text = inbox->next();
  EXPECT_TRUE(text.starts_with("Message from your user tester [")) << text;
  EXPECT_TRUE(text.ends_with("]: hello")) << text;
  add_to_transcript(text);
  EXPECT_TRUE(trace_shows(id, R"("proof":"seen")"));
}

TEST_F(ObservedClaude, TakesMessagesAfterTurn) {
  hook("UserPromptSubmit", R"(,"prompt":"work")");
  ASSERT_TRUE(is_in_state("working"));
  const auto id = send("hello");
  EXPECT_TRUE(trace_shows(id, "the agent is working")) << sandbox.ok({"trace", id, "--json"});
  EXPECT_TRUE(inbox->is_empty());
  hook("Stop");
  EXPECT_TRUE(inbox->next().ends_with("]: hello"));
}

TEST_F(ObservedClaude, WrittenMessageIsNotWrittenAgainAfterDaemonKill) {
  const auto id = send("hello");
  ASSERT_FALSE(inbox->next().empty());
  sandbox.kill_daemon();
  sandbox.ok({"up"});
  hook("SessionStart", R"(,"source":"resume")");
  ASSERT_TRUE(is_in_state("idle"));
  EXPECT_TRUE(trace_shows(id, "in_doubt"));
  EXPECT_TRUE(inbox->is_empty());
}

TEST_F(ObservedClaude, TakesOnlyMessagesOfUser) {
  const auto ran = sandbox.run({"send", name(), "hello", "--from", "Bob"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_NE(ran.err.find("accepts messages from the user only"), std::string::npos) << ran.err;
  EXPECT_TRUE(inbox->is_empty());
}

TEST_F(ObservedClaude, NameIsProtected) {
  const auto ran = sandbox.run({"chat", "--name", name()}, "hello\n");
  EXPECT_NE(ran.code, 0) << ran.out;
  EXPECT_TRUE(is_in_state("idle")) << sandbox.ok({"agents", "--all"}) << ran.err;
}

TEST_F(ObservedClaude, IsIdleAfterInterruptedTurn) {
  hook("UserPromptSubmit", R"(,"prompt":"work")");
  ASSERT_TRUE(is_in_state("working"));
  send("hello");
  add_to_transcript("work");
  add_to_transcript("[Request interrupted by user]");
  EXPECT_TRUE(is_in_state("idle"));
  EXPECT_TRUE(inbox->next().ends_with("]: hello"));
}

TEST_F(ObservedClaude, LateInboxIsFound) {
  const auto record = config + relay::format("/sessions/{}.json", process.pid());
  const auto text = file_contents(record);
  std::filesystem::remove(record);
  hook("Stop");
  EXPECT_TRUE(eventually([&] { return sandbox.ok({"agents"}).find("has an inbox") == std::string::npos; }));
  sandbox.write(record, text);
  EXPECT_TRUE(eventually([&] { return sandbox.ok({"agents"}).find("has an inbox") != std::string::npos; }));
}

TEST_F(ObservedClaude, IsOfflineAfterExit) {
  const auto agent_name = name();
  hook("SessionEnd", R"(,"reason":"other")");
  ASSERT_TRUE(eventually([&] { return agent().empty(); }));
  const auto ran = sandbox.run({"send", agent_name, "hello"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_NE(ran.err.find("only observed and offline"), std::string::npos) << ran.err;
}

TEST_F(ObservedClaude, UnsupportedModeStaysPendingWithReason) {
  const auto id = send("hello", {"--mode", "next-tool-call"});
  EXPECT_TRUE(trace_shows(id, "deferred"));
  EXPECT_TRUE(inbox->is_empty());
}

TEST_F(ObservedAgent, ShowsReachedLimit) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  hook("UserPromptSubmit", R"(,"prompt":"work")");
  ASSERT_TRUE(is_in_state("working"));
  const std::string limit = R"("last_assistant_message":"You've hit your 5-hour limit, resets 10:35am [UTC]")";
  hook("StopFailure", R"(,"error":"rate_limit",)" + limit);
  ASSERT_TRUE(is_in_state("idle"));
  EXPECT_NE(sandbox.ok({"agents"}).find("resets 10:35am"), std::string::npos) << sandbox.ok({"agents"});
  EXPECT_NE(events().find("resets 10:35am"), std::string::npos);
}

TEST_F(ObservedAgent, IsReportedAsObservedWhenHostIsNeeded) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  const auto agent_name = name();
  const auto expect_error = [&](const std::vector<std::string>& words, const std::string& done, int code) {
    const auto ran = sandbox.run(words);
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_EQ(ran.err, "agent-relay: " + agent_name +
                           " is only observed: it was started without agent-relay, so it cannot be " + done + "\n");
  };
  expect_error({"input", agent_name, "x"}, "typed into", 1);
  expect_error({"explain", agent_name}, "explained", 1);
  expect_error({"release", agent_name}, "released", 1);
  expect_error({"pause", agent_name}, "paused", 5);
}

TEST_F(ObservedAgent, EndsWithItsProcess) {
  hook("SessionStart", R"(,"source":"startup")");
  ASSERT_TRUE(is_in_state("idle"));
  process.end();
  EXPECT_TRUE(eventually([&] { return agent().empty(); }));
}

TEST_F(ObservedAgent, IsNotListedBesideItsHost) {
  sandbox.set("AGENT_RELAY_NAME", "Alice");
  hook("SessionStart", R"(,"source":"startup")");
  sandbox.set("AGENT_RELAY_NAME", "");
  hook("Notification", R"(,"message":"x")");
  EXPECT_TRUE(agent().empty() || string_member(agent(), "name") != "Alice");
}

}  // namespace
}  // namespace relay::cli_tests
