#include "permissions/policy.h"

#include <gtest/gtest.h>

#include "permissions/tools.h"

namespace relay::permissions {
namespace {

Decision decide_read_only(const PermissionRequest& ask) { return Policy{{}, kReadOnlyPreset}.decide(ask); }

TEST(Policy, MapsToolNamesOfAllAgents) {
  for (const auto* name : {"Bash", "bash", "shell", "exec", "exec_command", "run_shell_command", "Shell"})
    EXPECT_EQ(canonical_tool(name), tool::kBash) << name;
  for (const auto* name : {"Read", "read_file", "ReadFile"}) EXPECT_EQ(canonical_tool(name), tool::kRead) << name;
  for (const auto* name : {"Edit", "apply_patch", "replace", "MultiEdit", "patch"})
    EXPECT_EQ(canonical_tool(name), tool::kEdit) << name;
  for (const auto* name : {"Grep", "search_file_content", "grep_search", "ripgrep"})
    EXPECT_EQ(canonical_tool(name), tool::kGrep) << name;
  EXPECT_EQ(canonical_tool("mcp__files__read"), "mcp__files__read") << "an unknown tool";
}

TEST(Policy, ApprovesReadingExceptSecrets) {
  for (const auto* name : {"Read", "read_file", "Glob", "Grep", "list_directory"})
    EXPECT_EQ(decide_read_only({.tool = name, .file_path = "/w/src/a.cc", .directory = "/w"}).action, Action::Approve)
        << name;
  EXPECT_EQ(decide_read_only({.tool = "Grep"}).action, Action::Approve);
  for (const auto* path : {".env",
                           "/w/.env",
                           ".env.production",
                           "a/.ENV",
                           "x.pem",
                           "~/.ssh/config",
                           "/home/x/.aws/credentials",
                           "id_rsa",
                           "id_ed25519.pub",
                           ".netrc",
                           "token.json",
                           "api_token",
                           "a/../.env",
                           "././/.env",
                           "/proc/self/environ",
                           "/etc/shadow",
                           "~/.config/gh/hosts.yml",
                           ".git-credentials",
                           "~/.bash_history",
                           "auth.json"}) {
    const auto decision = decide_read_only({.tool = "Read", .file_path = path, .directory = "/w"});
    EXPECT_EQ(decision.action, Action::Ask) << path;
    EXPECT_EQ(decision.risk, RiskLevel::High) << path;
    EXPECT_FALSE(decision.risk_reason.empty());
  }
}

TEST(Policy, ReadWithoutFileIsNotApproved) {
  EXPECT_EQ(decide_read_only({.tool = "Read"}).action, Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "Read", .file_path = ""}).action, Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "Read", .file_path = "a\nb"}).action, Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "Read", .file_path = "a\xe2\x80\xae"}).action, Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "Bash"}).action, Action::Ask) << "an unknown command";
  EXPECT_EQ(decide_read_only({.tool = "Read", .command = "rm x", .file_path = "a"}).action, Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "Grep", .description = R"(Grep: {"pattern":"KEY","glob":".env"})"}).action,
            Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "read_many_files", .file_path = "a"}).action, Action::Ask);
  EXPECT_EQ(decide_read_only({.tool = "mcp__x__ls", .command = "ls"}).action, Action::Ask);
}

TEST(Policy, RatesDestructionCritical) {
  for (const auto* command : {"rm x",
                              "ls; rm -rf x",
                              "sudo rm x",
                              "/bin/rm x",
                              "psql -c 'DROP TABLE a'",
                              "find . -delete",
                              "r''m x",
                              "r\\m x",
                              "bash -c 'rm x'",
                              "xargs rm",
                              "find . -exec rm {} +",
                              "truncate -s0 x",
                              "kubectl delete pod a",
                              "{rm,-rf,x}",
                              "rm${IFS}-rf${IFS}x",
                              "rm$IFS-rf",
                              "echo $(rm x)",
                              "echo `rm x`",
                              "(rm x)",
                              "true&&rm x",
                              "git branch --delete x"}) {
    const auto decision = decide_read_only({.tool = "Bash", .command = command});
    EXPECT_EQ(decision.action, Action::Ask) << command;
    EXPECT_EQ(decision.risk, RiskLevel::Critical) << command;
  }
}

TEST(Policy, NamesDecidingRule) {
  EXPECT_EQ(decide_read_only({.tool = "Bash", .command = "ls"}).rule, "preset read-only: approves ls and pwd");
  EXPECT_EQ(decide_read_only({.tool = "Bash", .command = "npm test"}).rule, "no rule applies");
  EXPECT_EQ(decide_read_only({.tool = "Bash", .command = "ls & x"}).rule,
            "no rule approves it, because it is not one simple command: & outside quotes");
  EXPECT_EQ(decide_read_only({.tool = "Bash", .command = "rm x"}).rule,
            "preset read-only: asks about commands that remove or destroy");
}

