/// What the daemon's answers hold, ready for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace relay::cli {

/// A text in one line, sanitised; empty when it is absent.
std::string display_field(const json::object& object, std::string_view name);
/// A moment, or 0.
WallMs time_in(const json::object& object, std::string_view name);
/// The objects of an array; what is none is passed over. They live as long as `object`.
std::vector<const json::object*> objects_in(const json::object& object, std::string_view name);

/// The state of an agent as this program calls it everywhere: the wire's `active` is `working`.
constexpr std::string_view state_word(std::string_view state) { return state == "active" ? "working" : state; }

}  // namespace relay::cli
