// Permissions and questions end to end: the real daemon, host and hook program with a fake Claude Code, which sends its
// prompts to its hook while its dialog is on the screen.
#include "base/format.h"
#include "cli/prompts.h"

namespace relay::cli_tests {
namespace {

struct Permissions : PromptingAgent {
  static constexpr const char* kScript = R"({"rules": [
    {"contains": "deploy", "tool": "make deploy", "asks": true, "reply": "deployed"},
    {"contains": "publish", "tool": "npm publish", "asks": true, "reply": "published"},
    {"contains": "list", "tool": "ls", "asks": true, "reply": "listed"},
    {"contains": "inspect", "tool": "git status; rm -rf x", "asks": true, "reply": "inspected"},
    {"contains": "database", "question": "Which one?", "choices": ["SQLite", "PostgreSQL"], "reply": "noted"}]})";

  Permissions() {
    script(kScript);
    box.set("CLAUDE_CONFIG_DIR", box.project() + "/claude");
    box.ok({"send", "*", "hello from tester", "--from", "tester"});
  }
  Terminal& start_claude() { return start_hooked_claude("Bob"); }
  void configure(const std::string& toml) const { box.write(box.home() + "/config.toml", toml); }
  void restart_daemon() {
    box.kill_daemon();
    box.ok({"up", "--no-http"});
  }
  static std::string rule(const std::string& command, const std::string& action, const std::string& more = {}) {
    return format("[[permissions]]\ntool = \"bash\"\ncommand = \"{}\"\naction = \"{}\"\n{}\n", command, action, more);
  }

  bool last_resolution_is(const std::string& resolution) {
    return until([&] {
      const auto all = resolutions();
      return !all.empty() && all.back() == resolution;
    });
  }
  std::string last_answer() const {
    std::string last;
    for (const auto& event : events("Bob"))
      if (member(event, "event") == "answer") last = format("{} by {}", member(event, "decision"), member(event, "by"));
    return last;
  }
};

TEST_F(Permissions, RequestWaitsForApproval) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = open_prompt();
  EXPECT_EQ(member(request, "agent"), "Bob");
  EXPECT_EQ(member(request, "command"), "make deploy");
  EXPECT_EQ(member(request, "riskLevel"), "medium");
  EXPECT_EQ(member(request, "rule"), "no rule applies");
  EXPECT_GT(integer_member(request, "requestedAt").value_or(0), 1'000'000'000'000);
  EXPECT_TRUE(bool_member(request, "canAnswer").value_or(false));
  EXPECT_EQ(count("Bob", "ran"), 0U) << "it waits for the answer";
  EXPECT_EQ(box.ok({"completion", "--names", "permissions"}), "Bob\n") << "not tester, which has no prompt";
  EXPECT_EQ(box.ok({"completion", "--names", "questions"}), "");
  EXPECT_EQ(box.ok({"completion", "--names", "hosts"}), "Bob\n");
  const auto listed = box.ok({"permissions"});
  for (const auto* part : {"Bob", "medium", "make deploy", "no rule applies"})
    EXPECT_NE(listed.find(part), std::string::npos) << listed;
  box.ok({"approve", "Bob"});
  ASSERT_TRUE(until([&] { return count("Bob", "ran") == 1; }));
  EXPECT_EQ(last_answer(), "approved by hook");
  EXPECT_TRUE(last_resolution_is("approved by human"));
  EXPECT_TRUE(has_no_prompts());
  EXPECT_NE(box.run({"approve", "Bob"}).code, 0) << "nothing is approved in advance";
}

TEST_F(Permissions, DeniedRequestIsNotExecuted) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = open_prompt();
  box.ok({"deny", "Bob", "--prompt", member(request, "requestId"), "--message", "not on a Friday"});
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; })) << "it continues";
  EXPECT_EQ(last_answer(), "denied by hook");
  EXPECT_EQ(count("Bob", "ran"), 0U);
  ASSERT_TRUE(last_resolution_is("denied by human"));
  EXPECT_EQ(member(events_of_type("permission.resolved").back(), "reason"), "not on a Friday");
}

