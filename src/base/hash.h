/// SHA-256, for project ids, tokens at rest and duplicate windows, and a fast checksum. Their libraries stay in the .cc.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay {

std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Lower-case hex of the whole digest.
std::string sha256_hex(std::string_view bytes);

/// Where a protocol prescribes it (the handshake of WebSocket); it protects nothing any more.
std::array<std::uint8_t, 20> sha1(std::string_view bytes);

/// Tells damage, not malice: tens of bytes a nanosecond. The same on every machine.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

/// Same length and bytes, in time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace relay
