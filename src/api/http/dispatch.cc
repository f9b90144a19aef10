#include "api/api.h"
#include "api/http/route.h"
#include "base/format.h"

namespace relay::api {
namespace {

/// What every answer carries, whoever gave it.
void add_common_headers(net::ServerResponse& answer, const std::vector<net::HttpHeader>& sharing) {
  answer.headers.insert(answer.headers.end(), sharing.begin(), sharing.end());
  answer.headers.push_back({"Cache-Control", "no-store"});
  net::add_protective_headers(answer.headers);
}

ApiError no_such_path() {
  return not_found("there is no such path; GET /docs and GET /openapi.json list what there is");
}

void refuse_method(const Match& match, Call::Send& send) {
  const auto allowed = methods_in_words(match.others);
  auto answer = to_response({405, "METHOD_NOT_ALLOWED", format("this path can do {} and nothing else", allowed), {}});
  answer.headers.push_back({"Allow", allowed});
  send(std::move(answer));
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

void dispatch(Api& api, const AccessPolicy& guard, net::ServerRequest request, Call::Send send, Call::Yield yield) {
  std::string_view operation;
  if (const auto objection = check_origin(request, guard)) {
    api.counters.count({}, objection->status);
    auto answer = to_response(*objection);
    answer.last = is_untrusted(request, guard);
    add_common_headers(answer, {});
    return send(std::move(answer));
  }
  const auto segments = net::path_segments(request.path);
  auto match = segments ? match_route(request.method, *segments) : Match{};
  if (match.route != nullptr) operation = match.route->operation;
  auto counted = [&api, operation, sharing = sharing_headers(request), stranger = is_untrusted(request, guard),
                  send = std::move(send)](net::ServerResponse answer) mutable {
    api.counters.count(operation, answer.status);
    add_common_headers(answer, sharing);
    answer.last = stranger;
    send(std::move(answer));
  };
  Call::Send tell = std::move(counted);

  if (!segments) return tell(to_response(bad_request(segments.error().message())));
  if (request.method == "OPTIONS") {
    if (match.others.empty()) return tell(to_response(no_such_path()));
    auto answer = preflight_answer(request, methods_in_words(match.others));
    std::erase_if(answer.headers, [](const auto& header) {  // they are added to every answer
      return header.name == "Access-Control-Allow-Origin" || header.name == "Vary";
    });
    return tell(std::move(answer));
  }
  const auto access = match.route != nullptr ? match.route->access : Access::Guarded;
  if (const auto objection = authorize(request, guard, access)) return tell(to_response(*objection));
  if (match.route == nullptr && match.others.empty()) return tell(to_response(no_such_path()));
  if (match.route == nullptr) return refuse_method(match, tell);
  auto query = net::QueryParameters::parse(request.query);
  if (!query) return tell(to_response(bad_request(query.error().message())));
  std::optional<protocol::PeerOrigin> caller;
  if (is_write(request.method)) {
    caller = api.facts.origin_of(request.peer);
    const auto allowed = match.route->by_agents ? ByAgents::Yes : ByAgents::No;
    if (const auto objection = check_caller(caller, allowed)) return tell(to_response(*objection));
  }
  Call::Yield give_up;
  if (yield)
    give_up = [&api, route = match.route, yield = std::move(yield)]() mutable {
      api.counters.count(route->operation, route->status);
      return yield();
    };
  Call call{*match.route,    std::move(request), *std::move(query), std::move(match.values),
            std::move(tell), std::move(give_up)};
  if (caller) call.set_caller(*std::move(caller));
  run(api, std::move(call));
}

}  // namespace relay::api
