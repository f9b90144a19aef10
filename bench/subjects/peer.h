/// A socket that speaks our length-prefixed frames.
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

  /// The next frame's body; waits for it.
  Result<std::string> read_frame();
  /// A complete frame that was read already. Valid until the next read.
  bool take(std::string_view& body);
};

/// The text of the first member of that name; enough for frames that we and the daemon wrote. `key` is `"name":`.
std::string_view member(std::string_view frame, std::string_view key);

}  // namespace relay::bench
