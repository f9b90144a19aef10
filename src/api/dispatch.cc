#include "api/api.h"
#include "api/route.h"
#include "base/format.h"

namespace relay::api {
namespace {

/// What every answer carries, whoever gave it.
void add_common_headers(net::ServerAnswer& answer, const std::vector<net::HttpHeader>& sharing) {
  answer.headers.insert(answer.headers.end(), sharing.begin(), sharing.end());
  answer.headers.push_back({"Cache-Control", "no-store"});
  net::add_protective_headers(answer.headers);
}

Refusal no_such_path() {
  return not_found("there is no such path; GET /docs and GET /openapi.json list what there is");
}

void refuse_method(const Match& match, Call::Send& send) {
  const auto allowed = methods_in_words(match.others);
  auto answer = answer_of({405, "METHOD_NOT_ALLOWED", format("this path can do {} and nothing else", allowed), {}});
  answer.headers.push_back({"Allow", allowed});
  send(std::move(answer));
}

void run(Api& api, Call call) {
  const auto& route = call.route();
  if (route.handler != nullptr) return route.handler(api, std::move(call));
  const auto which = call.text("workspace");
  api.workspaces.find(which, [&api, call = std::move(call)](Outcome<Workspace> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    call.route().in_workspace(api, *workspace, std::move(call));
  });
}

}  // namespace

void dispatch(Api& api, const Guard& guard, net::ServerRequest request, Call::Send send, Call::Yield yield) {
  std::string_view operation;
  if (const auto objection = objection_to_origin(request, guard)) {
    api.counters.count({}, objection->status);
    auto answer = answer_of(*objection);
    answer.last = is_stranger(request, guard);
    add_common_headers(answer, {});
    return send(std::move(answer));
  }
  const auto segments = net::path_segments(request.path);
  auto match = segments ? match_route(request.method, *segments) : Match{};
  if (match.route != nullptr) operation = match.route->operation;
  auto counted = [&api, operation, sharing = sharing_headers(request), stranger = is_stranger(request, guard),
                  send = std::move(send)](net::ServerAnswer answer) mutable {
    api.counters.count(operation, answer.status);
    add_common_headers(answer, sharing);
    answer.last = stranger;
    send(std::move(answer));
  };
  Call::Send tell = std::move(counted);

  if (!segments) return tell(answer_of(bad_request(segments.error().message())));
  if (request.method == "OPTIONS") {
    if (match.others.empty()) return tell(answer_of(no_such_path()));
    auto answer = preflight_answer(request, methods_in_words(match.others));
    std::erase_if(answer.headers, [](const auto& header) {  // they are added to every answer
      return header.name == "Access-Control-Allow-Origin" || header.name == "Vary";
    });
    return tell(std::move(answer));
  }
  const auto access = match.route != nullptr ? match.route->access : Access::Guarded;
  if (const auto objection = objection_to_asker(request, guard, access)) return tell(answer_of(*objection));
  if (match.route == nullptr && match.others.empty()) return tell(answer_of(no_such_path()));
  if (match.route == nullptr) return refuse_method(match, tell);
  auto query = net::Query::parse(request.query);
  if (!query) return tell(answer_of(bad_request(query.error().message())));
  std::optional<protocol::PeerOrigin> caller;
  if (is_write(request.method)) {
    caller = api.facts.origin_of(request.peer);
    const auto allowed = match.route->by_agents ? ByAgents::Yes : ByAgents::No;
    if (const auto objection = objection_to_caller(caller, allowed)) return tell(answer_of(*objection));
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
