// Dialogs of real agents, from recordings: each is reported, can be answered by the keys of its agent while it is open,
// and cannot be answered after it has closed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "host/testing/recorded_prompts.h"
#include "profiles/registry.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using profiles::State;
using terminal::testing::Recording;

/// One request of a recording, the keys that answer it, and what resolved it.
struct RecordedRequest {
  std::string text, allow, deny, resolved_by;
};

/// The key that was pressed during the recording counts as an answer by `host`, so that it resolves its dialog.
std::vector<RecordedRequest> requests_in(const profiles::CompiledProfile& profile, const Recording& recording) {
  const auto press = profile.profile().dialogs.keys;
  std::map<std::string, RecordedRequest> requests;
  std::vector<std::string> order;
  std::optional<testing::RecordedPrompts> player;
  const auto findings = [&] {
    return player->watcher.estimate().state == State::Blocked ? player->watcher.analysis().findings
                                                              : profiles::ScreenFindings{};
  };
  const auto observe = [&](const PromptTracker::Events& events, SteadyTime) {
    for (const auto& event : events) {
      if (const auto* request = std::get_if<events::PermissionRequested>(&event)) {
        order.push_back(request->request_id);
        auto& each = requests[request->request_id];
        each.text = request->tool + ": " + request->description;
        if (!request->can_answer.value_or(true)) continue;
        const auto dialog = *dialog_in(findings());
        each.allow = testing::keys_for(dialog, {.decision = PromptAnswer::Decision::Approve}, press);
        each.deny = testing::keys_for(dialog, {.decision = PromptAnswer::Decision::Deny}, press);
      } else if (const auto* resolved = std::get_if<events::PermissionResolved>(&event)) {
        requests[resolved->request_id].resolved_by = resolved->resolved_by;
      }
    }
    // A resolved request cannot be answered, whatever is on the screen.
    PromptTracker::Events changes;
    for (const auto& [id, each] : requests) {
      if (each.resolved_by.empty()) continue;
      EXPECT_FALSE(player->tracker.check_keys(id, findings(), changes)) << recording.name;
    }
  };
  player.emplace(profile, recording.size, observe);
  double last = 0;
  for (const auto& event : recording.events) {
    player->advance_to(event.seconds);
    last = event.seconds;
    if (event.kind == 'r') player->screen.resize(terminal::testing::size_of(event.data));
    if (event.kind == 'o') player->screen.feed(event.data);
    if (event.kind == 'i' && !order.empty()) {
      PromptTracker::Events changes;
      if (player->tracker.check_keys(order.back(), findings(), changes))
        player->tracker.press(order.back(), {.by = "host"});
    }
    player->update(event.seconds);
  }
  player->advance_to(last + 10);
  std::vector<RecordedRequest> all;
  for (const auto& request : order) all.push_back(requests[request]);
  return all;
}

struct Kind {
  const char* agent;
  const char* setting;
  const char* which;
  const char* allow;
  std::vector<const char*> deny;   // one of
  std::vector<const char*> texts;  // one of, in its description
};

const std::vector<const char*> kClaude{"\ncurl -s http://127.0.0.1:9/deploy; echo deploy-finished\n",
                                       "Create file\nnotes.md\n1 # Notes\n2\n3 @relay"};
const std::vector<const char*> kGemini{"? Shell  curl -s http://127.0.0.1:9/deploy; echo deploy-finished\n",
                                       "Writing to notes.md\n1 # Notes"};

class PromptRecordings : public ::testing::TestWithParam<Kind> {};

TEST_P(PromptRecordings, DialogIsReportedAndCanBeAnsweredByItsKeys) {
  const auto& kind = GetParam();
  const auto profile = profiles::CompiledProfile::open(*profiles::find_profile(kind.agent));
  std::size_t count = 0;
  for (const auto& path : terminal::testing::recordings_below(std::filesystem::path{RELAY_AGENTS} / kind.agent /
                                                              "recordings" / kind.setting)) {
    if (path.filename().string().find(kind.which) == std::string::npos) continue;
    const auto recording = terminal::testing::read_recording(path);
    ASSERT_TRUE(recording) << path;
    const auto requests = requests_in(*profile, *recording);
    EXPECT_FALSE(requests.empty()) << path;
    for (const auto& request : requests) {
      ++count;
      EXPECT_TRUE(std::ranges::any_of(kind.texts, [&](const char* text) { return request.text.contains(text); }))
          << path << " " << request.text;
      EXPECT_EQ(request.allow, kind.allow) << path << " " << request.text;
      EXPECT_TRUE(std::ranges::find(kind.deny, request.deny) != kind.deny.end()) << path << " " << request.deny;
      EXPECT_EQ(request.resolved_by, *kind.allow != '\0' ? "host" : "human") << path << " " << request.text;
    }
  }
  EXPECT_GT(count, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Agents, PromptRecordings,
    ::testing::Values(Kind{"claude", "default", "perm_", "⏎", {"↓↓⏎", "↓↓↓⏎"}, kClaude},
                      Kind{"claude", "inline", "perm_", "⏎", {"↓↓⏎", "↓↓↓⏎"}, kClaude},
                      Kind{"claude", "2.1.197", "perm_", "⏎", {"↓↓⏎"}, kClaude},
                      Kind{"codex", "default", "inject_perm", "⏎", {"↓↓⏎"}, {"\n$ curl -s"}},
                      Kind{"codex", "inline", "inject_perm", "⏎", {"↓↓⏎"}, {"\n$ curl -s"}},
                      Kind{"gemini", "default", "perm_", "⏎", {"↓↓⏎", "↓↓↓⏎"}, kGemini},
                      Kind{"goose", "default", "perm_", "⏎", {"↓↓⏎"}, {"Tool approval request\n{"}},
                      Kind{"aider", "default", "perm_", "y⏎", {"n⏎"}, {"\nprintf ", "\nhello.py\n", "\nother.py\n"}},
                      // Incomplete dialogs are left to the user.
                      Kind{"codex", "default", "perm_write", "", {""}, {"Destination: "}},
                      Kind{"claude", "screen-reader", "perm_", "", {""}, {"\n> curl -s"}},
                      Kind{"gemini", "screen-reader", "perm_", "", {""}, {"? Shell   curl"}},
                      Kind{"opencode", "default", "perm_", "", {""}, {"→ Edit notes.md"}}),
    [](const auto& each) {
      std::string name = std::string{each.param.agent} + each.param.setting + each.param.which;
      std::ranges::replace_if(name, [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });

}  // namespace
}  // namespace relay::host
