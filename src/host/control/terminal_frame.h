/// Frames of terminal bytes on the host socket, beside frames of JSON.
#pragma once

#include <optional>
#include <string_view>

namespace relay::host {

inline constexpr char kTerminalFrameByte = '\x01';

/// The terminal bytes of a frame; empty when it holds JSON.
inline std::optional<std::string_view> terminal_bytes(std::string_view frame) {
  if (!frame.starts_with(kTerminalFrameByte)) return std::nullopt;
  return frame.substr(1);
}

}  // namespace relay::host
