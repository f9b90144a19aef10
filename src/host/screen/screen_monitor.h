/// The agent's screen: fed in pieces, analyzed at intervals; its state and since when it holds.
///
/// Invariants: no row scrolls away unread, however much output arrives at once.
/// Threading: loop thread only; the clock is an argument.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "profiles/profile.h"
#include "profiles/screen_watcher.h"
#include "pty/program.h"
#include "terminal/screen.h"

namespace relay::host {

class ScreenMonitor {
 public:
  explicit ScreenMonitor(pty::WindowSize size) : screen_{cells(size)} {}

  /// Once, before the first `feed`.
  Result<void> open(const profiles::Profile& profile, pty::WindowSize size, SteadyTime now);

  /// `update_now` is called before unread rows leave the scrollback.
  void feed(std::string_view bytes, const std::function<void()>& update_now);
  /// False when the size does not change.
  bool resize(pty::WindowSize size);
  std::vector<profiles::Observation> update(SteadyTime now);
  /// The earliest next update during a flood of output.
  [[nodiscard]] SteadyTime due() const { return updated_at_ + profiles::kMinUpdateInterval; }

  [[nodiscard]] profiles::State state() const { return state_; }
  [[nodiscard]] SteadyTime since() const { return since_; }
  /// Paused output continues: the state counts from now.
  void restart_timer(SteadyTime now) { since_ = now; }

  [[nodiscard]] terminal::Screen& screen() { return screen_; }
  [[nodiscard]] const terminal::Screen& screen() const { return screen_; }
  [[nodiscard]] profiles::ScreenWatcher& watcher() const { return *watcher_; }

 private:
  static terminal::Size cells(pty::WindowSize size) { return {size.columns, size.rows}; }

  terminal::Screen screen_;
  std::unique_ptr<profiles::CompiledProfile> profile_;
  std::unique_ptr<profiles::ScreenWatcher> watcher_;
  profiles::State state_ = profiles::State::Unknown;
  SteadyTime since_{};
  SteadyTime updated_at_{};
  std::uint64_t updated_row_ = 0;  // of the scrollback
};

}  // namespace relay::host
