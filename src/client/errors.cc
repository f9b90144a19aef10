#include "client/errors.h"

namespace relay::client {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::NoDaemon: return "no daemon";
    case Errc::Refused: return "refused by the daemon";
    case Errc::Full: return "outbox full";
    case Errc::TooLarge: return "message too large";
    case Errc::BadMessage: return "bad message";
    case Errc::NotReady: return "link not ready";
    case Errc::TimedOut: return "timed out";
    case Errc::Lost: return "link lost";
  }
  return "unknown";
}

}  // namespace relay::client
