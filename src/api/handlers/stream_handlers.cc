#include <algorithm>

#include "api/events/live.h"
#include "api/handlers/handlers.h"
#include "base/format.h"

namespace relay::api {
namespace {

/// Nobody can follow anything here; told so.
bool is_deaf(const WorkspaceHandle& workspace, Call& call) {
  if (workspace.live != nullptr) return false;
  call.refuse({409, "UNSUPPORTED", "nothing can be followed here", {}});
  return true;
}

using protocol::MessageType;

bool lists(const json::object& listing, std::string_view name) {
  const auto* rows = array_member(listing, "agents");
  return rows != nullptr && std::ranges::any_of(*rows, [&](const json::value& row) {
           return row.is_object() && string_member(row.as_object(), "name") == name;
         });
}

void stream(const WorkspaceHandle& workspace, Call call, void (*narrow)(EventSubscription& wish, const Call& call)) {
  auto wish = read_event_wish(call.query(), call.request().headers);
  if (!wish) return call.refuse(bad_request(wish.error().message()));
  narrow(*wish, call);
  if (const auto fits = check_event_wish(*wish); !fits) return call.refuse(bad_request(fits.error().message()));
  if (!is_deaf(workspace, call)) workspace.live->feed.open_sse(*std::move(wish), std::move(call));
}

}  // namespace

void stream_events(Api&, WorkspaceHandle workspace, Call call) {
  stream(workspace, std::move(call), [](EventSubscription&, const Call&) {});
}

/// A stream of an agent or a session that does not exist would be silent for ever, so the daemon is asked first.
void stream_agent_events(Api&, WorkspaceHandle workspace, Call call) {
  const auto name = call.value("name");
  ask(workspace.relay, MessageType::ListAgents, {{"includeIdle", true}, {"agent", name}}, std::move(call),
      [workspace, name](Call asked, const json::object& listing) {
        if (!lists(listing, name))
          return asked.refuse(not_found(format("there is no agent {}; GET /agents lists all", name)));
        stream(workspace, std::move(asked),
               [](EventSubscription& wish, const Call& of) { wish.agents = {of.value("name")}; });
      });
}

void stream_session_events(Api&, WorkspaceHandle workspace, Call call) {
  json::object question = {{"id", call.value("sessionId")}};
  ask(workspace.relay, MessageType::SessionQuery, std::move(question), std::move(call),
      [workspace](Call asked, const json::object&) {
        stream(workspace, std::move(asked),
               [](EventSubscription& wish, const Call& of) { wish.sessions = {of.value("sessionId")}; });
      });
}

void open_live_socket(Api&, WorkspaceHandle workspace, Call call) {
  if (!is_deaf(workspace, call)) workspace.live->sockets.open(std::move(call));
}

}  // namespace relay::api