TEST_F(Permissions, QuestionIsListedAndAnswered) {
  auto& bob = start_claude();
  bob.type("which database?\r");
  const auto question = open_prompt("questions");
  EXPECT_EQ(member(question, "question"), "Which one?");
  EXPECT_NE(box.ok({"questions"}).find("SQLite | PostgreSQL"), std::string::npos);
  EXPECT_NE(box.run({"answer", "Bob", "SQLite", "and one too many"}).code, 0);
  box.ok({"answer", "Bob", "SQLite"});
  ASSERT_TRUE(until([&] { return events_of_type("question.resolved").size() == 1; }));
  EXPECT_EQ(member(events_of_type("question.resolved").back(), "answer"), "SQLite");
  EXPECT_EQ(member(events_of_type("question.resolved").back(), "resolvedBy"), "human");
  EXPECT_TRUE(has_no_prompts("questions"));
}

// A host does not change what an agent may do: its own dialog asks the same as without agent-relay.
TEST_F(Permissions, WithoutPresetAgentPromptsAsWithoutRelay) {
  auto& bob = start_claude();
  bob.type("list\r");
  const auto request = open_prompt();
  EXPECT_EQ(member(request, "rule"), "no rule applies");
  EXPECT_EQ(member(request, "riskLevel"), "low") << "the risk is reported";
  ASSERT_TRUE(bob.shows("Do you want to proceed?"));
  EXPECT_EQ(count("Bob", "ran"), 0U);
  const auto explained = box.ok_json({"explain", "Bob"});
  const auto* permissions = object_member(explained, "permissions");
  ASSERT_NE(permissions, nullptr);
  EXPECT_EQ(member(*permissions, "preset"), "none");
  EXPECT_NE(box.ok({"explain", "Bob"}).find("its own dialog asks you"), std::string::npos);
  bob.type("\x1b");
  ASSERT_TRUE(last_resolution_is("denied by human"));
}

