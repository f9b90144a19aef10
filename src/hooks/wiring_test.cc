#include "hooks/wiring.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "hooks/hook_specs.h"
#include "hooks/settings.h"

namespace relay::hooks {
namespace {

using Words = std::vector<std::string>;

class Wiring : public testing::Test {
 protected:
  Wiring() : root_{testing::TempDir() + "/wiring." + std::to_string(::getpid())} {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~Wiring() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path{root_ + "/" + name}.parent_path());
    std::ofstream{root_ + "/" + name} << text;
  }

  WiringResult wired(AgentCli agent) {
    auto result = wire(agent, argv, environment,
                       {.program = "/opt/relay/agent-relay",
                        .private_file = root_ + "/run.json",
                        .directory = root_,
                        .root_owned = root_owned});
    EXPECT_TRUE(result) << result.error().message();
    return result ? *result : WiringResult{};
  }

  bool root_owned = true;
  json::object written() {
    const auto text = read_settings_file(root_ + "/run.json");
    if (!text || !*text) return {};
    return parse_json_object(**text).value_or(json::object{});
  }

  std::string root_;
  Words argv;
  EnvironmentBlock environment{"HOME=" + root_, "PATH=/bin",
                               "GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + root_ + "/etc/settings.json"};
};

std::size_t groups(const json::object& settings, std::string_view event) {
  const auto* hooks = object_member(settings, "hooks");
  const auto* list = hooks == nullptr ? nullptr : array_member(*hooks, event);
  return list == nullptr ? 0 : list->size();
}

TEST_F(Wiring, ClaudeGetsAPrivateSettingsFile) {
  argv = {"claude", "--model", "opus"};
  const auto run = wired(AgentCli::Claude);
  EXPECT_TRUE(run.hooks);
  EXPECT_EQ(argv, (Words{"claude", "--settings", root_ + "/run.json", "--model", "opus"}));
  EXPECT_TRUE(std::filesystem::exists(root_ + "/run.json"));
  struct stat status{};
  ASSERT_EQ(::stat((root_ + "/run.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto settings = written();
  for (const auto& hook : hook_specs(AgentCli::Claude)) EXPECT_EQ(groups(settings, hook.event), 1U) << hook.event;
  for (const auto& hook : streaming_hooks(AgentCli::Claude)) EXPECT_EQ(groups(settings, hook.event), 1U) << hook.event;
  EXPECT_EQ(
      json::serialize(settings.at("hooks").at("Stop")),
      R"([{"hooks":[{"type":"command","command":"/opt/relay/agent-relay","args":["hook","claude"],"timeout":10}]}])");
}

TEST_F(Wiring, ClaudeMergesLastSettingsFileOfUser) {
  write("mine.json",
        R"({"model":"x","env":{"KEY":"secret"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say"}]}]}})");
  argv = {"/usr/bin/claude", "--settings", R"({"model":"ignored"})", "-c", "--settings=mine.json", "--", "--settings"};
  EXPECT_TRUE(wired(AgentCli::Claude).hooks);
  EXPECT_EQ(argv, (Words{"/usr/bin/claude", "--settings", root_ + "/run.json", "-c", "--", "--settings"}));
  const auto settings = written();
  EXPECT_EQ(settings.at("model"), "x");
  EXPECT_EQ(settings.at("env").at("KEY"), "secret");
  EXPECT_EQ(groups(settings, "Stop"), 2U);
  EXPECT_EQ(groups(settings, "SessionStart"), 1U);
}

TEST_F(Wiring, ClaudeMergesInlineSettings) {
  argv = {"claude", "--settings", R"( {"model":"y"})"};
  EXPECT_TRUE(wired(AgentCli::Claude).hooks);
  EXPECT_EQ(written().at("model"), "y");
}

TEST_F(Wiring, UnmergeableSettingsAreUnchanged) {
  for (const std::string text : {"no-such-file.json", "{not json", R"({"hooks":[]})", R"({"hooks":{"Stop":1}})",
                                 R"({"disableAllHooks":true})", "."}) {
    argv = {"claude", "--settings", text};
    const auto before = argv;
    const auto run = wired(AgentCli::Claude);
    EXPECT_FALSE(run.hooks) << text;
    EXPECT_FALSE(run.blocked_reason.empty()) << text;
    EXPECT_EQ(argv, before);
    EXPECT_FALSE(std::filesystem::exists(root_ + "/run.json"));
  }
}

