/// The version of an agent CLI, compared with the versions its profile was tested with.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace relay::cli {

/// Runs `PATH --version` for all paths at once, without a shell and with empty stdin, and returns the outputs. An output
/// is empty when the program could not be run, printed nothing or exceeded `limit`.
std::vector<std::string> query_versions(const std::vector<std::string>& paths, Millis limit);

/// The first number with a dot: `2.1.325` of "2.1.325 (Claude Code)", `0.166.0` of "codex-cli 0.166.0". Empty when there is none.
std::string parse_version(std::string_view printed);

/// Compares part by part, as numbers.
std::strong_ordering compare_versions(std::string_view one, std::string_view other);

/// Empty when `version` is one of the `tested` ones or `tested` is empty, else
/// `newer than 2.1.325, the version its profile was tested with`.
std::string version_deviation(std::string_view version, const std::vector<std::string>& tested);

}  // namespace relay::cli
