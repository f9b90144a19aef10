#include "permissions/policy_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/format.h"

namespace relay::permissions {
namespace {

std::string error_in(std::string_view toml) {
  const auto policy = parse_policy(toml, "/h/config.toml");
  return policy ? "" : policy.error().message();
}

TEST(PolicyFile, OwnRulesPrecedePreset) {
  const auto policy = parse_policy(R"toml(
heartbeat_ms = 200

[[permissions]]
tool = "Bash"
command = ["npm (test|run lint)", 'make [a-z]+']
action = "approve"

[[permissions]]
tool = ["edit", "write"]
path = "./src/**"
agents = ["Build*"]
action = "approve"

[[permissions]]
tool = "fetch"
action = "ask"
risk = "low"
timeout = 60

[[permissions]]
command = "terraform .*"
action = "deny"
)toml",
                                   "/h/config.toml")
                          .value();
  const auto ran = policy.decide({.tool = "run_shell_command", .command = "npm test"});
  EXPECT_EQ(ran.action, Action::Approve);
  EXPECT_EQ(ran.rule, "/h/config.toml:4");
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "npm test; rm x"}).action, Action::Ask);

  PermissionRequest edit{.agent = "builder", .tool = "Edit", .file_path = "/w/src/a.cc", .directory = "/w"};
  EXPECT_EQ(policy.decide(edit).action, Action::Approve);
  edit.agent = "Other";
  EXPECT_EQ(policy.decide(edit).action, Action::Ask);
  edit = {.agent = "Builder", .tool = "Write", .file_path = "/w/src/../Makefile", .directory = "/w"};
  EXPECT_EQ(policy.decide(edit).action, Action::Ask);

  const auto fetch = policy.decide({.tool = "WebFetch"});
  EXPECT_EQ(fetch.action, Action::Ask);
  EXPECT_EQ(fetch.risk, RiskLevel::Low);
  EXPECT_EQ(fetch.timeout, std::chrono::seconds{60});
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "cd x && terraform plan"}).action, Action::Deny);
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "pwd"}).action, Action::Ask) << "no preset follows";
}

TEST(PolicyFile, WithoutPresetNothingIsApproved) {
  for (const auto* toml : {"", "debug = true", "[permissions]\n", "[permissions]\npreset = 'none'\n"}) {
    const auto policy = parse_policy(toml).value();
    EXPECT_EQ(policy.decide({.tool = "Bash", .command = "ls"}).action, Action::Ask) << toml;
    EXPECT_EQ(policy.decide({.tool = "Read", .file_path = "/etc/hosts", .directory = "/w"}).action, Action::Ask);
  }
}

TEST(PolicyFile, PresetFollowsOwnRules) {
  const auto policy = parse_policy(R"toml(
[permissions]
preset = "read-only"

[[permissions.rules]]
tool = "bash"
command = "make"
action = "approve"

[[permissions.rules]]
tool = "bash"
command = "pwd"
action = "deny"
)toml",
                                   "/h/config.toml")
                          .value();
  EXPECT_EQ(policy.preset(), "read-only");
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "make"}).rule, "/h/config.toml:5");
  EXPECT_EQ(policy.decide({.tool = "Bash", .command = "pwd"}).action, Action::Deny);
  const auto listed = policy.decide({.tool = "Bash", .command = "ls"});
  EXPECT_EQ(listed.action, Action::Approve);
  EXPECT_EQ(listed.rule, "preset read-only: approves ls and pwd");
}

TEST(PolicyFile, UnknownPresetIsRefused) {
  EXPECT_EQ(error_in("[permissions]\npreset = 'reading'"),
            "/h/config.toml:2:10: preset must be one of none, read-only");
  EXPECT_EQ(error_in("[permissions]\npreset = 3"), "/h/config.toml:2:10: preset must be one of none, read-only");
  EXPECT_EQ(error_in("[permissions]\npresets = 'none'"),
            "/h/config.toml:2:1: permissions have no presets; valid keys: preset, rules");
  EXPECT_EQ(error_in("[permissions]\nrules = 3"),
            "/h/config.toml:2:1: rules must be a list: write [[permissions.rules]]");
}

