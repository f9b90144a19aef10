#include "subjects/peer.h"

namespace relay::bench {
namespace {

constexpr std::size_t kHeaderBytes = 4;

}  // namespace

std::string frame_of(std::string_view body) {
  std::string frame;
  frame.reserve(kHeaderBytes + body.size());
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(body.size() >> shift & 0xff);
  frame += body;
  return frame;
}

Result<Peer> Peer::connect(const std::string& path) { return Peer{RELAY_TRY(ByteSocket::connect_unix(path))}; }

Result<std::string> Peer::read_frame() {
  std::string_view body;
  while (!take(body)) RELAY_TRY(wait_and_read());
  return std::string{body};
}

bool Peer::take(std::string_view& body) {
  const auto bytes = unread();
  if (bytes.size() < kHeaderBytes) return false;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (bytes.size() < kHeaderBytes + length) return false;
  body = bytes.substr(kHeaderBytes, length);
  consume(kHeaderBytes + length);
  return true;
}

std::string_view member(std::string_view frame, std::string_view key) {
  const auto at = frame.find(key);
  if (at == std::string_view::npos) return {};
  const auto value = frame.substr(at + key.size());
  if (value.starts_with('"')) return value.substr(1, value.find('"', 1) - 1);
  return value.substr(0, value.find_first_of(",}"));
}

}  // namespace relay::bench
