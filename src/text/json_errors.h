/// The errors of JSON text. The message of an error names the position.
#pragma once

#include <cstddef>
#include <string_view>

namespace relay::text {

inline constexpr std::size_t kMaxJsonDepth = 64;

enum class JsonErrc { BadUtf8, BadJson, NotAnObject, NotAnArray, TooDeep };
std::string_view describe(JsonErrc code);

}  // namespace relay::text
