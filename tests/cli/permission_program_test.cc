// Permissions and questions end to end: the real daemon, host and hook program with a fake Claude Code, which asks through
// its hook while its dialog is on the screen.
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/format.h"
#include "cli/requests.h"

namespace relay::cli_tests {
namespace {

struct Permissions : Asking {
  static constexpr const char* kScript = R"({"rules": [
    {"contains": "deploy", "tool": "make deploy", "asks": true, "reply": "deployed"},
    {"contains": "publish", "tool": "npm publish", "asks": true, "reply": "published"},
    {"contains": "list", "tool": "ls", "asks": true, "reply": "listed"},
    {"contains": "look", "tool": "git status; rm -rf x", "asks": true, "reply": "looked"},
    {"contains": "database", "question": "Which one?", "choices": ["SQLite", "PostgreSQL"], "reply": "noted"}]})";

  Permissions() {
    script(kScript);
    box.set("CLAUDE_CONFIG_DIR", box.project() + "/claude");
    box.ok({"send", "*", "so that tester is known", "--from", "tester"});
  }
  Texts claude(const Texts& more = {}) const {
    Texts command{FAKE_CLAUDE, "--script", box.project() + "/script.json", "--log", log_of("Bob")};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  Terminal& start_claude() {
    auto& terminal = start_program("Bob", claude(), "Claude stand-in");
    EXPECT_TRUE(until([&] {
      const auto all = box.ok_json({"explain", "Bob"});
      const auto* ways = object_member(all, "interfaces");
      return ways != nullptr && string_member(*ways, "output") == "transcript";
    }));
    return terminal;
  }
  void configure(const std::string& toml) const { box.write(box.home() + "/config.toml", toml); }
  static std::string rule(const std::string& command, const std::string& action, const std::string& more = {}) {
    return format("[[permissions]]\ntool = \"bash\"\ncommand = \"{}\"\naction = \"{}\"\n{}\n", command, action, more);
  }

  bool ends_as(const std::string& how) {
    return until([&] {
      const auto all = resolved();
      return !all.empty() && all.back() == how;
    });
  }
  std::string last_answer() const {
    std::string last;
    for (const auto& event : events("Bob"))
      if (word(event, "event") == "answer") last = format("{} by {}", word(event, "decision"), word(event, "by"));
    return last;
  }
};

// Permissions are listed; approve unblocks the agent and emits `permission.resolved`.
TEST_F(Permissions, RequestWaitsForApproval) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = asked();
  EXPECT_EQ(word(request, "agent"), "Bob");
  EXPECT_EQ(word(request, "command"), "make deploy");
  EXPECT_EQ(word(request, "riskLevel"), "medium");
  EXPECT_EQ(word(request, "rule"), "no rule applies");
  EXPECT_GT(integer_member(request, "requestedAt").value_or(0), 1'000'000'000'000);
  EXPECT_TRUE(bool_member(request, "canAnswer").value_or(false));
  EXPECT_EQ(count("Bob", "ran"), 0U) << "it is held";
  EXPECT_EQ(box.ok({"completion", "--names", "permissions"}), "Bob\n") << "not tester, who asks nothing";
  EXPECT_EQ(box.ok({"completion", "--names", "questions"}), "");
  EXPECT_EQ(box.ok({"completion", "--names", "hosts"}), "Bob\n");
  const auto shown = box.ok({"permissions"});
  for (const auto* part : {"Bob", "medium", "make deploy", "no rule applies"})
    EXPECT_NE(shown.find(part), std::string::npos) << shown;
  box.ok({"approve", "Bob"});
  ASSERT_TRUE(until([&] { return count("Bob", "ran") == 1; }));
  EXPECT_EQ(last_answer(), "approved by hook");
  EXPECT_TRUE(ends_as("approved by human"));
  EXPECT_TRUE(none_open());
  EXPECT_NE(box.run({"approve", "Bob"}).code, 0) << "nothing is approved in advance";
}

// Deny emits `permission.resolved`.
TEST_F(Permissions, DeniedRequestIsNotExecuted) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = asked();
  box.ok({"deny", "Bob", "--prompt", word(request, "requestId"), "--message", "not on a Friday"});
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; })) << "it went on";
  EXPECT_EQ(last_answer(), "denied by hook");
  EXPECT_EQ(count("Bob", "ran"), 0U);
  ASSERT_TRUE(ends_as("denied by human"));
  EXPECT_EQ(word(log("permission.resolved").back(), "reason"), "not on a Friday");
}