TEST_F(Permissions, PresetApprovesAndIsNamed) {
  configure("[permissions]\npreset = \"read-only\"\n");
  restart_daemon();
  EXPECT_NE(box.ok({"config"}).find("read-only"), std::string::npos);
  EXPECT_NE(box.ok({"config", "--show-source"}).find("config.toml:2"), std::string::npos);
  auto& bob = start_claude();
  bob.type("list\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  EXPECT_EQ(count("Bob", "ran"), 1U);
  ASSERT_TRUE(last_resolution_is("approved by policy"));
  const std::string rule = "preset read-only: approves ls and pwd";
  EXPECT_EQ(member(events_of_type("permission.resolved").back(), "reason"), rule);
  EXPECT_NE(box.ok({"events", "--agent", "Bob", "--types", "permission.resolved"}).find(rule), std::string::npos);
  const auto explained = box.ok({"explain", "Bob"});
  EXPECT_NE(explained.find("preset read-only (docs/permissions.md)"), std::string::npos) << explained;
  EXPECT_NE(explained.find("1 approved without asking you, the last by " + rule), std::string::npos) << explained;
  bob.type("list\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  EXPECT_EQ(count("Bob", "ran"), 2U);
  const auto log = file_contents(box.home() + "/daemon.log");
  const auto notice = "Bob is approved without the user, for the first time in this session: " + rule + "\n";
  ASSERT_NE(log.find(notice), std::string::npos) << log;
  EXPECT_EQ(log.find(notice), log.rfind(notice)) << "only the first approval is logged";
}

TEST_F(Permissions, RulesApproveAndDenyAndRestWaits) {
  configure(rule("make deploy", "approve") + rule("npm publish( .*)?", "deny") + rule("git status", "approve"));
  restart_daemon();
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  EXPECT_EQ(count("Bob", "ran"), 1U);
  ASSERT_TRUE(last_resolution_is("approved by policy"));
  bob.type("publish\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  EXPECT_EQ(count("Bob", "ran"), 1U);
  ASSERT_TRUE(last_resolution_is("denied by policy"));
  EXPECT_NE(member(events_of_type("permission.resolved").back(), "reason").find("config.toml:"), std::string::npos);
  bob.type("inspect\r");
  const auto held = open_prompt();
  EXPECT_EQ(member(held, "riskLevel"), "critical") << "`git status; rm -rf x` is not `git status`";
  box.ok({"deny", "Bob"});
  EXPECT_TRUE(last_resolution_is("denied by human"));
}

TEST_F(Permissions, ChangedRulesAreReloaded) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  (void)open_prompt();
  box.ok({"deny", "Bob"});
  ASSERT_TRUE(last_resolution_is("denied by human"));
  configure(rule("make deploy", "approve"));
  // Each request either meets the new rules or is denied by the test and repeated.
  for (int tries = 0; tries < 50 && resolutions().back() != "approved by policy"; ++tries) {
    const auto before = resolutions().size();
    bob.type("deploy\r");
    ASSERT_TRUE(until([&] {
      if (!open_prompts().empty()) (void)box.run({"deny", "Bob"});
      return resolutions().size() > before;
    }));
  }
  EXPECT_EQ(resolutions().back(), "approved by policy");
}

TEST_F(Permissions, UnansweredRequestIsDeniedOnTimeout) {
  configure(rule("make deploy", "ask", "timeout = 2"));
  restart_daemon();
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto request = open_prompt();
  EXPECT_EQ(integer_member(request, "expiresAt").value_or(0),
            integer_member(request, "requestedAt").value_or(0) + 2'000);
  ASSERT_TRUE(last_resolution_is("timeout by policy"));
  EXPECT_TRUE(until([&] { return last_answer() == "denied by hook"; }));
  EXPECT_EQ(count("Bob", "ran"), 0U);
  EXPECT_TRUE(has_no_prompts());
}

TEST_F(Permissions, ClosedRequestAndItsSuccessorAreNotAnswered) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto old = member(open_prompt(), "requestId");
  ASSERT_TRUE(bob.shows("Do you want to proceed?"));
  bob.type("\x1b");  // the user at the keyboard wins
  ASSERT_TRUE(last_resolution_is("denied by human"));
  bob.type("publish\r");
  const auto other = open_prompt();
  EXPECT_NE(member(other, "requestId"), old);
  EXPECT_NE(box.run({"approve", "Bob", "--prompt", old}).code, 0);
  EXPECT_EQ(count("Bob", "ran"), 0U);
  EXPECT_EQ(member(open_prompt(), "requestId"), member(other, "requestId")) << "it is still open";
  box.ok({"deny", "Bob"});
}

TEST_F(Permissions, NewDaemonListsOpenRequestsAndLogsThemOnce) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  const auto before = open_prompt();
  box.kill_daemon();
  EXPECT_NE(box.ok({"permissions", "--json"}).find("make deploy"), std::string::npos)
      << "from the host sockets, without a daemon";
  box.ok({"up", "--no-http"});
  const auto after = open_prompt();
  EXPECT_EQ(member(after, "requestId"), member(before, "requestId"));
  EXPECT_EQ(integer_member(after, "requestedAt"), integer_member(before, "requestedAt"));
  EXPECT_EQ(events_of_type("permission.requested").size(), 1U);
  box.ok({"approve", "Bob"});
  ASSERT_TRUE(last_resolution_is("approved by human"));
  EXPECT_EQ(resolutions().size(), 1U);
}

TEST_F(Permissions, ScreenPromptIsAnsweredByKeys) {
  auto& bob = start_fake_claude("Bob", {"--no-hooks"});
  ASSERT_TRUE(until([&] { return member(box.ok_json({"explain", "Bob"}), "state") == "idle"; }));
  bob.type("deploy\r");
  const auto request = open_prompt();
  EXPECT_TRUE(bool_member(request, "canAnswer").value_or(false));
  EXPECT_TRUE(bool_member(request, "partial").value_or(false)) << "a screen may not show all of it";
  EXPECT_EQ(count("Bob", "answer"), 0U) << "it waits for the answer";
  box.ok({"approve", "Bob"});
  EXPECT_EQ(last_answer(), "approved by user") << "the keys look like the user's";
  EXPECT_TRUE(last_resolution_is("approved by human"));
  EXPECT_TRUE(has_no_prompts());
}

TEST_F(Permissions, UserIsNotifiedOfPrompt) {
  const auto output = box.project() + "/notifications";
  const auto program = write_notify_program(output);
  configure("[notify]\nterminal = \"osc9\"\ncommand = \"" + program + "\"\n\n" + rule("npm publish", "deny"));
  restart_daemon();
  auto& bob = start_claude();
  bob.type("publish\r");
  ASSERT_TRUE(last_resolution_is("denied by policy"));
  bob.type("deploy\r");
  (void)open_prompt();
  ASSERT_TRUE(
      until([&] { return bob.screen().find("\x1b]9;Agent Relay: Bob asks for permission: ") != std::string::npos; }));
  EXPECT_EQ(bob.screen().find("publish\x07"), std::string::npos) << "no notification of a prompt that a rule answers";
  const auto notifications = file_contents(output);
  EXPECT_TRUE(notifications.starts_with("Bob permission ") && notifications.contains("make deploy")) << notifications;
  EXPECT_EQ(std::ranges::count(notifications, '\n'), 1) << notifications;
  box.ok({"deny", "Bob"});
}

}  // namespace
}  // namespace relay::cli_tests
