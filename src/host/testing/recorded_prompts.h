/// A recording of an agent's terminal, played into a screen, its watcher and a prompt tracker, as a host does.
#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "host/prompts/dialog_answer.h"
#include "host/prompts/prompt_tracker.h"
#include "profiles/screen_watcher.h"
#include "terminal/testing/recording.h"

namespace relay::host::testing {

inline Timestamp recorded_time(double seconds) {
  const auto time = std::chrono::nanoseconds{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
  return {SteadyTime{time}, std::chrono::duration_cast<Millis>(time).count()};
}

struct RecordedPrompts {
  using OnUpdate = std::function<void(const PromptTracker::Events& events, SteadyTime now)>;

  terminal::Screen screen;
  profiles::ScreenWatcher watcher;
  PromptTracker tracker;
  OnUpdate on_update;

  RecordedPrompts(const profiles::CompiledProfile& profile, terminal::Size size, OnUpdate observer)
      : screen{size}, watcher{profile}, tracker{"h", profile.profile().dialogs.keys}, on_update{std::move(observer)} {}

  void update(double seconds) {
    const auto now = recorded_time(seconds);
    (void)watcher.update(screen, now.steady);
    on_update(tracker.update(watcher.estimate().state, watcher.analysis().findings, now), now.steady);
  }
  /// Makes the updates that are due until then.
  void advance_to(double seconds) {
    for (;;) {
      auto due = watcher.next_update_at();
      if (const auto other = tracker.due(); other && (!due || *other < *due)) due = other;
      const double when = due ? std::chrono::duration<double>(due->time_since_epoch()).count() : seconds;
      if (when >= seconds) return;
      update(when + 1e-6);
    }
  }
};

/// The keys that give an answer while the dialog stays on the screen and only its mark moves; `none` without a choice.
inline std::string keys_for(Dialog dialog, const adapters::PromptAnswer& reply, profiles::DialogKeys press) {
  using Step = DialogAnswer::Step;
  const auto wanted = choice_for(dialog, reply);
  if (!wanted) return "none";
  DialogAnswer answer{dialog, *wanted, press, Millis{0}, SteadyTime{}};
  std::string keys;
  for (;;) {
    const auto marked = dialog.marked().value_or(0);
    const auto step = answer.decide({.dialog = &dialog}).step;
    if (step == Step::Shortcut) return answer.shortcut_key();
    if (step == Step::LetterAndEnter) return answer.letter() + "⏎";
    if (step == Step::Enter) return keys + "⏎";
    if (step != Step::Down && step != Step::Up) return keys + "?";
    const auto next = step == Step::Down ? marked + 1 : marked - 1;
    keys += step == Step::Down ? "↓" : "↑";
    dialog.choices[marked].marked = false;
    dialog.choices[next].marked = true;
  }
}

}  // namespace relay::host::testing
