/// Checks that a reader gives the same result however its bytes are split.
#pragma once

#include <cstddef>
#include <string_view>

#include "check.h"

namespace relay::fuzz {

/// `read(bytes, part)` reads the bytes in parts of that size. Compares one part, single bytes, and parts of a size up to
/// `max_part` that the first byte selects.
template <class Read>
void check_splits(std::string_view bytes, std::size_t max_part, Read read) {
  const auto whole = read(bytes, bytes.size());
  FUZZ_CHECK(whole == read(bytes, 1));
  FUZZ_CHECK(whole == read(bytes, 1 + (bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front()) % max_part)));
}

}  // namespace relay::fuzz
