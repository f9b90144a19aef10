#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace relay {
namespace {

/// What the first byte of a character promises: how many follow, and between which bounds the second lies.
struct Promise {
  std::size_t following;
  unsigned char least = 0x80;
  unsigned char most = 0xbf;
};

constexpr std::size_t kNoCharacter = 9;

constexpr Promise promise_of(unsigned char first) {
  if (first < 0x80) return {0};
  if (first < 0xc2) return {kNoCharacter};
  if (first < 0xe0) return {1};
  if (first == 0xe0) return {2, 0xa0, 0xbf};
  if (first == 0xed) return {2, 0x80, 0x9f};
  if (first < 0xf0) return {2};
  if (first == 0xf0) return {3, 0x90, 0xbf};
  if (first < 0xf4) return {3};
  if (first == 0xf4) return {3, 0x80, 0x8f};
  return {kNoCharacter};
}

bool eight_are_ascii(const char* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return (eight & 0x8080808080808080U) == 0;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes.size() - at >= 8 && eight_are_ascii(bytes.data() + at)) {
      at += 8;
      continue;
    }
    const auto promise = promise_of(static_cast<unsigned char>(bytes[at]));
    if (promise.following >= bytes.size() - at) return false;
    for (std::size_t i = 1; i <= promise.following; ++i) {
      const auto byte = static_cast<unsigned char>(bytes[at + i]);
      if (byte < (i == 1 ? promise.least : 0x80) || byte > (i == 1 ? promise.most : 0xbf)) return false;
    }
    at += promise.following + 1;
  }
  return true;
}

}  // namespace relay
