/// The parameters of a control sequence, at most kMaxParameters; an absent number is 0.
///
/// `4:3` is one parameter with a sub-parameter: the 3 is marked as belonging to the number before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "terminal/limits.h"

namespace relay::terminal {

class Parameters {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t operator[](std::size_t index) const { return index < size_ ? values_[index] : 0; }
  [[nodiscard]] bool is_part(std::size_t index) const { return index < size_ && ((parts_ >> index) & 1u) != 0; }

  /// The number, or `fallback` if it is absent or 0.
  [[nodiscard]] int or_default(std::size_t index, int fallback) const {
    const auto value = (*this)[index];
    return value == 0 ? fallback : static_cast<int>(value);
  }

  void clear() {
    size_ = 0;
    parts_ = 0;
    full_ = false;
  }
  void digit(std::uint32_t value) {
    if (size_ == 0) begin();
    if (full_) return;
    auto& number = values_[size_ - 1];
    number = number * 10 + value;
    if (number > kMaxParameterValue) number = kMaxParameterValue;
  }
  void separator() {
    if (size_ == 0) begin();
    begin();
  }
  void part_separator() {
    separator();
    if (!full_) parts_ |= 1u << (size_ - 1);
  }

 private:
  void begin() {
    full_ = full_ || size_ == kMaxParameters;
    if (!full_) values_[size_++] = 0;
  }

  std::array<std::uint32_t, kMaxParameters> values_{};
  std::size_t size_ = 0;
  std::uint32_t parts_ = 0;  // bit i: parameter i belongs to the one before it
  bool full_ = false;        // a parameter was dropped; its digits must not change the last one
};
static_assert(kMaxParameters <= 32);

/// A control sequence or the head of a device control string: `CSI prefix parameters intermediate final`.
struct Sequence {
  Parameters parameters;
  char prefix = 0;        // one of < = > ?, or 0
  char intermediate = 0;  // 0x20 to 0x2f, or 0; 0x7f for more than one, which no known sequence has
  char final = 0;
};

}  // namespace relay::terminal
