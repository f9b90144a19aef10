/// A socket with length-prefixed frames of the relay protocol.
#pragma once

#include <string>
#include <string_view>

#include "subjects/byte_socket.h"

namespace relay::bench {

std::string frame_of(std::string_view body);

class Peer : public ByteSocket {
 public:
  explicit Peer(ByteSocket socket) : ByteSocket{std::move(socket)} {}
  static Result<Peer> connect(const std::string& path);

  /// Waits for the next frame and returns its body.
  Result<std::string> read_frame();
  /// A frame that is already in the buffer. Valid until the next read.
  bool take(std::string_view& body);
};

/// The string value of the first member of that name. Sufficient for frames of this daemon. `key` is `"name":`.
std::string_view member(std::string_view frame, std::string_view key);

}  // namespace relay::bench
