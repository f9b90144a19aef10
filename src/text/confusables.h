/// Names that look alike.
#pragma once

#include <string>
#include <string_view>

namespace relay::text {

/// The skeleton of UTS 39: equal for texts that look alike, as `Bob` and `Вob` with a Cyrillic letter. Only to compare.
/// ASCII without a look-alike is returned as it is.
std::string confusable_skeleton(std::string_view text);

}  // namespace relay::text
