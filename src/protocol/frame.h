/// Frames: a length, then that many bytes of JSON; the stream may arrive in pieces of any size.
///
/// Two headers exist: four big-endian length bytes (every published client), or one format byte (0 = JSON,
/// 1 = MessagePack) before them. Lengths stay below 2^24, so byte 0 of a four-byte header is 0; the first frame is an
/// object, so `{` at offset 4 or at offset 5 distinguishes the two, once, at the start of a stream. A stream then uses
/// this header style for its lifetime, also for replies. MessagePack is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "protocol/limits.h"

namespace relay::protocol {

enum class HeaderStyle : std::uint8_t { Undecided, Four, Five };

/// The header of a body of that size, for writers that send both without copying the body. `Undecided` is the four-byte
/// header. The body must fit kMaxFrameBytes.
struct FrameHeader {
  std::array<char, kMaxHeaderBytes> bytes{};
  std::size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};
FrameHeader frame_header(HeaderStyle style, std::size_t body_bytes);

/// Appends header and body to `out`.
void append_frame(std::string& out, HeaderStyle style, std::string_view body);

/// Splits a byte stream into frames.
///
/// Invariants: holds at most one partial frame plus the bytes of one push; an error is final (the stream cannot be
/// re-synchronised: next() repeats the error, push() ignores its bytes). A view returned by `next()` is valid until the
/// following `push()`.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_frame_bytes = kMaxFrameBytes) : max_frame_bytes_{max_frame_bytes} {}

  void push(std::string_view bytes);

  /// A whole frame's JSON; empty when more bytes are needed; an error when the stream is not valid.
  Result<std::optional<std::string_view>> next();

  [[nodiscard]] HeaderStyle style() const { return style_; }
  [[nodiscard]] std::size_t bytes_held() const { return buffer_.size() - read_; }

 private:
  Result<std::optional<std::string_view>> extract_frame();

  std::size_t max_frame_bytes_;
  HeaderStyle style_ = HeaderStyle::Undecided;
  std::string buffer_;
  std::size_t read_ = 0;  // bytes of buffer_ already returned
  bool broken_ = false;   // after an error: later bytes are ignored
};

}  // namespace relay::protocol
