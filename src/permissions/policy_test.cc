#include "permissions/policy.h"

#include <gtest/gtest.h>

#include "permissions/tools.h"

namespace relay::permissions {
namespace {

Decision decide_by_default(const Ask& ask) { return Policy{}.decide(ask); }

TEST(Policy, KnowsToolsUnderTheNamesOfAllAgents) {
  for (const auto* name : {"Bash", "bash", "shell", "exec", "exec_command", "run_shell_command", "Shell"})
    EXPECT_EQ(canonical_tool(name), tool::kBash) << name;
  for (const auto* name : {"Read", "read_file", "ReadFile"}) EXPECT_EQ(canonical_tool(name), tool::kRead) << name;
  for (const auto* name : {"Edit", "apply_patch", "replace", "MultiEdit", "patch"})
    EXPECT_EQ(canonical_tool(name), tool::kEdit) << name;
  for (const auto* name : {"Grep", "search_file_content", "grep_search", "ripgrep"})
    EXPECT_EQ(canonical_tool(name), tool::kGrep) << name;
  EXPECT_EQ(canonical_tool("mcp__files__read"), "mcp__files__read") << "somebody else's tool";
}

TEST(Policy, ReadingIsApprovedButForSecrets) {
  for (const auto* name : {"Read", "read_file", "Glob", "Grep", "list_directory"})
    EXPECT_EQ(decide_by_default({.tool = name, .file_path = "/w/src/a.cc", .directory = "/w"}).action, Action::Approve)
        << name;
  EXPECT_EQ(decide_by_default({.tool = "Grep"}).action, Action::Approve);
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
    const auto decision = decide_by_default({.tool = "Read", .file_path = path, .directory = "/w"});
    EXPECT_EQ(decision.action, Action::Ask) << path;
    EXPECT_EQ(decision.risk, RiskLevel::High) << path;
    EXPECT_FALSE(decision.danger.empty());
  }
}

TEST(Policy, WhatIsReadMustBeKnown) {
  EXPECT_EQ(decide_by_default({.tool = "Read"}).action, Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "Read", .file_path = ""}).action, Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "Read", .file_path = "a\nb"}).action, Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "Read", .file_path = "a\xe2\x80\xae"}).action, Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "Bash"}).action, Action::Ask) << "a command nobody has seen";
  EXPECT_EQ(decide_by_default({.tool = "Read", .command = "rm x", .file_path = "a"}).action, Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "Grep", .description = R"(Grep: {"pattern":"KEY","glob":".env"})"}).action,
            Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "read_many_files", .file_path = "a"}).action, Action::Ask);
  EXPECT_EQ(decide_by_default({.tool = "mcp__x__ls", .command = "ls"}).action, Action::Ask);
}

TEST(Policy, WhatDestroysIsCritical) {
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
    const auto decision = decide_by_default({.tool = "Bash", .command = command});
    EXPECT_EQ(decision.action, Action::Ask) << command;
    EXPECT_EQ(decision.risk, RiskLevel::Critical) << command;
  }
}

TEST(Policy, SaysWhichRuleDecidedAndWhy) {
  EXPECT_EQ(decide_by_default({.tool = "Bash", .command = "ls"}).rule, "default: ls and pwd are approved");
  EXPECT_EQ(decide_by_default({.tool = "Bash", .command = "npm test"}).rule, "no rule speaks of it");
  EXPECT_EQ(decide_by_default({.tool = "Bash", .command = "ls & x"}).rule,
            "no rule approves what is not one simple command: & outside quotes");
  EXPECT_EQ(decide_by_default({.tool = "Bash", .command = "rm x"}).rule, "default: what removes or destroys is asked");
}

TEST(Policy, ARuleThatDeniesLooksIntoEverything) {
  std::vector<Rule> rules;
  rules.push_back(Rule::compile({.tools = {"bash"}, .commands = {"git push( .*)?"}, .action = Action::Deny}).value());
  rules.push_back(Rule::compile({.paths = {"./vendor/"}, .action = Action::Deny}).value());
  const Policy policy{std::move(rules)};
  for (const auto* command : {"git push", "git push origin", "cd x && git push", "sh -c 'git push'", "sudo git push -f",
                              "g\"it\" push", "true; (git  push)", "touch vendor/x", "echo >vendor/x"})
    EXPECT_EQ(policy.decide({.tool = "Bash", .command = command, .directory = "/w"}).action, Action::Deny) << command;
  for (const auto* command : {"git pull", "git pushx", "touch x/vendor2"})
    EXPECT_EQ(policy.decide({.tool = "Bash", .command = command, .directory = "/w"}).action, Action::Ask) << command;
  EXPECT_EQ(policy.decide({.tool = "some_shell", .command = "git push"}).action, Action::Deny)
      << "whatever the tool is called";
  EXPECT_EQ(policy.decide({.tool = "apply_patch", .command = "+git push", .directory = "/w"}).action, Action::Ask)
      << "a patch is no command";
}

TEST(Policy, ARuleThatApprovesNeverCoversWhatRunsLater) {
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

TEST(Policy, ARuleForEveryToolApprovesNoCommandItDoesNotName) {
  std::vector<Rule> rules;
  rules.push_back(Rule::compile({.tools = {"*"}, .action = Action::Approve}).value());
  const Policy policy{std::move(rules)};
  EXPECT_EQ(policy.decide({.tool = "mcp__a__b"}).action, Action::Approve);
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "npm test"}).action, Action::Ask);
}

TEST(Policy, AsksAlwaysWhenItsRulesCannotBeRead) {
  const auto decision = Policy::ask_always().decide({.tool = "Bash", .command = "ls"});
  EXPECT_EQ(decision.action, Action::Ask);
  EXPECT_EQ(decision.risk, RiskLevel::Low);
}

TEST(Policy, HugeAsksTakeNoTime) {
  std::string text;
  while (text.size() < 64 << 10) text += "git push sudo '.env' ;";
  const auto decision = decide_by_default({.tool = "Bash", .command = text, .description = text});
  EXPECT_EQ(decision.action, Action::Ask);
}

}  // namespace
}  // namespace relay::permissions
