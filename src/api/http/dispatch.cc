#include "api/api.h"
#include "api/http/route.h"
#include "base/format.h"

namespace relay::api {
namespace {

/// Adds the headers that every response has.
void add_common_headers(net::ServerResponse& response, const std::vector<net::HttpHeader>& sharing) {
  response.headers.insert(response.headers.end(), sharing.begin(), sharing.end());
  response.headers.push_back({"Cache-Control", "no-store"});
  net::add_protective_headers(response.headers);
}

ApiError no_such_path() { return not_found("no such path; GET /docs and GET /openapi.json list all paths"); }

void refuse_method(const Match& match, Call::Send& send) {
  const auto allowed = method_list(match.other_methods);
  auto response = to_response({405, "METHOD_NOT_ALLOWED", format("this path supports only {}", allowed), {}});
  response.headers.push_back({"Allow", allowed});
  send(std::move(response));
}

void run(Api& api, Call call) {
  const auto& route = call.route();
  if (route.handler != nullptr) return route.handler(api, std::move(call));
  const auto which = call.text("workspace");
  api.workspaces.find(which, [&api, call = std::move(call)](ApiResult<WorkspaceHandle> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    call.route().in_workspace(api, *workspace, std::move(call));
  });
}

}  // namespace

void dispatch(Api& api, const AccessPolicy& policy, net::ServerRequest request, Call::Send send, Call::Yield yield) {
  std::string_view operation;
  if (const auto error = check_origin(request, policy)) {
    api.counters.count({}, error->status);
    auto response = to_response(*error);
    response.last = is_untrusted(request, policy);
    add_common_headers(response, {});
    return send(std::move(response));
  }
  const auto segments = net::path_segments(request.path);
  auto match = segments ? match_route(request.method, *segments) : Match{};
  if (match.route != nullptr) operation = match.route->operation;
  auto counted_send = [&api, operation, sharing = cors_headers(request), untrusted = is_untrusted(request, policy),
                       send = std::move(send)](net::ServerResponse response) mutable {
    api.counters.count(operation, response.status);
    add_common_headers(response, sharing);
    response.last = untrusted;
    send(std::move(response));
  };
  Call::Send respond = std::move(counted_send);

  if (!segments) return respond(to_response(bad_request(segments.error().message())));
  if (request.method == "OPTIONS") {
    if (match.other_methods.empty()) return respond(to_response(no_such_path()));
    auto response = preflight_response(request, method_list(match.other_methods));
    std::erase_if(response.headers, [](const auto& header) {  // add_common_headers() adds them
      return header.name == "Access-Control-Allow-Origin" || header.name == "Vary";
    });
    return respond(std::move(response));
  }
  const auto access = match.route != nullptr ? match.route->access : Access::Authenticated;
  if (const auto error = authorize(request, policy, access)) return respond(to_response(*error));
  if (match.route == nullptr && match.other_methods.empty()) return respond(to_response(no_such_path()));
  if (match.route == nullptr) return refuse_method(match, respond);
  auto query = net::QueryParameters::parse(request.query);
  if (!query) return respond(to_response(bad_request(query.error().message())));
  std::optional<protocol::PeerOrigin> caller;
  if (is_write(request.method)) {
    caller = api.facts.origin_of(request.peer);
    const auto allowed = match.route->agents_allowed ? AgentCallers::Allowed : AgentCallers::Refused;
    if (const auto error = check_caller(caller, allowed)) return respond(to_response(*error));
  }
  Call::Yield counted_yield;
  if (yield)
    counted_yield = [&api, route = match.route, yield = std::move(yield)]() mutable {
      api.counters.count(route->operation, route->status);
      return yield();
    };
  Call call{*match.route,       std::move(request),      *std::move(query), std::move(match.values),
            std::move(respond), std::move(counted_yield)};
  if (caller) call.set_caller(*std::move(caller));
  run(api, std::move(call));
}

}  // namespace relay::api
