#include "protocol/errors.h"

#include <utility>

namespace relay::protocol {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::FrameTooLarge: return "the frame is larger than the limit";
    case Errc::BadFrame: return "the bytes are not a frame";
    case Errc::MessagePack: return "MessagePack frames are not supported";
    case Errc::BadField: return "a field has a value that is not allowed";
    case Errc::MissingField: return "a required field is missing";
    case Errc::UnknownType: return "unknown message type";
  }
  std::unreachable();
}

}  // namespace relay::protocol
