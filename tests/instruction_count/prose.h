/// Text like an agent's, derived from a seed: words, punctuation, some escaped quotes and line breaks.
#pragma once

#include <cstdint>
#include <string>

namespace relay::cost {

/// The inside of a JSON string of exactly `bytes` bytes.
std::string prose(std::size_t bytes, std::uint64_t seed);

}  // namespace relay::cost
