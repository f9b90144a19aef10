#include "protocol/peer_origin.h"

#include "base/format.h"

namespace relay::protocol {

std::string user_only_reason(std::string_view action, const PeerOrigin& origin) {
  switch (origin.kind) {
    case OriginKind::User: return {};
    case OriginKind::Agent:
      return format(
          "only the user may {}, and this request comes from a process inside {}; ask the user to do it in a shell of "
          "their own",
          action, origin.agent.empty() ? "an agent" : format("the agent {}", origin.agent));
    case OriginKind::Unknown:
      return format(
          "only the user may {}, and the requesting process could not be identified; run it in a shell on this machine",
          action);
  }
  return {};
}

}  // namespace relay::protocol
