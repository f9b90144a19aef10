/// Names that look alike.
#pragma once

#include <string>
#include <string_view>

namespace relay::text {

/// The skeleton of UTS 39: equal for texts that look alike, as `Bob` and `Вob` with a Cyrillic character. Only for
/// comparison. ASCII text without confusable characters is returned unchanged.
std::string confusable_skeleton(std::string_view text);

}  // namespace relay::text
