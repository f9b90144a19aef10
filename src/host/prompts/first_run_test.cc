// Setup dialogs of real agents in a new home or a new folder, from recordings: each blocks the agent, is reported with
// its choices and answered by its keys; the composer after it resolves it.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "host/testing/recorded_prompts.h"
#include "profiles/registry.h"

namespace relay::host {
namespace {

using adapters::PromptKind;
using profiles::State;
using terminal::testing::Recording;

/// The expected dialog at a marked moment.
struct ExpectedDialog {
  const char* moment;
  const char* text;     // the start of the question, or the tool of the permission
  const char* options;  // labels, separated by |
  const char* answer;   // one of them
  const char* keys;     // for that answer; empty: only on its own screen
};

struct FirstRun {
  const char* recording;
  std::vector<ExpectedDialog> dialogs;
};

struct RecordedMoment {
  State state = State::Unknown;
  PromptTracker::Events open;
  std::optional<Dialog> dialog;
};

/// The state at each marked moment of a recording.
std::map<std::string, RecordedMoment> moments_of(const profiles::CompiledProfile& profile, const Recording& recording) {
  testing::RecordedPrompts player{profile, recording.size, [](const PromptTracker::Events&, SteadyTime) {}};
  std::map<std::string, RecordedMoment> moments;
  for (const auto& event : recording.events) {
    player.advance_to(event.seconds);
    if (event.kind == 'm')
      moments[event.data] = {player.watcher.estimate().state, player.tracker.unanswered(),
                             dialog_in(player.watcher.analysis().findings)};
    if (event.kind == 'o') player.screen.feed(event.data);
    player.update(event.seconds);
  }
  return moments;
}

adapters::PromptAnswer reply_to(const Dialog& dialog, const std::string& answer) {
  using Decision = adapters::PromptAnswer::Decision;
  if (dialog.kind == PromptKind::Question) return {.answers = {answer}};
  return {.decision = answer == "approve" ? Decision::Approve : Decision::Deny};
}

class FirstRunRecordings : public ::testing::TestWithParam<FirstRun> {};

TEST_P(FirstRunRecordings, SetupDialogIsReportedAndAnsweredByKeys) {
  const std::string path = GetParam().recording;
  const auto profile = profiles::CompiledProfile::open(*profiles::find_profile(path.substr(0, path.find('/'))));
  const auto recording = terminal::testing::read_recording(std::filesystem::path{RELAY_AGENTS} / (path + ".cast.gz"));
  ASSERT_TRUE(profile && recording);
  const auto moments = moments_of(*profile, *recording);
  for (const auto& expected : GetParam().dialogs) {
    SCOPED_TRACE(expected.moment);
    const auto found = moments.find(expected.moment);
    ASSERT_NE(found, moments.end());
    const auto& [state, open, dialog] = found->second;
    EXPECT_EQ(state, State::Blocked);
    ASSERT_EQ(open.size(), 1u);
    ASSERT_TRUE(dialog);
    std::string options;
    for (const auto& choice : dialog->choices) options += (options.empty() ? "" : "|") + choice.label;
    EXPECT_EQ(options, expected.options);
    bool can_answer = true;
    if (const auto* permission = std::get_if<events::PermissionRequested>(&open.front())) {
      EXPECT_EQ(permission->tool, expected.text);
      EXPECT_TRUE(permission->partial.value_or(false)) << "a rule might decide it";
      can_answer = permission->can_answer.value_or(true);
    } else {
      const auto& question = std::get<events::QuestionRequested>(open.front());
      EXPECT_TRUE(question.question.starts_with(expected.text)) << question.question;
      can_answer = question.can_answer.value_or(true);
    }
    EXPECT_EQ(can_answer, *expected.keys != '\0');
    if (!can_answer) continue;
    EXPECT_EQ(testing::keys_for(*dialog, reply_to(*dialog, expected.answer), profile->profile().dialogs.keys),
              expected.keys);
  }
  if (const auto ready = moments.find("idle after startup"); ready != moments.end()) {
    EXPECT_EQ(ready->second.state, State::Idle);
    EXPECT_TRUE(ready->second.open.empty());
  }
}

const char* const kThemes =
    "Auto (match terminal)|Dark mode|Light mode|Dark mode (colorblind-friendly)|Light mode (colorblind-friendly)|"
    "Dark mode (ANSI colors only)|Light mode (ANSI colors only)";
const char* const kCodexLogins =
    "Sign in with ChatGPT|Sign in with Device Code|Use an OpenAI API key|Use Amazon Bedrock";

INSTANTIATE_TEST_SUITE_P(
    Agents, FirstRunRecordings,
    ::testing::Values(
        FirstRun{"claude/recordings/first-run/api_key",
                 {{"first run: theme", "Let's get started.\nChoose the text style", kThemes, "Light mode", "↓⏎"},
                  {"first run: api key", "Detected a custom API key", "Yes|No (recommended)", "Yes", "↑⏎"},
                  {"first run: api key, yes marked", "Detected a custom API key", "Yes|No (recommended)", "Yes", "⏎"},
                  {"first run: security notes", "Security notes:\n1. Claude can make", "Continue", "Continue", "Enter"},
                  {"first run: trust", "folder-trust", "No, exit|Yes, I trust this folder", "approve", "↓⏎"},
                  {"first run: trust, yes marked", "folder-trust", "No, exit|Yes, I trust this folder", "deny", "↑⏎"}}},
        FirstRun{
            "claude/recordings/2.1.197/first_run",
            {{"first run: theme", "Let's get started.\nChoose the text style", kThemes, "Auto (match terminal)", "↑⏎"},
             {"first run: api key", "Detected a custom API key", "Yes|No (recommended)", "2", "⏎"},
             {"first run: trust", "folder-trust", "Yes, I trust this folder|No, exit", "approve", "⏎"}}},
        FirstRun{"claude/recordings/first-run/login",
                 {{"first run: login", "Select login method:",
                   "Claude account with subscription · Individual, Team, or Enterprise|"
                   "Anthropic Console account · API usage billing|"
                   "3rd-party platform · Bedrock, Microsoft Foundry, Google Vertex AI",
                   "2", "↓⏎"},
                  {"first run: login code", "Browser didn't open? Use the url below", "", "", ""}}},
        FirstRun{"claude/recordings/first-run/mcp_and_bypass",
                 {{"first run: mcp server", "New MCP server found in this project: notes",
                   "Use this MCP server|Use this and all future MCP servers in this project|"
                   "Continue without using this MCP server",
                   "Use this MCP server", "↑↑⏎"},
                  {"first run: bypass", "bypass-permissions", "No, exit|Yes, I accept", "deny", "⏎"}}},
        FirstRun{"claude/recordings/first-run/auto_mode",
                 {{"first run: auto mode", "Auto mode can't check actions in this session\n",
                   "Stay in auto mode|Leave for accept edits mode and stop", "Stay in auto mode", "Enter"},
                  {"permission prompt", "Bash", "No|Yes", "approve", "↓⏎"}}},
        FirstRun{"codex/recordings/first-run/login",
                 {{"first run: login", "Choose how you want to use Codex.", kCodexLogins, "3", "↓↓⏎"},
                  {"first run: login, device marked", "Choose how", kCodexLogins, "Sign in with ChatGPT", "↑⏎"},
                  {"first run: login code", "Finish signing in via your browser", "", "", ""}}},
        FirstRun{"codex/recordings/first-run/api_key",
                 {{"first run: login", "Choose how you want to use Codex.", kCodexLogins, "3", "↓↓⏎"},
                  {"first run: api key", "Enter an OpenAI API key.", "", "", ""},
                  {"first run: api key, typed", "Enter an OpenAI API key.", "", "", ""}}},
        FirstRun{"codex/recordings/default/new_conversation",
                 {{"question", "Where should the new conversation run?",
                   "Use current Git worktree|Create new Git worktree", "Create new Git worktree", "↓⏎"}}},
        FirstRun{"codex/recordings/first-run/trust",
                 {{"first run: trust", "folder-trust", "Trust and continue|Quit", "approve", "⏎"}}},
        FirstRun{"codex/recordings/first-run/update",
                 {{"first run: update", "Update available · 0.166.0 → 0.999.0",
                   "Update now (runs `npm install -g @openai/codex`)|Skip|Skip until next version", "Skip", "↓⏎"}}},
        FirstRun{"codex/recordings/first-run/new_model",
                 {{"first run: new model", "Meet GPT-6 Sol", "Try new model|Use existing model", "Use existing model",
                   "↓⏎"}}},
        FirstRun{"codex/recordings/first-run/hooks_review",
                 {{"first run: hooks", "Hooks need review",
                   "Review hooks|Trust all and continue|Continue without trusting (hooks won't run)", "3", "↓↓⏎"}}},
        FirstRun{"gemini/recordings/first-run/trust_and_auth",
                 {{"first run: trust", "folder-trust", "Trust folder (demo)|Trust parent folder (ar-first)|Don't trust",
                   "deny", "↓↓⏎"},
                  {"first run: auth", "? Get started\nHow would you like to authenticate",
                   "Sign in with Google|Use Gemini API Key|Vertex AI", "Vertex AI", "↓↓⏎"},
                  {"first run: api key", "Enter a Gemini API key.", "", "", ""}}},
        FirstRun{"opencode/recordings/first-run/fresh_home", {}}),
    [](const auto& each) {
      std::string name = each.param.recording;
      std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
      return name;
    });

}  // namespace
}  // namespace relay::host