TEST_F(Permissions, QuestionIsListedAndAnswered) {
  auto& bob = start_claude();
  bob.type("which database?\r");
  const auto question = asked("questions");
  EXPECT_EQ(word(question, "question"), "Which one?");
  EXPECT_NE(box.ok({"questions"}).find("SQLite | PostgreSQL"), std::string::npos);
  EXPECT_NE(box.run({"answer", "Bob", "SQLite", "and one too many"}).code, 0);
  box.ok({"answer", "Bob", "SQLite"});
  ASSERT_TRUE(until([&] { return log("question.resolved").size() == 1; }));
  EXPECT_EQ(word(log("question.resolved").back(), "answer"), "SQLite");
  EXPECT_EQ(word(log("question.resolved").back(), "resolvedBy"), "human");
  EXPECT_TRUE(none_open("questions"));
}

// A host does not change what an agent may do: its own dialog asks the same as without agent-relay.
TEST_F(Permissions, WithoutPresetAgentAsksAsWithoutRelay) {
  auto& bob = start_claude();
  bob.type("list\r");
  const auto request = asked();
  EXPECT_EQ(word(request, "rule"), "no rule applies");
  EXPECT_EQ(word(request, "riskLevel"), "low") << "the risk is still shown";
  ASSERT_TRUE(bob.shows("Do you want to proceed?"));
  EXPECT_EQ(count("Bob", "ran"), 0U);
  const auto explained = box.ok_json({"explain", "Bob"});
  const auto* permissions = object_member(explained, "permissions");
  ASSERT_NE(permissions, nullptr);
  EXPECT_EQ(word(*permissions, "preset"), "none");
  EXPECT_NE(box.ok({"explain", "Bob"}).find("its own dialog asks you"), std::string::npos);
  bob.type("\x1b");
  ASSERT_TRUE(ends_as("denied by human"));
}

