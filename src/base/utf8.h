/// Whether bytes are text.
#pragma once

#include <string_view>

namespace relay {

/// UTF-8 without overlong forms, surrogates or anything beyond U+10FFFF. Away from the hot path, where frames have a
/// vectorized check of their own.
bool is_utf8(std::string_view bytes);

}  // namespace relay
