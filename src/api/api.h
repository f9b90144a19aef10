/// The objects that handlers use, and the dispatch of a request to its handler.
///
/// Threading: the API's loop thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/client/host_gateway.h"
#include "api/client/workspace_directory.h"
#include "api/http/call.h"
#include "api/http/counters.h"
#include "api/http/security.h"
#include "base/clock.h"
#include "base/random.h"
#include "events/cost_models.h"
#include "protocol/peer_origin.h"

namespace relay::api {

/// The sender of a request that names none.
inline constexpr std::string_view kUserName = "human";
inline constexpr std::string_view kApiName = "api";  // recorded as the stopper of an agent

struct ApiFacts {
  std::string version = {};
  /// Determines the process behind a request; empty when the caller has exited. Called only for methods that change
  /// state.
  std::function<std::optional<protocol::PeerOrigin>(const net::HttpPeer&)> origin_of = [](const net::HttpPeer&) {
    return std::optional{protocol::user_origin()};
  };
  /// Proves to the daemon that a process inside an agent may send as that agent.
  std::function<std::string()> system_token = [] { return std::string{}; };
  std::function<events::CostModels()> prices = [] { return events::CostModels{}; };  // called for each report
};

class Api {
 public:
  /// The arguments outlive it.
  Api(WorkspaceDirectory& open, HostGateway& hosts, const Clock& time, Random& chance, ApiFacts caller_facts)
      : workspaces{open}, gateway{hosts}, clock{time}, random{chance}, facts{std::move(caller_facts)} {}

  WorkspaceDirectory& workspaces;
  HostGateway& gateway;
  const Clock& clock;
  Random& random;
  const ApiFacts facts;
  Counters counters = {};
};

/// Checks the origin, finds the route, authorizes the caller and runs the handler. The first failed check is the
/// response. Every response passes through `send`.
void dispatch(Api& api, const AccessPolicy& policy, net::ServerRequest request, Call::Send send, Call::Yield yield);

}  // namespace relay::api
