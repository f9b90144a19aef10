/// Message bodies of three sizes, without characters that a protocol must escape.
#pragma once

#include <string>

namespace relay::bench {

struct BodySize {
  std::string_view title;
  std::size_t bytes;
};

inline constexpr BodySize kBodySizes[] = {{"100 B", 100}, {"1 KB", 1024}, {"64 KB", 64 * 1024}};
inline constexpr BodySize kDefaultBody = kBodySizes[1];

inline std::string body_of(const BodySize& size) { return std::string(size.bytes, 'x'); }

}  // namespace relay::bench
