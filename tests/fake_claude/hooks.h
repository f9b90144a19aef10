/// The hooks of the settings a run was given, called as Claude Code calls them: exec form, payload on stdin, the answer
/// on stdout.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/unique_fd.h"

namespace relay::fake_claude {

/// One call under way. Destroying it ends the program, as Claude does when the person was faster.
class HookCall {
 public:
  HookCall() = default;
  HookCall(pid_t pid, UniqueFd output) : pid_{pid}, output_{std::move(output)} {}
  HookCall(HookCall&& other) noexcept : pid_{std::exchange(other.pid_, -1)}, output_{std::move(other.output_)} {}
  HookCall& operator=(HookCall&& other) noexcept;
  ~HookCall();

  [[nodiscard]] bool waits() const { return pid_ > 0; }
  [[nodiscard]] int output() const { return output_.get(); }
  /// Waits for its end; `hookSpecificOutput`, empty when it said nothing.
  json::object finish();

 private:
  pid_t pid_ = -1;
  UniqueFd output_;
};

class Hooks {
 public:
  /// From a settings file; without one no hook is called.
  static Result<Hooks> read(const std::string& path);

  /// Nothing waits when no hook is configured for it.
  [[nodiscard]] HookCall call(std::string_view event, const json::object& payload) const;

 private:
  json::object settings_;
};

}  // namespace relay::fake_claude