TEST_F(Wiring, NamesOptionOrSettingThatDisablesHooks) {
  argv = {"claude", "--bare"};
  EXPECT_NE(wired(AgentCli::Claude).blocked_reason.find("--bare"), std::string::npos);
  argv = {"claude", "--", "--bare"};
  EXPECT_TRUE(wired(AgentCli::Claude).hooks);
  argv = {"codex", "--disable", "hooks"};
  EXPECT_FALSE(wired(AgentCli::Codex).hooks);
  argv = {"claude"};
  write(".claude/settings.local.json", R"({"disableAllHooks":true})");
  EXPECT_NE(wired(AgentCli::Claude).blocked_reason.find("settings.local.json"), std::string::npos);
  write(".claude/settings.json", R"({"disableAllHooks":true})");
  EXPECT_NE(wired(AgentCli::Claude).blocked_reason.find("disableAllHooks"), std::string::npos);
  write(".codex/config.toml", "[features]\nhooks = false\n");
  argv = {"codex"};
  EXPECT_NE(wired(AgentCli::Codex).blocked_reason.find("features.hooks"), std::string::npos);
  write(".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}} // off\n");
  EXPECT_NE(wired(AgentCli::Gemini).blocked_reason.find("hooksConfig"), std::string::npos);
}

TEST_F(Wiring, OptionsOfOtherCommandsAreUnchanged) {
  for (const auto agent : {AgentCli::Claude, AgentCli::Codex}) {
    argv = {"npx", std::string{name_of(agent)}};
    EXPECT_FALSE(wired(agent).hooks);
    EXPECT_EQ(argv.size(), 2U);
  }
  argv = {"claude-work"};
  EXPECT_TRUE(wired(AgentCli::Claude).hooks);
  argv = {"claudette"};
  EXPECT_FALSE(wired(AgentCli::Claude).hooks);
}

// Claude Code 2.1.325 prints "hook_started" and "hook_response" for SessionStart there, and for no other hook of the
// relay.
TEST_F(Wiring, ClaudeOmitsHooksFromJsonStream) {
  for (const Words& words : std::initializer_list<Words>{{"claude", "-p", "--output-format", "stream-json", "hello"},
                                                         {"claude", "--output-format=stream-json", "--print"}}) {
    argv = words;
    EXPECT_TRUE(wired(AgentCli::Claude).hooks);
    EXPECT_EQ(groups(written(), "SessionStart"), 0U);
    EXPECT_EQ(groups(written(), "UserPromptSubmit"), 1U);
  }
  argv = {"claude", "-p", "--output-format", "json", "--", "--output-format=stream-json"};
  EXPECT_TRUE(wired(AgentCli::Claude).hooks);
  EXPECT_EQ(groups(written(), "SessionStart"), 1U);
  argv = {"claude", "-p", "--output-format", "stream-json", "--include-hook-events"};
  EXPECT_FALSE(wired(AgentCli::Claude).hooks);
}