TEST(PolicyFile, ErrorNamesLocationAndReason) {
  EXPECT_TRUE(error_in("permissions = [").starts_with("/h/config.toml:1:")) << error_in("permissions = [");
  EXPECT_EQ(error_in("permissions = 3"),
            "/h/config.toml:1:1: permissions must be a table: write [permissions] and [[permissions.rules]]");
  EXPECT_EQ(error_in("permissions = [3]"), "/h/config.toml:1:16: a rule is a table: write [[permissions.rules]]");
  EXPECT_EQ(error_in("[[permissions]]\ntool = 'read'"),
            "/h/config.toml:1:1: the rule has no action: approve, deny or ask");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'maybe'"),
            "/h/config.toml:2:10: action must be one of approve, deny, ask");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'ask'\nrisk = 3"),
            "/h/config.toml:3:8: risk must be one of low, medium, high, critical");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'ask'\ntimeout = 0"),
            "/h/config.toml:3:11: timeout must be a number of seconds from 1 to 604800");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'ask'\ncomand = 'x'"),
            "/h/config.toml:3:1: a rule has no comand; did you mean command?");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'ask'\ntool = []"),
            "/h/config.toml:3:8: tool must be a string or a list of at least one");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'ask'\ntool = ['a', 1]"),
            "/h/config.toml:3:14: tool must be a list of strings");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'ask'\npath = ''"),
            "/h/config.toml:3:8: an entry of path must have 1 to 1024 bytes");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'approve'\ntool = 'Bash'"),
            "/h/config.toml:1:1: a rule that approves bash must name its commands; command = '.*' means every simple "
            "one");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'approve'\ncommand = 'x'\npath = 'y'"),
            "/h/config.toml:1:1: a rule that approves commands cannot have a path: which files a command uses cannot "
            "be determined");
  EXPECT_EQ(error_in("[[permissions]]\naction = 'deny'\ntimeout = 5"),
            "/h/config.toml:1:1: only a rule that asks can have a timeout; the others do not wait");
  EXPECT_TRUE(error_in("[[permissions]]\naction = 'ask'\ncommand = '(x'")
                  .starts_with("/h/config.toml:1:1: the pattern '(x' cannot be used: "));
  EXPECT_TRUE(error_in("[[permissions]]\naction = 'ask'\ncommand = 'a)|(b'").contains("cannot be used"))
      << "two halves of a pattern are not a pattern";
}

TEST(PolicyFile, ExampleOfManualWorks) {
  std::ifstream file{RELAY_DOCS "/permissions.md"};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  const auto start = page.find("```toml\n", page.find("## Your own rules")), end = page.find("```\n", start + 1);
  ASSERT_NE(start, std::string::npos);
  const auto policy = parse_policy(std::string_view{page}.substr(start + 8, end - start - 8));
  ASSERT_TRUE(policy) << policy.error().message();
  const auto action_of = [&](const PermissionRequest& ask) { return policy->decide(ask).action; };
  EXPECT_EQ(action_of({.tool = "Bash", .command = "npm test"}), Action::Approve);
  EXPECT_EQ(action_of({.tool = "Bash", .command = "npm test > x"}), Action::Ask);
  EXPECT_EQ(action_of({.tool = "Bash", .command = "cd x && git push -f"}), Action::Deny);
  EXPECT_EQ(action_of({.tool = "Bash", .command = "grep \"git push\""}), Action::Deny);
  EXPECT_EQ(action_of({.tool = "Read", .file_path = "a/.env.example"}), Action::Approve);
  EXPECT_EQ(action_of({.tool = "Read", .file_path = "a/.env"}), Action::Ask);
  EXPECT_EQ(action_of({.agent = "Build-1", .tool = "Write", .file_path = "/w/src/a", .directory = "/w"}),
            Action::Approve);
  EXPECT_EQ(action_of({.agent = "Build-1", .tool = "Write", .file_path = "/w/b", .directory = "/w"}), Action::Ask);
  EXPECT_EQ(policy->decide({.tool = "web_fetch"}).timeout, std::chrono::minutes{2});
}

TEST(PolicyFile, IsBounded) {
  std::string many;
  for (std::size_t i = 0; i <= kMaxRules; ++i) many += "[[permissions]]\naction = 'ask'\n";
  EXPECT_EQ(error_in(many), "/h/config.toml:1:3: at most 500 rules are allowed");
  EXPECT_NE(error_in("[[permissions]]\naction = 'ask'\ncommand = '((a{100}){100}){100}'"), "");
  EXPECT_NE(error_in(format("[[permissions]]\naction = 'ask'\ncommand = '{}'", std::string(2'000, 'x'))), "");
}

}  // namespace
}  // namespace relay::permissions
