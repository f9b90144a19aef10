/// The writing systems of a name.
#pragma once

#include <string_view>

namespace relay::text {

/// The level "highly restrictive" of UTS 39: one script, or Latin together with the scripts of Chinese, Japanese or
/// Korean. Digits, punctuation and emoji belong to every script.
bool is_highly_restrictive(std::string_view text);

/// In NFKC form: no character is a compatibility variant of another (full width, bold, circled), and accents are
///   composed.
bool is_compatibility_composed(std::string_view text);

}  // namespace relay::text
