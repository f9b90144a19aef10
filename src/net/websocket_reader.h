/// A parser of client WebSocket frames (RFC 6455): bytes in, split anywhere; whole messages and control frames out.
/// Pure.
///
/// Invariants: fragments are joined, and control frames between them come out first, as the RFC requires. A message is
///   at most as large as the limit; text is UTF-8. After an error, whose code is the close code, the reader must not be
///   used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::net {

/// Close codes of RFC 6455, section 7.4.1.
enum class WebSocketErrc { Protocol = 1002, NotText = 1003, BadUtf8 = 1007, Policy = 1008, TooLarge = 1009 };
std::string_view describe(WebSocketErrc code);

enum class Opcode : std::uint8_t { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 };

struct WebSocketMessage {
  Opcode kind = Opcode::Text;    // Text, Close, Ping or Pong
  std::string payload = {};      // of Close: the reason
  std::uint16_t close_code = 0;  // of Close: 1005 when the frame has none
};

class WebSocketReader {
 public:
  static constexpr std::size_t kMaxFragments = 1'024;
  static constexpr std::size_t kMaxControlBytes = 125;
  static constexpr std::uint16_t kNoCloseCode = 1005;

  explicit WebSocketReader(std::size_t max_message_bytes) : max_message_bytes_{max_message_bytes} {}

  void add(std::string_view bytes) { buffer_.append(bytes); }
  Result<std::optional<WebSocketMessage>> next();

 private:
  struct Head {
    Opcode opcode;
    bool last;
    std::size_t bytes;    // of the head
    std::size_t payload;  // bytes behind it
  };

  Result<std::optional<Head>> read_head() const;
  Result<std::optional<WebSocketMessage>> take_data(const Head& head, std::string payload);

  std::size_t max_message_bytes_;
  std::string buffer_;
  std::size_t used_ = 0;       // bytes of the buffer
  std::string message_;        // the fragments so far
  std::size_t fragments_ = 0;  // of the current message; 0: none
};

/// True when a close frame may carry this code.
bool is_close_code(std::uint16_t code);

/// Head of an unmasked frame, as servers send it, and its size.
struct FrameHead {
  std::array<char, 10> bytes;
  std::size_t size;
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};
FrameHead frame_head(Opcode opcode, std::size_t payload_bytes);

/// A whole close frame; the reason is cut to the limit, between characters.
std::string close_frame(std::uint16_t code, std::string_view reason);

/// The Sec-WebSocket-Accept value for a client's Sec-WebSocket-Key.
std::string accept_key(std::string_view client_key);

}  // namespace relay::net
