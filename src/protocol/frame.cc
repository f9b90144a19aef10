#include "protocol/frame.h"

#include "base/format.h"
#include "protocol/errors.h"

namespace relay::protocol {
namespace {

constexpr unsigned char kFormatJson = 0;
constexpr unsigned char kFormatMessagePack = 1;
constexpr std::size_t kLengthBytes = 4;

/// The buffer that an empty reader keeps; the rest of a large frame's buffer is freed.
constexpr std::size_t kMaxIdleBufferBytes = 16 * 1024;

static_assert(kMaxFrameBytes < (1u << 24), "byte 0 of a four-byte header must be 0");

unsigned char byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

std::size_t read_length(std::string_view four) {
  return std::size_t{byte_at(four, 0)} << 24 | std::size_t{byte_at(four, 1)} << 16 |
         std::size_t{byte_at(four, 2)} << 8 | std::size_t{byte_at(four, 3)};
}

/// The header style of the first bytes of a stream; Undecided when more are needed.
HeaderStyle detect_style(std::string_view bytes) {
  if (bytes.empty()) return HeaderStyle::Undecided;
  if (byte_at(bytes, 0) == kFormatMessagePack) return HeaderStyle::Five;
  // A format byte is 0 or 1, so anything else is the top of an enormous four-byte length.
  if (byte_at(bytes, 0) != kFormatJson) return HeaderStyle::Four;
  if (bytes.size() < 2) return HeaderStyle::Undecided;
  // Byte 1 would be the top of the length after a format byte, and no frame is that large.
  if (byte_at(bytes, 1) != 0) return HeaderStyle::Four;
  // `{{` never starts JSON, so the byte after a five-byte header decides, for any last length byte. Where
  // neither offset has a brace the stream contains no object in any case; with the default header the JSON error
  // reports that.
  if (bytes.size() < kMaxHeaderBytes + 1) return HeaderStyle::Undecided;
  return bytes[kMaxHeaderBytes] == '{' ? HeaderStyle::Five : HeaderStyle::Four;
}

}  // namespace

FrameHeader frame_header(HeaderStyle style, std::size_t body_bytes) {
  RELAY_ASSERT(body_bytes <= kMaxFrameBytes);
  FrameHeader header;
  if (style == HeaderStyle::Five) header.bytes[header.size++] = static_cast<char>(kFormatJson);
  for (const unsigned shift : {24u, 16u, 8u, 0u})
    header.bytes[header.size++] = static_cast<char>((body_bytes >> shift) & 0xFF);
  return header;
}

void append_frame(std::string& out, HeaderStyle style, std::string_view body) {
  out += frame_header(style, body.size()).view();
  out += body;
}

void FrameReader::push(std::string_view bytes) {
  if (broken_) return;
  if (read_ == buffer_.size()) {
    buffer_.clear();
    if (buffer_.capacity() > kMaxIdleBufferBytes) buffer_.shrink_to_fit();
  } else if (read_ > 0) {
    buffer_.erase(0, read_);
  }
  read_ = 0;
  buffer_ += bytes;
}

Result<std::optional<std::string_view>> FrameReader::next() {
  auto frame = extract_frame();
  if (!frame) broken_ = true;
  return frame;
}

Result<std::optional<std::string_view>> FrameReader::extract_frame() {
  const std::string_view unread = std::string_view{buffer_}.substr(read_);
  if (style_ == HeaderStyle::Undecided) style_ = detect_style(unread);
  if (style_ == HeaderStyle::Undecided) return std::nullopt;

  const std::size_t format_bytes = style_ == HeaderStyle::Five ? 1 : 0;
  if (format_bytes == 1 && !unread.empty()) {
    const unsigned char form = byte_at(unread, 0);
    if (form == kFormatMessagePack) {
      return fail(Errc::MessagePack, "this frame is MessagePack, which is not supported; send JSON frames");
    }
    if (form != kFormatJson) {
      return fail(Errc::BadFrame, format("a frame cannot start with format byte {}; 0 is JSON", form));
    }
  }
  const std::size_t header = format_bytes + kLengthBytes;
  if (unread.size() < header) return std::nullopt;
  const std::size_t length = read_length(unread.substr(format_bytes, kLengthBytes));
  if (length > max_frame_bytes_) {
    return fail(Errc::FrameTooLarge,
                format("this frame claims {} bytes, the limit is {}; send less at once", length, max_frame_bytes_));
  }
  if (length == 0) return fail(Errc::BadFrame, "this frame is empty; a frame holds one JSON object");
  if (unread.size() < header + length) return std::nullopt;
  read_ += header + length;
  return unread.substr(header, length);
}

}  // namespace relay::protocol
