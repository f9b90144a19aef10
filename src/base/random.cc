#include "base/random.h"

#include <sys/random.h>

#include <utility>

#include "base/result.h"

namespace relay {

std::string Random::hex(std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes * 2);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) word = next();
    text += kDigits[(word >> 4) & 0xF];
    text += kDigits[word & 0xF];
    word >>= 8;
  }
  return text;
}

std::uint64_t SystemRandom::next() {
  if (left_ == 0) {
    RELAY_ASSERT(::getrandom(words_.data(), sizeof words_, 0) == static_cast<ssize_t>(sizeof words_));
    left_ = words_.size();
  }
  return std::exchange(words_[--left_], 0);
}

std::uint64_t SeededRandom::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace relay
