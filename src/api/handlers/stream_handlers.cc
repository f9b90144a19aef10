#include <algorithm>

#include "api/events/live.h"
#include "api/handlers/handlers.h"
#include "base/format.h"

namespace relay::api {
namespace {

/// Responds with an error when the workspace has no streams, as in tests.
bool refuse_without_streams(const WorkspaceHandle& workspace, Call& call) {
  if (workspace.live != nullptr) return false;
  call.refuse({409, "UNSUPPORTED", "this workspace has no event streams", {}});
  return true;
}

using protocol::MessageType;

bool contains_agent(const json::object& listing, std::string_view name) {
  const auto* rows = array_member(listing, "agents");
  return rows != nullptr && std::ranges::any_of(*rows, [&](const json::value& row) {
           return row.is_object() && string_member(row.as_object(), "name") == name;
         });
}

void stream(const WorkspaceHandle& workspace, Call call,
            void (*narrow)(EventSubscription& subscription, const Call& call)) {
  auto subscription = parse_event_subscription(call.query(), call.request().headers);
  if (!subscription) return call.refuse(bad_request(subscription.error().message()));
  narrow(*subscription, call);
  if (const auto fits = check_event_subscription(*subscription); !fits)
    return call.refuse(bad_request(fits.error().message()));
  if (!refuse_without_streams(workspace, call))
    workspace.live->feed.open_sse(*std::move(subscription), std::move(call));
}

}  // namespace

void stream_events(Api&, WorkspaceHandle workspace, Call call) {
  stream(workspace, std::move(call), [](EventSubscription&, const Call&) {});
}

/// A stream of an unknown agent or session would never have an event, so the daemon is queried first.
void stream_agent_events(Api&, WorkspaceHandle workspace, Call call) {
  const auto name = call.value("name");
  send_request(workspace.client, MessageType::ListAgents, {{"includeIdle", true}, {"agent", name}}, std::move(call),
               [workspace, name](Call reply, const json::object& listing) {
                 if (!contains_agent(listing, name))
                   return reply.refuse(not_found(format("no agent named {}; list agents with GET /agents", name)));
                 stream(workspace, std::move(reply), [](EventSubscription& subscription, const Call& of) {
                   subscription.agents = {of.value("name")};
                 });
               });
}

void stream_session_events(Api&, WorkspaceHandle workspace, Call call) {
  json::object query = {{"id", call.value("sessionId")}};
  send_request(workspace.client, MessageType::SessionQuery, std::move(query), std::move(call),
               [workspace](Call reply, const json::object&) {
                 stream(workspace, std::move(reply), [](EventSubscription& subscription, const Call& of) {
                   subscription.sessions = {of.value("sessionId")};
                 });
               });
}

void open_live_socket(Api&, WorkspaceHandle workspace, Call call) {
  if (!refuse_without_streams(workspace, call)) workspace.live->sockets.open(std::move(call));
}

}  // namespace relay::api
