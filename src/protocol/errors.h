/// Errors in bytes from the wire. The message of an error is sent to the peer.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::protocol {

enum class Errc {
  FrameTooLarge,
  BadFrame,
  MessagePack,
  BadField,
  MissingField,
  UnknownType,
};
std::string_view describe(Errc code);

}  // namespace relay::protocol
