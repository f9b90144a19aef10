/// Patterns for agents whose profile has none. Measured with Claude Code 2.1, Codex 0.166, Gemini CLI 0.61 and
/// OpenCode 1.18; other releases may differ, which is why patterns are data.
#pragma once

#include <span>

#include "profiles/pattern_detector.h"

namespace relay::profiles {

std::span<const Pattern> default_patterns();

}  // namespace relay::profiles
