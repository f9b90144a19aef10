// Authority: which connections act for the user, and what only those may do. docs/security.md gives the reasons.
#include "base/format.h"
#include "broker/core.h"

namespace relay::broker {

using protocol::OriginKind;
using protocol::Refusal;

std::optional<Core::Objection> Core::require_user(const Connection& connection, std::string_view action) {
  const auto& origin = connection.peer.origin;
  switch (origin.kind) {
    case OriginKind::User: return std::nullopt;
    case OriginKind::Agent:
      return Objection{Refusal::Refused,
                       format("only the user may {}, and this request comes from a process inside {}; ask the user to "
                              "do it in a shell of their own",
                              action, origin.agent.empty() ? "an agent" : format("the agent {}", origin.agent))};
    case OriginKind::Unknown:
      return Objection{Refusal::Refused, format("only the user may {}, and the process that asks could not be "
                                                "identified; run it in a shell on this machine",
                                                action)};
  }
  return std::nullopt;
}

}  // namespace relay::broker
