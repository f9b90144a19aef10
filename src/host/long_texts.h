/// Messages too long to be typed, as files the agent can read.
///
/// They lie in the project itself (`.agent-relay/agents/<name>/messages/`), because an agent may read there without
/// asking anybody. The newest kMaxLongTexts are kept.
/// Threading: one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::host {

inline constexpr std::size_t kMaxLongTexts = 200;

class LongTexts {
 public:
  /// `directory` is made, for the owner alone, when the first text comes; `shown` is how the agent reaches it.
  LongTexts(std::string directory, std::string shown) : directory_{std::move(directory)}, shown_{std::move(shown)} {}

  /// The path to tell the agent. The same id again is the same file.
  Result<std::string> keep(std::string_view id, std::string_view text);

 private:
  void forget_oldest() const;

  std::string directory_;
  std::string shown_;
};

}  // namespace relay::host
