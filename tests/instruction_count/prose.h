/// Text like an agent's, the same for the same number: words, signs, now and then an escaped quote or line end.
#pragma once

#include <cstdint>
#include <string>

namespace relay::cost {

/// As the inside of a JSON string, exactly so many bytes long.
std::string prose(std::size_t bytes, std::uint64_t seed);

}  // namespace relay::cost
