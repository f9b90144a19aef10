#include "net/websocket_reader.h"

#include <algorithm>
#include <cstring>

#include "base/base64.h"
#include "base/format.h"
#include "base/hash.h"
#include "text/utf8.h"

namespace relay::net {
namespace {

constexpr std::size_t kMaskBytes = 4;

Failure protocol_error(std::string message) { return fail(WebSocketErrc::Protocol, std::move(message)); }

bool is_control(Opcode opcode) { return static_cast<unsigned>(opcode) >= 8; }

bool is_known(unsigned opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

void unmask(std::string& payload, std::string_view mask) {
  std::uint64_t twice = 0;
  std::memcpy(&twice, mask.data(), kMaskBytes);
  std::memcpy(reinterpret_cast<char*>(&twice) + kMaskBytes, mask.data(), kMaskBytes);
  std::size_t at = 0;
  for (; at + sizeof twice <= payload.size(); at += sizeof twice) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, payload.data() + at, sizeof eight);
    eight ^= twice;
    std::memcpy(payload.data() + at, &eight, sizeof eight);
  }
  for (; at < payload.size(); ++at) payload[at] = static_cast<char>(payload[at] ^ mask[at % kMaskBytes]);
}

Result<std::optional<WebSocketMessage>> control_message(Opcode opcode, std::string payload) {
  if (opcode != Opcode::Close) return WebSocketMessage{opcode, std::move(payload), 0};
  if (payload.empty()) return WebSocketMessage{opcode, {}, WebSocketReader::kNoCloseCode};
  if (payload.size() == 1)
    return protocol_error("the payload of a close frame must be empty or start with a two-byte code");
  const auto code = static_cast<std::uint16_t>(big_endian(std::string_view{payload}.substr(0, 2)));
  if (!is_close_code(code)) return protocol_error(format("{} is not a valid close code", code));
  payload.erase(0, 2);
  if (!text::is_utf8(payload)) return fail(WebSocketErrc::BadUtf8, "the reason for closing is not UTF-8");
  return WebSocketMessage{opcode, std::move(payload), code};
}

}  // namespace

std::string_view describe(WebSocketErrc code) {
  switch (code) {
    case WebSocketErrc::Protocol: return "not WebSocket";
    case WebSocketErrc::NotText: return "not text";
    case WebSocketErrc::BadUtf8: return "not UTF-8";
    case WebSocketErrc::Policy: return "too many small frames";
    case WebSocketErrc::TooLarge: return "too large a message";
  }
  return "a bad frame";
}

Result<std::optional<WebSocketMessage>> WebSocketReader::next() {
  while (true) {
    const auto head = RELAY_TRY(read_head());
    if (!head || buffer_.size() - used_ < head->bytes + head->payload) {
      buffer_.erase(0, used_);
      used_ = 0;
      return std::nullopt;
    }
    auto payload = buffer_.substr(used_ + head->bytes, head->payload);
    unmask(payload, std::string_view{buffer_}.substr(used_ + head->bytes - kMaskBytes, kMaskBytes));
    used_ += head->bytes + head->payload;
    if (is_control(head->opcode)) return control_message(head->opcode, std::move(payload));
    if (auto message = RELAY_TRY(take_data(*head, std::move(payload)))) return message;
  }
}

Result<std::optional<WebSocketReader::Head>> WebSocketReader::read_head() const {
  const auto bytes = std::string_view{buffer_}.substr(used_);
  if (bytes.size() < 2) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto second = static_cast<unsigned char>(bytes[1]);
  if ((first & 0x70U) != 0) return protocol_error("a frame uses an extension that was not negotiated");
  if (!is_known(first & 0x0FU)) return protocol_error("a frame has an unknown opcode");
  if ((second & 0x80U) == 0) return protocol_error("a client must mask its frames");
  const auto opcode = static_cast<Opcode>(first & 0x0FU);
  const bool last = (first & 0x80U) != 0;
  const std::size_t length_bytes = (second & 0x7FU) == 127 ? 8 : (second & 0x7FU) == 126 ? 2 : 0;
  if (is_control(opcode) && (!last || length_bytes > 0))
    return protocol_error(
        format("a control frame must not be fragmented and may have at most {} bytes", kMaxControlBytes));
  const auto head_bytes = 2 + length_bytes + kMaskBytes;
  if (bytes.size() < head_bytes) return std::nullopt;
  const auto length = length_bytes == 0 ? second & 0x7FU : big_endian(bytes.substr(2, length_bytes));
  if ((length_bytes == 2 && length < 126) || (length_bytes == 8 && length <= 0xFFFF))
    return protocol_error("the length of a frame is not minimally encoded");
  if (!is_control(opcode) && length > max_message_bytes_ - message_.size())
    return fail(WebSocketErrc::TooLarge, format("a message is larger than {} bytes", max_message_bytes_));
  return Head{opcode, last, head_bytes, static_cast<std::size_t>(length)};
}

Result<std::optional<WebSocketMessage>> WebSocketReader::take_data(const Head& head, std::string payload) {
  const bool starts = head.opcode != Opcode::Continuation;
  if (head.opcode == Opcode::Binary) return fail(WebSocketErrc::NotText, "only text messages are supported");
  if (starts != (fragments_ == 0))
    return protocol_error(starts ? "a message starts before the previous one ended"
                                 : "a fragment belongs to no message");
  if (++fragments_ > kMaxFragments)
    return fail(WebSocketErrc::Policy, format("a message has more than {} fragments", kMaxFragments));
  if (fragments_ == 1)
    message_ = std::move(payload);
  else
    message_ += payload;
  if (!head.last) return std::nullopt;
  fragments_ = 0;
  if (!text::is_utf8(message_)) return fail(WebSocketErrc::BadUtf8, "a text message is not UTF-8");
  return WebSocketMessage{Opcode::Text, std::exchange(message_, {}), 0};
}

bool is_close_code(std::uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

FrameHead frame_head(Opcode opcode, std::size_t payload_bytes) {
  FrameHead head{};
  head.bytes[head.size++] = static_cast<char>(0x80U | static_cast<unsigned>(opcode));
  const std::size_t length_bytes = payload_bytes < 126 ? 0 : payload_bytes <= 0xFFFF ? 2 : 8;
  head.bytes[head.size++] = static_cast<char>(length_bytes == 0 ? payload_bytes : length_bytes == 2 ? 126 : 127);
  for (std::size_t i = length_bytes; i > 0; --i)
    head.bytes[head.size++] = static_cast<char>(payload_bytes >> (8U * (i - 1)) & 0xFFU);
  return head;
}

std::string close_frame(std::uint16_t code, std::string_view reason) {
  auto size = std::min(reason.size(), WebSocketReader::kMaxControlBytes - 2);
  while (size < reason.size() && size > 0 && (static_cast<unsigned char>(reason[size]) & 0xC0U) == 0x80) --size;
  std::string frame{frame_head(Opcode::Close, size + 2).view()};
  frame.push_back(static_cast<char>(code >> 8U));
  frame.push_back(static_cast<char>(code & 0xFFU));
  return frame.append(reason.substr(0, size));
}

std::string accept_key(std::string_view client_key) {
  constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // section 1.3
  const auto digest = sha1(std::string{client_key}.append(kGuid));
  return base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace relay::net
