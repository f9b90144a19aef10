/// The hooks in the settings of a run, called as Claude Code calls them: exec form, payload on stdin, response on stdout.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/unique_fd.h"

namespace relay::fake_claude {

/// A running hook. The destructor kills it, as Claude does when the user answers first.
class HookCall {
 public:
  HookCall() = default;
  HookCall(pid_t pid, UniqueFd output) : pid_{pid}, output_{std::move(output)} {}
  HookCall(HookCall&& other) noexcept : pid_{std::exchange(other.pid_, -1)}, output_{std::move(other.output_)} {}
  HookCall& operator=(HookCall&& other) noexcept;
  ~HookCall();

  [[nodiscard]] bool is_running() const { return pid_ > 0; }
  [[nodiscard]] int output() const { return output_.get(); }
  /// Waits for its exit; returns `hookSpecificOutput`, empty without output.
  json::object finish();

 private:
  pid_t pid_ = -1;
  UniqueFd output_;
};

class Hooks {
 public:
  /// Reads a settings file; without one it calls no hook.
  static Result<Hooks> read(const std::string& path);

  /// Returns at once when no hook is configured for the event.
  [[nodiscard]] HookCall call(std::string_view event, const json::object& payload) const;

 private:
  json::object settings_;
};

}  // namespace relay::fake_claude