TEST_F(Permissions, PresetApprovesAndIsNamed) {
  configure("[permissions]\npreset = \"read-only\"\n");
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  EXPECT_NE(box.ok({"config"}).find("read-only"), std::string::npos);
  EXPECT_NE(box.ok({"config", "--show-source"}).find("config.toml:2"), std::string::npos);
  auto& bob = start_claude();
  bob.type("list\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  EXPECT_EQ(count("Bob", "ran"), 1U);
  ASSERT_TRUE(ends_as("approved by policy"));
  const std::string rule = "preset read-only: approves ls and pwd";
  EXPECT_EQ(word(log("permission.resolved").back(), "reason"), rule);
  EXPECT_NE(box.ok({"events", "--agent", "Bob", "--types", "permission.resolved"}).find(rule), std::string::npos);
  const auto explained = box.ok({"explain", "Bob"});
  EXPECT_NE(explained.find("preset read-only (docs/permissions.md)"), std::string::npos) << explained;
  EXPECT_NE(explained.find("1 approved without asking you, the last by " + rule), std::string::npos) << explained;
  bob.type("list\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  EXPECT_EQ(count("Bob", "ran"), 2U);
  std::ifstream file{box.home() + "/daemon.log"};
  std::size_t told = 0;
  for (std::string line; std::getline(file, line);)
    told += line.ends_with("Bob is approved without a person being asked, for the first time in this session: " + rule);
  EXPECT_EQ(told, 1U) << "the first approval is logged, the second is not";
}

TEST_F(Permissions, RulesApproveAndDenyAndRestWaits) {
  configure(rule("make deploy", "approve") + rule("npm publish( .*)?", "deny") + rule("git status", "approve"));
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  EXPECT_EQ(count("Bob", "ran"), 1U);
  ASSERT_TRUE(ends_as("approved by policy"));
  bob.type("publish\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  EXPECT_EQ(count("Bob", "ran"), 1U);
  ASSERT_TRUE(ends_as("denied by policy"));
  EXPECT_NE(word(log("permission.resolved").back(), "reason").find("config.toml:"), std::string::npos);
  bob.type("look\r");
  const auto held = asked();
  EXPECT_EQ(word(held, "riskLevel"), "critical") << "`git status; rm -rf x` is not `git status`";
  box.ok({"deny", "Bob"});
  EXPECT_TRUE(ends_as("denied by human"));
}

TEST_F(Permissions, ChangedRulesAreReloaded) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  (void)asked();
  box.ok({"deny", "Bob"});
  ASSERT_TRUE(ends_as("denied by human"));
  configure(rule("make deploy", "approve"));
  // Each request either meets the new rules or is denied by the test and repeated.
  for (int tries = 0; tries < 50 && resolved().back() != "approved by policy"; ++tries) {
    const auto before = resolved().size();
    bob.type("deploy\r");
    ASSERT_TRUE(until([&] {
      if (!open().empty()) (void)box.run({"deny", "Bob"});
      return resolved().size() > before;
    }));
  }
  EXPECT_EQ(resolved().back(), "approved by policy");
}

TEST_F(Permissions, UnansweredRequestIsDeniedOnTimeout) {
  configure(rule("make deploy", "ask", "timeout = 2"));
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = asked();
  EXPECT_EQ(integer_member(request, "expiresAt").value_or(0),
            integer_member(request, "requestedAt").value_or(0) + 2'000);
  ASSERT_TRUE(ends_as("timeout by policy"));
  EXPECT_TRUE(until([&] { return last_answer() == "denied by hook"; }));
  EXPECT_EQ(count("Bob", "ran"), 0U);
  EXPECT_TRUE(none_open());
}

TEST_F(Permissions, ClosedRequestAndItsSuccessorAreNotAnswered) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto old = word(asked(), "requestId");
  ASSERT_TRUE(bob.shows("Do you want to proceed?"));
  bob.type("\x1b");  // the user at the keyboard wins
  ASSERT_TRUE(ends_as("denied by human"));
  bob.type("publish\r");
  const auto other = asked();
  EXPECT_NE(word(other, "requestId"), old);
  EXPECT_NE(box.run({"approve", "Bob", "--prompt", old}).code, 0);
  EXPECT_EQ(count("Bob", "ran"), 0U);
  EXPECT_EQ(word(asked(), "requestId"), word(other, "requestId")) << "it is still asked";
  box.ok({"deny", "Bob"});
}

TEST_F(Permissions, NewDaemonKnowsOpenRequestsAndLogsThemOnce) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto before = asked();
  box.kill_daemon();
  EXPECT_NE(box.ok({"permissions", "--json"}).find("make deploy"), std::string::npos)
      << "at the doors, without a daemon";
  box.ok({"up", "--no-http"});
  const auto after = asked();
  EXPECT_EQ(word(after, "requestId"), word(before, "requestId"));
  EXPECT_EQ(integer_member(after, "requestedAt"), integer_member(before, "requestedAt"));
  EXPECT_EQ(log("permission.requested").size(), 1U);
  box.ok({"approve", "Bob"});
  ASSERT_TRUE(ends_as("approved by human"));
  EXPECT_EQ(resolved().size(), 1U);
}

TEST_F(Permissions, ScreenPromptIsAnsweredByKeys) {
  auto& bob = start_program("Bob", claude({"--no-hooks"}), "Claude stand-in");
  ASSERT_TRUE(until([&] { return word(box.ok_json({"explain", "Bob"}), "state") == "idle"; }));
  bob.type("deploy\r");
  const auto request = asked();
  EXPECT_TRUE(bool_member(request, "canAnswer").value_or(false));
  EXPECT_TRUE(bool_member(request, "partial").value_or(false)) << "a screen shows what fits on it";
  EXPECT_EQ(count("Bob", "answer"), 0U) << "it is held";
  box.ok({"approve", "Bob"});
  EXPECT_EQ(last_answer(), "approved by person") << "as its keys are";
  EXPECT_TRUE(ends_as("approved by human"));
  EXPECT_TRUE(none_open());
}

TEST_F(Permissions, UserIsNotifiedOfWaitingAgent) {
  const auto told = box.project() + "/told";
  const auto program = box.write(box.project() + "/tell",
                                 "#!/bin/sh\necho \"$AGENT_RELAY_NOTIFY_AGENT $AGENT_RELAY_NOTIFY_KIND "
                                 "$AGENT_RELAY_NOTIFY_TEXT\" >> \"" +
                                     told + "\"\n");
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  configure("[notify]\nterminal = \"osc9\"\ncommand = \"" + program + "\"\n\n" + rule("npm publish", "deny"));
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  auto& bob = start_claude();
  bob.type("publish\r");
  ASSERT_TRUE(ends_as("denied by policy"));
  bob.type("deploy\r");
  (void)asked();
  ASSERT_TRUE(
      until([&] { return bob.screen().find("\x1b]9;Agent Relay: Bob asks for permission: ") != std::string::npos; }));
  EXPECT_EQ(bob.screen().find("publish\x07"), std::string::npos) << "what a rule answers disturbs nobody";
  std::ifstream file{told};
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_TRUE(line.starts_with("Bob permission ") && line.find("make deploy") != std::string::npos) << line;
  EXPECT_FALSE(std::getline(file, line)) << line;
  box.ok({"deny", "Bob"});
}

}  // namespace
}  // namespace relay::cli_tests
