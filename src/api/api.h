/// What handlers may use, and the way of a request from its bytes to its handler.
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

/// Who is behind the API when nobody says otherwise.
inline constexpr std::string_view kUserName = "human";
inline constexpr std::string_view kApiName = "api";  // who releases an agent over HTTP

struct ApiFacts {
  std::string version = {};
  /// Where a request comes from; none: the caller is gone. Asked only for requests that change something.
  std::function<std::optional<protocol::PeerOrigin>(const net::HttpPeer&)> origin_of = [](const net::HttpPeer&) {
    return std::optional{protocol::user_origin()};
  };
  /// Shown to the daemon with what a process inside an agent sends as that agent.
  std::function<std::string()> system_token = [] { return std::string{}; };
  std::function<events::CostModels()> prices = [] { return events::CostModels{}; };  // asked for each report
};

class Api {
 public:
  /// All outlive it.
  Api(WorkspaceDirectory& open, HostGateway& hosts, const Clock& time, Random& chance, ApiFacts known)
      : workspaces{open}, gateway{hosts}, clock{time}, random{chance}, facts{std::move(known)} {}

  WorkspaceDirectory& workspaces;
  HostGateway& gateway;
  const Clock& clock;
  Random& random;
  const ApiFacts facts;
  Counters counters = {};
};

/// From where, which route, whose, what: in this order, and the first that is wrong is answered. Every answer passes `send`.
void dispatch(Api& api, const AccessPolicy& policy, net::ServerRequest request, Call::Send send, Call::Yield yield);

}  // namespace relay::api
