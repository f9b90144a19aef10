/// Which version an agent CLI has, and whether its profile was tested with it.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace relay::cli {

/// What `PATH --version` prints, of all of them at once: run without a shell, with nothing to read, and ended when the time
/// is over. Empty where a program could not be run, printed nothing or took too long.
std::vector<std::string> ask_versions(const std::vector<std::string>& paths, Millis limit);

/// The first number with a dot: `2.1.325` of "2.1.325 (Claude Code)", `0.166.0` of "codex-cli 0.166.0". Empty: there is none.
std::string version_in(std::string_view printed);

/// By numbers, part by part.
std::strong_ordering compare_versions(std::string_view one, std::string_view other);

/// How a version stands to those a profile was tested with: empty when it is one of them or the profile names none, else
/// `newer than 2.1.325, with which its profile was tested`.
std::string version_remark(std::string_view version, const std::vector<std::string>& tested);

}  // namespace relay::cli
