#include "api/handlers/agent_bodies.h"
#include "api/handlers/handlers.h"
#include "api/handlers/session_bodies.h"
#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr std::string_view kDefaultProgram = "claude";

SessionBody parse_session(const json::object& response) {
  SessionBody session{.session_id = string_member(response, "id").value_or(""),
                      .agent_name = string_member(response, "agent").value_or(""),
                      .started_at = integer_member(response, "started").value_or(0),
                      .last_seen = integer_member(response, "lastSeen").value_or(0),
                      .ended_at = integer_member(response, "ended"),
                      .connected = bool_member(response, "connected").value_or(false),
                      .item_count = integer_member(response, "itemCount").value_or(0),
                      .commands_run = integer_member(response, "commandsRun").value_or(0)};
  if (const auto* files = array_member(response, "filesModified"))
    for (const auto& file : *files)
      if (const auto* path = file.if_string()) session.files_modified.emplace_back(*path);
  return session;
}

using WithSession = std::move_only_function<void(Call call, SessionBody session)>;
void with_session(WorkspaceClient& client, Call call, WithSession then) {
  const auto id = call.value("sessionId");
  send_request(client, MessageType::SessionQuery, {{"id", id}}, std::move(call),
               [then = std::move(then)](Call reply, const json::object& response) mutable {
                 then(std::move(reply), parse_session(response));
               });
}

ApiError session_ended_error(const SessionBody& session) {
  return conflict("STALE", format("the session of {} has ended", session.agent_name));
}

json::object spawn_payload(const CreateSessionRequest& request) {
  json::object payload = {{"name", request.agent}, {"cli", request.cli}};
  payload["spawnerName"] = request.from.value_or(std::string{kUserName});
  const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) payload[name] = *value;
  };
  add("task", request.task);
  add("cwd", request.cwd);
  add("model", request.model);
  add("team", request.team);
  add("role", request.role);
  if (request.args) payload["args"] = json::array(request.args->begin(), request.args->end());
  return payload;
}

/// The session id of the agent in the listing; empty when it has disconnected.
std::string session_of(const std::string& agent, const json::object& listing) {
  if (const auto* rows = array_member(listing, "agents"))
    for (const auto& row : *rows)
      if (const auto* object = row.if_object(); object != nullptr && string_member(*object, "name") == agent)
        return string_member(*object, "sessionId").value_or("");
  return {};
}

/// Starts the agent, then queries its session.
using Spawned = std::move_only_function<void(Call call, CreateSessionResponse created)>;
void spawn(Api& api, WorkspaceClient& client, const CreateSessionRequest& request, Call call, Spawned then) {
  send_request(
      client, MessageType::Spawn, spawn_payload(request), std::move(call),
      [&api, &client, name = request.agent, then = std::move(then)](Call reply, const json::object& result) mutable {
        CreateSessionResponse created{
            .agent_name = name, .host_pid = integer_member(result, "pid"), .task_id = string_member(result, "taskId")};
        if (const auto host = find_host(api.gateway.hosts_in(client.hosts()), name)) created.pid = host->agent_pid;
        send_request(
            client, MessageType::ListConnectedAgents, {{"agent", name}}, std::move(reply),
            [created = std::move(created), then = std::move(then)](Call spawned, const json::object& listing) mutable {
              created.session_id = session_of(created.agent_name, listing);
              if (created.session_id.empty())
                return spawned.refuse(conflict("FAILED", format("{} was started and ended at once; see why with: "
                                                                "agent-relay log",
                                                                created.agent_name)));
              then(std::move(spawned), std::move(created));
            });
      });
}

}  // namespace

void create_session(Api& api, WorkspaceHandle workspace, Call call) {
  const auto request = call.body_as<CreateSessionRequest>();
  if (!request) return call.refuse(request.error());
  spawn(api, workspace.client, *request, std::move(call),
        [](Call reply, const CreateSessionResponse& created) { reply.answer(201, created); });
}

void spawn_in_workspace(Api& api, Call call) {
  const auto request = call.body_as<SpawnAgentRequest>();
  if (!request) return call.refuse(request.error());
  const auto id = call.value("id");
  CreateSessionRequest session{
      .agent = request->name, .cli = request->provider.value_or(std::string{kDefaultProgram}), .task = request->task};
  api.workspaces.find(id, [&api, session = std::move(session),
                           call = std::move(call)](ApiResult<WorkspaceHandle> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    auto& client = workspace->client;
    spawn(api, client, session, std::move(call), [&client, session](Call reply, const CreateSessionResponse& created) {
      reply.answer(201, AgentBody{.id = format("{}.{}", client.id(), created.agent_name),
                                  .name = created.agent_name,
                                  .workspace_id = client.id(),
                                  .status = AgentRunState::Running,
                                  .provider = session.cli,
                                  .session_id = created.session_id,
                                  .spawned = true,
                                  .pid = created.pid,
                                  .task = session.task});
    });
  });
}

void get_session(Api&, WorkspaceHandle workspace, Call call) {
  with_session(workspace.client, std::move(call),
               [](Call reply, const SessionBody& session) { reply.answer(200, session); });
}

void message_session(Api& api, WorkspaceHandle workspace, Call call) {
  auto message = call.body_as<SendMessageRequest>();
  if (!message) return call.refuse(message.error());
  with_session(workspace.client, std::move(call),
               [&api, workspace, message = *std::move(message)](Call reply, const SessionBody& session) {
                 if (session.ended_at) return reply.refuse(session_ended_error(session));
                 send_message_to(api, workspace, session.agent_name, message, std::move(reply));
               });
}

void end_session(Api& api, WorkspaceHandle workspace, Call call) {
  auto& client = workspace.client;
  with_session(client, std::move(call), [&api, &client](Call reply, const SessionBody& session) {
    if (session.ended_at) return reply.refuse(session_ended_error(session));
    if (!session.connected)
      return reply.refuse(conflict(
          "STALE",
          format("{} is not connected; unless it returns soon its session ends as crashed", session.agent_name)));
    const auto host = find_host(api.gateway.hosts_in(client.hosts()), session.agent_name);
    if (!host || !host->spawned)
      return reply.refuse(conflict(
          "UNSUPPORTED",
          format("{} was not started by the daemon; stop it in the terminal where it runs", session.agent_name)));
    send_request(client, MessageType::Release, {{"name", session.agent_name}, {"by", kApiName}}, std::move(reply),
                 [&client](Call released, const json::object&) {
                   with_session(client, std::move(released), [](Call summarized, SessionBody ended) {
                     const auto until = ended.ended_at.value_or(ended.last_seen);
                     summarized.answer(
                         200, EndSessionResponse{.summary = {.duration = std::max<WallMs>(0, until - ended.started_at),
                                                             .item_count = ended.item_count,
                                                             .commands_run = ended.commands_run,
                                                             .files_modified = std::move(ended.files_modified)}});
                   });
                 });
  });
}

}  // namespace relay::api
