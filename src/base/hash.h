/// SHA-256, for project ids, tokens at rest and duplicate windows, and a fast checksum. Only the .cc names the
/// libraries.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay {

std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Lower-case hex of the whole digest.
std::string sha256_hex(std::string_view bytes);

/// Only where a protocol prescribes it (the WebSocket handshake); SHA-1 is not secure.
std::array<std::uint8_t, 20> sha1(std::string_view bytes);

/// Detects damage, not tampering. Processes tens of bytes per nanosecond; the result is the same on every machine.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

/// Compares length and bytes in time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace relay
