#include "api/handlers.h"
#include "api/live.h"

namespace relay::api {
namespace {

/// Nobody can follow anything here; told so.
bool is_deaf(const Workspace& workspace, Call& call) {
  if (workspace.live != nullptr) return false;
  call.refuse({409, "UNSUPPORTED", "nothing can be followed here", {}});
  return true;
}

void stream(const Workspace& workspace, Call call, void (*narrow)(EventWish& wish, const Call& call)) {
  auto wish = read_event_wish(call.query(), call.request().headers);
  if (!wish) return call.refuse(bad_request(wish.error().message()));
  narrow(*wish, call);
  if (const auto fits = check_event_wish(*wish); !fits) return call.refuse(bad_request(fits.error().message()));
  if (!is_deaf(workspace, call)) workspace.live->feed.open_sse(*std::move(wish), std::move(call));
}

}  // namespace

void stream_events(Api&, Workspace workspace, Call call) {
  stream(workspace, std::move(call), [](EventWish&, const Call&) {});
}

void stream_agent_events(Api&, Workspace workspace, Call call) {
  stream(workspace, std::move(call), [](EventWish& wish, const Call& asked) { wish.agents = {asked.value("name")}; });
}

void stream_session_events(Api&, Workspace workspace, Call call) {
  stream(workspace, std::move(call),
         [](EventWish& wish, const Call& asked) { wish.sessions = {asked.value("sessionId")}; });
}

void open_live_socket(Api&, Workspace workspace, Call call) {
  if (!is_deaf(workspace, call)) workspace.live->sockets.open(std::move(call));
}

}  // namespace relay::api