TEST(Policy, DenyingRuleMatchesLoosely) {
  std::vector<Rule> rules;
  rules.push_back(Rule::compile({.tools = {"bash"}, .commands = {"git push( .*)?"}, .action = Action::Deny}).value());
  rules.push_back(Rule::compile({.paths = {"./vendor/"}, .action = Action::Deny}).value());
  const Policy policy{std::move(rules)};
  for (const auto* command : {"git push", "git push origin", "cd x && git push", "sh -c 'git push'", "sudo git push -f",
                              "g\"it\" push", "true; (git  push)", "touch vendor/x", "echo >vendor/x"})
    EXPECT_EQ(policy.decide({.tool = "Bash", .command = command, .directory = "/w"}).action, Action::Deny) << command;
  for (const auto* command : {"git pull", "git pushx", "touch x/vendor2"})
    EXPECT_EQ(policy.decide({.tool = "Bash", .command = command, .directory = "/w"}).action, Action::Ask) << command;
  EXPECT_EQ(policy.decide({.tool = "some_shell", .command = "git push"}).action, Action::Deny) << "with any tool name";
  EXPECT_EQ(policy.decide({.tool = "apply_patch", .command = "+git push", .directory = "/w"}).action, Action::Ask)
      << "a patch is no command";
}

TEST(Policy, ApprovingRuleNeverCoversAutorunPath) {
  std::vector<Rule> rules;
  rules.push_back(Rule::compile({.tools = {"edit", "write"}, .action = Action::Approve}).value());
  const Policy policy{std::move(rules)};
  EXPECT_EQ(policy.decide({.tool = "Edit", .file_path = "a.cc", .directory = "/w"}).action, Action::Approve);
  for (const auto* path : {".git/hooks/pre-commit", "~/.bashrc", ".claude/settings.json", "/etc/passwd", "a\x1b"})
    EXPECT_EQ(policy.decide({.tool = "Edit", .file_path = path, .directory = "/w"}).action, Action::Ask) << path;
  EXPECT_EQ(policy.decide({.tool = "Edit"}).action, Action::Ask) << "which file?";
  EXPECT_EQ(policy.decide({.tool = "apply_patch", .command = "*** Begin Patch", .file_path = "a.cc"}).action,
            Action::Ask)
      << "a patch can hold more files";
}

TEST(Policy, RuleForEveryToolApprovesOnlyNamedCommands) {
  std::vector<Rule> rules;
  rules.push_back(Rule::compile({.tools = {"*"}, .action = Action::Approve}).value());
  const Policy policy{std::move(rules)};
  EXPECT_EQ(policy.decide({.tool = "mcp__a__b"}).action, Action::Approve);
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "npm test"}).action, Action::Ask);
}

TEST(Policy, WithoutRulesNothingIsApprovedAndRiskIsReported) {
  const Policy policy;
  EXPECT_EQ(policy.preset(), kNoPreset);
  const auto risk = [&](const PermissionRequest& ask) {
    const auto decision = policy.decide(ask);
    EXPECT_EQ(decision.action, Action::Ask) << ask.tool << ask.command.value_or("");
    EXPECT_FALSE(decision.timeout);
    return decision.risk;
  };
  EXPECT_EQ(risk({.tool = "Bash", .command = "ls"}), RiskLevel::Low);
  EXPECT_EQ(risk({.tool = "Read", .file_path = "/etc/hosts", .directory = "/w"}), RiskLevel::Low);
  EXPECT_EQ(risk({.tool = "Read", .file_path = ".env", .directory = "/w"}), RiskLevel::High);
  EXPECT_EQ(risk({.tool = "Bash", .command = "make"}), RiskLevel::Medium);
  for (const auto* command : {"rm x", "sudo rm x", "psql -c 'DROP TABLE a'", "find . -delete", "bash -c 'rm x'"})
    EXPECT_EQ(risk({.tool = "Bash", .command = command}), RiskLevel::Critical) << command;
}

TEST(Policy, ListsRulesForAgent) {
  std::vector<Rule> rules;
  rules.push_back(Rule::compile({.label = "a:1", .agents = {"Build*"}}).value());
  rules.push_back(Rule::compile({.label = "a:2"}).value());
  const Policy policy{std::move(rules), kReadOnlyPreset};
  EXPECT_EQ(policy.own_rules_for("builder"), (std::vector<std::string>{"a:1", "a:2"}));
  EXPECT_EQ(policy.own_rules_for("Alice"), std::vector<std::string>{"a:2"});
  EXPECT_EQ(policy.preset(), "read-only");
}

TEST(Policy, HugeRequestsTakeBoundedTime) {
  std::string text;
  while (text.size() < 64 << 10) text += "git push sudo '.env' ;";
  const auto decision = decide_read_only({.tool = "Bash", .command = text, .description = text});
  EXPECT_EQ(decision.action, Action::Ask);
}

}  // namespace
}  // namespace relay::permissions