// Codex 0.166.0 ran a hook trusted by a hash made this way, without a review.
TEST_F(Wiring, CodexGetsHashesOfOwnHooksOnly) {
  argv = {"codex", "resume", "--last"};
  const auto run = wired(AgentCli::Codex);
  EXPECT_TRUE(run.hooks);
  EXPECT_FALSE(std::filesystem::exists(root_ + "/run.json"));
  ASSERT_EQ(argv.size(), 7U);
  EXPECT_EQ(argv[3], "-c");
  const auto& text = argv[4];
  EXPECT_TRUE(text.starts_with(
      "hooks={SessionStart=[{hooks=[{type=\"command\",command=\"'/opt/relay/agent-relay' hook codex\",timeout=10}]}],"))
      << text;
  EXPECT_NE(text.find("\"/<session-flags>/"
                      "config.toml:stop:0:0\"={trusted_hash=\"sha256:"
                      "8ef0910354b66dd609838801199c50bcd09a14611192076ad7031501cf2b3467\"}"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("dangerously"), std::string::npos);
}

// Codex 0.166.0 shows "1 warning" for the whole session where an override prevents it from using its shared server.
TEST_F(Wiring, CodexDoesNotWarnAboutSharedServer) {
  argv = {"codex"};
  EXPECT_TRUE(wired(AgentCli::Codex).hooks);
  EXPECT_EQ(argv[1] + " " + argv[2], "-c features.daemon_auto_start=false");
}

// Codex 0.166.0 prints "hook: SessionStart" and "hook: SessionStart Completed" on stderr, and so on.
TEST_F(Wiring, CodexOmitsHooksInOneShotRun) {
  for (const Words& words : std::initializer_list<Words>{{"codex", "exec", "hello"},
                                                         {"codex", "-m", "gpt-6", "e", "-"},
                                                         {"/opt/codex", "--search", "--cd=/x", "review"},
                                                         {"codex", "exec", "resume", "--last"}}) {
    argv = words;
    EXPECT_FALSE(wired(AgentCli::Codex).hooks) << words[1];
    EXPECT_EQ(argv, words);
  }
  for (const Words& words : std::initializer_list<Words>{{"codex"},
                                                         {"codex", "explain exec"},
                                                         {"codex", "--profile", "exec"},
                                                         {"codex", "resume", "exec"},
                                                         {"codex", "--", "exec"}}) {
    argv = words;
    EXPECT_TRUE(wired(AgentCli::Codex).hooks) << words.back();
  }
}

TEST_F(Wiring, InstalledCodexHooksAreDisabledInWiredRun) {
  write(".codex/hooks.json",
        R"({"hooks":{"Stop":[{"hooks":[{"type":"command","command":"theirs"}]},)"
        R"({"hooks":[{"type":"command","command":"'/old/agent-relay' hook codex","timeout":10}]}]}})");
  argv = {"codex"};
  EXPECT_TRUE(wired(AgentCli::Codex).hooks);
  EXPECT_NE(argv[4].find("/.codex/hooks.json:stop:1:0\"={enabled=false,trusted_hash="), std::string::npos);
  EXPECT_EQ(argv[4].find("/.codex/hooks.json:stop:0:0"), std::string::npos);
}

TEST_F(Wiring, CodexKeepsHooksOfItsCommandLine) {
  for (const Words& words : {Words{"-c", "hooks.Stop=[]"}, Words{"--config=hooks = {}"}, Words{"-chooks.state={}"}}) {
    argv = {"codex"};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto before = argv;
    EXPECT_FALSE(wired(AgentCli::Codex).hooks);
    EXPECT_EQ(argv, before);
  }
  argv = {"codex", "-c", "model=\"hooks\""};
  EXPECT_TRUE(wired(AgentCli::Codex).hooks);
}

TEST_F(Wiring, GeminiDefaultsIncludeThoseOfTheMachine) {
  write("etc/system-defaults.json",
        "{ // the machine's\n \"ui\": {\"theme\": \"Dark\"}, \"hooks\": {\"AfterAgent\": [{\"hooks\": []}]}}");
  environment.push_back("AGENT_RELAY_HOST_SOCKET=/run/host.sock");
  argv = {"npx", "gemini"};
  EXPECT_TRUE(wired(AgentCli::Gemini).hooks);
  EXPECT_EQ(argv, (Words{"npx", "gemini"}));
  EXPECT_EQ(variable(environment, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), root_ + "/run.json");
  const auto settings = written();
  EXPECT_EQ(settings.at("ui").at("theme"), "Dark");
  EXPECT_EQ(groups(settings, "AfterAgent"), 2U);
  EXPECT_EQ(groups(settings, "BeforeModel"), 0U);
  const auto& handler = settings.at("hooks").at("BeforeAgent").at(0).at("hooks").at(0);
  EXPECT_EQ(handler.at("command"), "'/opt/relay/agent-relay' hook gemini");
  EXPECT_EQ(handler.at("timeout"), 10000);
  EXPECT_EQ(handler.at("env").at("AGENT_RELAY_HOST_SOCKET"), "/run/host.sock");
}

TEST_F(Wiring, GeminiReadsOnlyRootOwnedOrInstalledHooks) {
  root_owned = false;
  argv = {"gemini"};
  environment = {"HOME=" + root_};
  EXPECT_NE(wired(AgentCli::Gemini).blocked_reason.find("agent-relay hooks install gemini"), std::string::npos);
  EXPECT_EQ(environment.size(), 1u);
  write(".gemini/settings.json",
        json::serialize(json::object{{"hooks", *hooks_for(AgentCli::Gemini, "/opt/relay/agent-relay")}}));
  EXPECT_TRUE(wired(AgentCli::Gemini).hooks) << "those are the relay's and find the host socket";
  EXPECT_FALSE(std::filesystem::exists(root_ + "/run.json"));
  EXPECT_FALSE(is_root_owned(root_ + "/run.json")) << "every user may write above it";
}

TEST_F(Wiring, GeminiDefaultsPathIsRead) {
  write("own.json", R"({"model":{"name":"z"}})");
  environment.push_back("GEMINI_CLI_SYSTEM_DEFAULTS_PATH=" + root_ + "/own.json");
  EXPECT_TRUE(wired(AgentCli::Gemini).hooks);
  EXPECT_EQ(written().at("model").at("name"), "z");
  EXPECT_EQ(std::ranges::count_if(environment,
                                  [](const auto& entry) { return entry.starts_with("GEMINI_CLI_SYSTEM_DEFAULTS"); }),
            1);
}

TEST_F(Wiring, MalformedMachineDefaultsLeaveGeminiUnwired) {
  write("etc/system-defaults.json", "{");
  const auto before = environment;
  EXPECT_FALSE(wired(AgentCli::Gemini).hooks);
  EXPECT_EQ(environment, before);
}

TEST(HookSpecs, QuoteAndRecognizeAnyPath) {
  for (const std::string_view program : {"/opt/a b/agent-relay", "/o'brien/agent-relay", "/a\"b\\/agent-relay"}) {
    for (const auto agent : {AgentCli::Claude, AgentCli::Codex, AgentCli::Gemini}) {
      const auto handler = handler_for(agent, hook_specs(agent).front(), program);
      ASSERT_TRUE(handler);
      EXPECT_EQ(program_of(agent, *handler), program);
    }
  }
  EXPECT_EQ(string_member(*handler_for(AgentCli::Codex, {"Stop", 1}, "/o'b/agent-relay"), "command"),
            R"('/o'\''b/agent-relay' hook codex)");
}

TEST(HookSpecs, IgnoreForeignHooks) {
  for (const std::string_view text :
       {R"({"command":"/x/agent-relay","args":["hook","codex"]})", R"({"command":"/x/agent-relay"})",
        R"({"command":"/x/other","args":["hook","claude"]})", R"({"command":5,"args":["hook","claude"]})", "[]"}) {
    EXPECT_EQ(program_of(AgentCli::Claude, *parse_json(text)), "") << text;
  }
  for (const std::string_view command :
       {"'/x/agent-relay' hook claude", "/x/agent-relay hook codex", "'/x'; '/x/agent-relay' hook codex",
        "'a' '/x/agent-relay' hook codex", "echo '/x/agent-relay' hook codex"}) {
    EXPECT_EQ(program_of(AgentCli::Codex, json::object{{"command", command}}), "") << command;
  }
}

TEST(HookSpecs, RefuseUnquotablePaths) {
  EXPECT_FALSE(hooks_for(AgentCli::Claude, "agent-relay"));
  EXPECT_FALSE(hooks_for(AgentCli::Codex, "/a\nb/agent-relay"));
  EXPECT_FALSE(hooks_for(AgentCli::Gemini, "/a$b/agent-relay"));
  EXPECT_TRUE(hooks_for(AgentCli::Claude, "/a$b/agent-relay"));
}

}  // namespace
}  // namespace relay::hooks
