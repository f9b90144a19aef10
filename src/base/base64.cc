#include "base/base64.h"

#include <cstdint>

namespace relay {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    const std::uint32_t group = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (unsigned i = 0; i < 4; ++i)
      text.push_back(at + i > bytes.size() ? '=' : kDigits[group >> (18U - 6U * i) & 63U]);
  }
  return text;
}

}  // namespace relay
