/// Bytes as printable ASCII, safe in every header and line.
#pragma once

#include <string>
#include <string_view>

namespace relay {

/// The standard alphabet, padded with '='.
std::string base64(std::string_view bytes);

}  // namespace relay
