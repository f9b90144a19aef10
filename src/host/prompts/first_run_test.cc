// What real agents show in a new home or a new folder, from recordings: each dialog is blocked, told with what it
// offers, and answered by the keys it takes; the composer behind it ends it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "host/prompts/dialog_answer.h"
#include "host/prompts/prompt_tracker.h"
#include "profiles/registry.h"
#include "profiles/screen_watcher.h"
#include "terminal/testing/recording.h"

namespace relay::host {
namespace {

using adapters::PromptKind;
using profiles::State;
using terminal::testing::Recording;

/// One dialog as it should be known at a moment that was marked.
struct Wanted {
  const char* moment;
  const char* asks;     // begins its question, or is the tool of its permission
  const char* options;  // labels, parted by |
  const char* answer;   // one of them
  const char* keys;     // which that takes; empty: it is answered at its own screen
};

struct FirstRun {
  const char* recording;
  std::vector<Wanted> dialogs;
};

struct Known {
  State state = State::Unknown;
  PromptTracker::Events open;
  std::optional<Dialog> dialog;
};

std::string keys_for(Dialog dialog, const std::string& answer, profiles::DialogKeys press) {
  const bool permission = dialog.kind == PromptKind::Permission;
  adapters::PromptAnswer reply{.verdict = answer == "approve" ? adapters::PromptAnswer::Decision::Allow
                                                              : adapters::PromptAnswer::Decision::Deny};
  if (!permission) reply.answers = {answer};
  const auto wanted = choice_for(dialog, reply);
  if (!wanted) return wanted.error().message();
  DialogAnswer answering{dialog, *wanted, press, Millis{0}, SteadyTime{}};
  std::string keys;
  for (;;) {
    const auto marked = dialog.marked().value_or(0);
    const auto step = answering.decide({.dialog = &dialog}).step;
    if (step == DialogAnswer::Step::OwnKey) return answering.own_key();
    if (step == DialogAnswer::Step::Enter) return keys + "⏎";
    if (step != DialogAnswer::Step::Down && step != DialogAnswer::Step::Up) return keys + "?";
    const auto next = step == DialogAnswer::Step::Down ? marked + 1 : marked - 1;
    keys += step == DialogAnswer::Step::Down ? "↓" : "↑";
    std::swap(dialog.choices[marked].marked, dialog.choices[next].marked);
  }
}

/// Watches a recording as a host does, and says what is known at each moment that was marked.
std::map<std::string, Known> moments_of(const profiles::CompiledProfile& eyes, const Recording& recording) {
  terminal::Screen screen{recording.size};
  profiles::ScreenWatcher watcher{eyes};
  PromptTracker asked{"h", eyes.profile().dialogs.keys};
  std::map<std::string, Known> moments;
  const auto at = [](double seconds) {
    const auto time = std::chrono::nanoseconds{std::llround(seconds * 1e9)};
    return Timestamp{SteadyTime{time}, std::chrono::duration_cast<Millis>(time).count()};
  };
  const auto look = [&](double seconds) {
    (void)watcher.update(screen, at(seconds).steady);
    (void)asked.update(watcher.estimate().state, watcher.analysis().findings, at(seconds));
  };
  const auto wait_until = [&](double seconds) {
    for (;;) {
      auto due = watcher.next_update_at();
      if (const auto other = asked.due(); other && (!due || *other < *due)) due = other;
      const double when = due ? std::chrono::duration<double>(due->time_since_epoch()).count() : seconds;
      if (when >= seconds) return;
      look(when + 1e-6);
    }
  };
  for (const auto& event : recording.events) {
    wait_until(event.seconds);
    if (event.kind == 'm')
      moments[event.data] = {watcher.estimate().state, asked.unanswered(), dialog_in(watcher.analysis().findings)};
    if (event.kind == 'o') screen.feed(event.data);
    look(event.seconds);
  }
  return moments;
}

class FirstRunRecordings : public ::testing::TestWithParam<FirstRun> {};

TEST_P(FirstRunRecordings, SetupDialogIsReportedAndAnsweredByKeys) {
  const std::string path = GetParam().recording;
  const auto eyes = profiles::CompiledProfile::open(*profiles::find_profile(path.substr(0, path.find('/'))));
  const auto recording = terminal::testing::read_recording(std::filesystem::path{RELAY_AGENTS} / (path + ".cast.gz"));
  ASSERT_TRUE(eyes && recording);
  const auto moments = moments_of(*eyes, *recording);
  for (const auto& wanted : GetParam().dialogs) {
    SCOPED_TRACE(wanted.moment);
    const auto found = moments.find(wanted.moment);
    ASSERT_NE(found, moments.end());
    const auto& [state, open, dialog] = found->second;
    EXPECT_EQ(state, State::Blocked);
    ASSERT_EQ(open.size(), 1u);
    ASSERT_TRUE(dialog);
    std::string options;
    for (const auto& choice : dialog->choices) options += (options.empty() ? "" : "|") + choice.label;
    EXPECT_EQ(options, wanted.options);
    bool can_answer = true;
    if (const auto* permission = std::get_if<events::PermissionRequested>(&open.front())) {
      EXPECT_EQ(permission->tool, wanted.asks);
      EXPECT_TRUE(permission->partial.value_or(false)) << "a rule might decide it";
      can_answer = permission->can_answer.value_or(true);
    } else {
      const auto& question = std::get<events::QuestionRequested>(open.front());
      EXPECT_TRUE(question.question.starts_with(wanted.asks)) << question.question;
      can_answer = question.can_answer.value_or(true);
    }
    EXPECT_EQ(can_answer, *wanted.keys != '\0');
    if (!can_answer) continue;
    EXPECT_EQ(keys_for(*dialog, wanted.answer, eyes->profile().dialogs.keys), wanted.keys);
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
