/// Fields of the daemon's responses, ready for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace relay::cli {

/// A string on one line, sanitized; empty when absent.
std::string display_field(const json::object& object, std::string_view name);
/// A time, or 0.
WallMs time_in(const json::object& object, std::string_view name);
/// The objects in an array, which point into `object`; other values are skipped.
std::vector<const json::object*> objects_in(const json::object& object, std::string_view name);

/// The state of an agent as the command line names it: the wire's `active` is `working`.
constexpr std::string_view state_word(std::string_view state) { return state == "active" ? "working" : state; }

}  // namespace relay::cli
