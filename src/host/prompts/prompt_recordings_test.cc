// Real agents' dialogs, from recordings: each is told, held, can be answered by the keys its agent takes, and is never
// answered once it is gone.
#include <gtest/gtest.h>

#include <algorithm>
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

using adapters::PromptAnswer;
using profiles::State;
using terminal::testing::Recording;

Timestamp at(double seconds) {
  const auto time = std::chrono::nanoseconds{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
  return {SteadyTime{time}, std::chrono::duration_cast<Millis>(time).count()};
}

/// What is pressed for that answer when the screen stays as it is, but for the mark.
std::string keys_for(Dialog dialog, PromptAnswer::Decision verdict, profiles::DialogKeys press, SteadyTime now) {
  const auto wanted = choice_for(dialog, {.verdict = verdict});
  if (!wanted) return "none";
  DialogAnswer answering{dialog, *wanted, press, Millis{0}, now};
  std::string keys;
  for (;;) {
    const auto marked = dialog.marked().value_or(0);
    const auto step = answering.decide({.now = now, .dialog = &dialog, .asked = true}).step;
    if (step == DialogAnswer::Step::LetterAndEnter) return answering.letter() + "⏎";
    if (step == DialogAnswer::Step::Enter) return keys + "⏎";
    if (step != DialogAnswer::Step::Down && step != DialogAnswer::Step::Up) return keys + "?";
    keys += step == DialogAnswer::Step::Down ? "↓" : "↑";
    dialog.choices[marked].marked = false;
    dialog.choices[step == DialogAnswer::Step::Down ? marked + 1 : marked - 1].marked = true;
  }
}

/// One request of a recording, and what would be pressed for it.
struct Seen {
  std::string asked, allow, deny, end;
};

/// Watches a recording as a host does. The key that was pressed while it was recorded counts as ours, so that its
/// dialog ends by it.
std::vector<Seen> requests_in(const profiles::CompiledProfile& eyes, const Recording& recording) {
  const auto press = eyes.profile().dialogs.keys;
  terminal::Screen screen{recording.size};
  profiles::ScreenWatcher watcher{eyes};
  PromptTracker asked{"h", press};
  std::map<std::string, Seen> seen;
  std::vector<std::string> order;
  const auto asking = [&] {
    return watcher.estimate().state == State::Blocked ? watcher.analysis().findings : profiles::ScreenFindings{};
  };
  const auto take = [&](const PromptTracker::Events& told, SteadyTime now) {
    for (const auto& event : told) {
      if (const auto* request = std::get_if<events::PermissionRequested>(&event)) {
        order.push_back(request->request_id);
        auto& each = seen[request->request_id];
        each.asked = request->tool + ": " + request->description;
        if (!request->can_answer.value_or(true)) continue;
        each.allow = keys_for(*dialog_in(asking()), PromptAnswer::Decision::Allow, press, now);
        each.deny = keys_for(*dialog_in(asking()), PromptAnswer::Decision::Deny, press, now);
      } else if (const auto* resolved = std::get_if<events::PermissionResolved>(&event)) {
        seen[resolved->request_id].end = resolved->resolved_by;
      }
    }
  };
  const auto look = [&](double seconds) {
    (void)watcher.update(screen, at(seconds).steady);
    take(asked.update(watcher.estimate().state, watcher.analysis().findings, at(seconds)), at(seconds).steady);
    // Whatever is on the screen now, a request that is over is not answered by it.
    PromptTracker::Events anew;
    for (const auto& [request, each] : seen) {
      if (each.end.empty()) continue;
      EXPECT_FALSE(asked.check_keys(request, asking(), anew)) << recording.name;
    }
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
  double last = 0;
  for (const auto& event : recording.events) {
    wait_until(event.seconds);
    last = event.seconds;
    if (event.kind == 'r') screen.resize(terminal::testing::size_of(event.data));
    if (event.kind == 'o') screen.feed(event.data);
    if (event.kind == 'i' && !order.empty()) {
      PromptTracker::Events anew;
      if (asked.check_keys(order.back(), asking(), anew)) asked.press(order.back(), {.by = "ours"});
    }
    look(event.seconds);
  }
  wait_until(last + 10);
  std::vector<Seen> all;
  for (const auto& request : order) all.push_back(seen[request]);
  return all;
}

struct Kind {
  const char* agent;
  const char* how;
  const char* which;
  const char* allow;
  std::vector<const char*> deny;  // one of
  std::vector<const char*> says;  // one of, in its description
};

const std::vector<const char*> kClaude{"\ncurl -s http://127.0.0.1:9/deploy; echo deploy-finished\n",
                                       "Create file\nnotes.md\n1 # Notes\n2\n3 @relay"};
const std::vector<const char*> kGemini{"? Shell  curl -s http://127.0.0.1:9/deploy; echo deploy-finished\n",
                                       "Writing to notes.md\n1 # Notes"};

class PromptRecordings : public ::testing::TestWithParam<Kind> {};

TEST_P(PromptRecordings, EachDialogIsHeldAndCanBeAnsweredByItsKeys) {
  const auto& kind = GetParam();
  const auto eyes = profiles::CompiledProfile::open(*profiles::find_profile(kind.agent));
  std::size_t count = 0;
  for (const auto& path : terminal::testing::recordings_below(std::filesystem::path{RELAY_AGENTS} / kind.agent /
                                                              "recordings" / kind.how)) {
    if (path.filename().string().find(kind.which) == std::string::npos) continue;
    const auto recording = terminal::testing::read_recording(path);
    ASSERT_TRUE(recording) << path;
    const auto requests = requests_in(*eyes, *recording);
    EXPECT_FALSE(requests.empty()) << path;
    for (const auto& request : requests) {
      ++count;
      EXPECT_TRUE(std::ranges::any_of(kind.says, [&](const char* text) { return request.asked.contains(text); }))
          << path << " " << request.asked;
      EXPECT_EQ(request.allow, kind.allow) << path << " " << request.asked;
      EXPECT_TRUE(std::ranges::find(kind.deny, request.deny) != kind.deny.end()) << path << " " << request.deny;
      EXPECT_EQ(request.end, *kind.allow != '\0' ? "ours" : "human") << path << " " << request.asked;
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
                      // What cannot be seen whole is left to the person.
                      Kind{"codex", "default", "perm_write", "", {""}, {"Destination: "}},
                      Kind{"claude", "screen-reader", "perm_", "", {""}, {"\n> curl -s"}},
                      Kind{"gemini", "screen-reader", "perm_", "", {""}, {"? Shell   curl"}},
                      Kind{"opencode", "default", "perm_", "", {""}, {"→ Edit notes.md"}}),
    [](const auto& each) {
      std::string name = std::string{each.param.agent} + each.param.how + each.param.which;
      std::ranges::replace_if(name, [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });

}  // namespace
}  // namespace relay::host
