#include "client/link_state.h"

namespace relay::client {

std::string_view name_of(LinkState state) {
  switch (state) {
    case LinkState::Disconnected: return "DISCONNECTED";
    case LinkState::Connecting: return "CONNECTING";
    case LinkState::Handshaking: return "HANDSHAKING";
    case LinkState::Ready: return "READY";
    case LinkState::Backoff: return "BACKOFF";
  }
  return "?";
}

}  // namespace relay::client
