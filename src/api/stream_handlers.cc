#include "api/handlers.h"
#include "api/live.h"
#include "api/route.h"

namespace relay::api {
namespace {

/// Hands the connection over to whoever writes to it from now on. Nothing where nobody can: it is told so.
std::optional<net::HttpReply> let_go(Api& api, const Workspace& workspace, Call& call) {
  if (workspace.live == nullptr) {
    call.refuse({409, "UNSUPPORTED", "nothing can be followed here", {}});
    return std::nullopt;
  }
  api.counters.count(call.route().operation, call.route().status);
  return call.take_reply();
}

void stream(Api& api, Workspace workspace, Call call, void (*narrow)(EventWish& wish, const Call& call)) {
  auto wish = read_event_wish(call.query(), call.request().headers);
  if (!wish) return call.refuse(bad_request(wish.error().message()));
  narrow(*wish, call);
  if (const auto fits = check_event_wish(*wish); !fits) return call.refuse(bad_request(fits.error().message()));
  auto headers = sharing_headers(call.request());
  headers.push_back({"X-Content-Type-Options", "nosniff"});
  if (auto reply = let_go(api, workspace, call))
    workspace.live->feed.open_sse(*std::move(wish), *std::move(reply), std::move(headers));
}

}  // namespace

void stream_events(Api& api, Workspace workspace, Call call) {
  stream(api, workspace, std::move(call), [](EventWish&, const Call&) {});
}

void stream_agent_events(Api& api, Workspace workspace, Call call) {
  stream(api, workspace, std::move(call),
         [](EventWish& wish, const Call& asked) { wish.agents = {asked.value("name")}; });
}

void stream_session_events(Api& api, Workspace workspace, Call call) {
  stream(api, workspace, std::move(call),
         [](EventWish& wish, const Call& asked) { wish.sessions = {asked.value("sessionId")}; });
}

void open_live_socket(Api& api, Workspace workspace, Call call) {
  if (auto reply = let_go(api, workspace, call)) workspace.live->sockets.open(*std::move(reply));
}

}  // namespace relay::api
