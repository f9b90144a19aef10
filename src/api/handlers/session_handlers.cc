#include "api/handlers/agent_bodies.h"
#include "api/handlers/handlers.h"
#include "api/handlers/session_bodies.h"
#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr std::string_view kDefaultProgram = "claude";

SessionBody session_in(const json::object& answer) {
  SessionBody session{.session_id = string_member(answer, "id").value_or(""),
                      .agent_name = string_member(answer, "agent").value_or(""),
                      .started_at = integer_member(answer, "started").value_or(0),
                      .last_seen = integer_member(answer, "lastSeen").value_or(0),
                      .ended_at = integer_member(answer, "ended"),
                      .connected = bool_member(answer, "connected").value_or(false),
                      .item_count = integer_member(answer, "itemCount").value_or(0),
                      .commands_run = integer_member(answer, "commandsRun").value_or(0)};
  if (const auto* files = array_member(answer, "filesModified"))
    for (const auto& file : *files)
      if (const auto* path = file.if_string()) session.files_modified.emplace_back(*path);
  return session;
}

using WithSession = std::move_only_function<void(Call call, SessionBody session)>;
void with_session(WorkspaceClient& relay, Call call, WithSession then) {
  const auto id = call.value("sessionId");
  ask(relay, MessageType::SessionQuery, {{"id", id}}, std::move(call),
      [then = std::move(then)](Call asked, const json::object& answer) mutable {
        then(std::move(asked), session_in(answer));
      });
}

ApiError ended(const SessionBody& session) {
  return conflict("STALE", format("that session of {} has ended", session.agent_name));
}

json::object wish_of(const CreateSessionRequest& wanted) {
  json::object wish = {{"name", wanted.agent}, {"cli", wanted.cli}};
  wish["spawnerName"] = wanted.from.value_or(std::string{kPerson});
  const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) wish[name] = *value;
  };
  add("task", wanted.task);
  add("cwd", wanted.cwd);
  add("model", wanted.model);
  add("team", wanted.team);
  add("role", wanted.role);
  if (wanted.args) wish["args"] = json::array(wanted.args->begin(), wanted.args->end());
  return wish;
}

/// Of the agent in a listing; empty when it has left already.
std::string session_of(const std::string& agent, const json::object& listing) {
  if (const auto* rows = array_member(listing, "agents"))
    for (const auto& row : *rows)
      if (const auto* object = row.if_object(); object != nullptr && string_member(*object, "name") == agent)
        return string_member(*object, "sessionId").value_or("");
  return {};
}

/// Starts it, then finds out which session it has.
using Spawned = std::move_only_function<void(Call call, CreateSessionResponse created)>;
void spawn(Api& api, WorkspaceClient& relay, const CreateSessionRequest& wanted, Call call, Spawned then) {
  ask(relay, MessageType::Spawn, wish_of(wanted), std::move(call),
      [&api, &relay, name = wanted.agent, then = std::move(then)](Call asked, const json::object& result) mutable {
        CreateSessionResponse created{
            .agent_name = name, .host_pid = integer_member(result, "pid"), .task_id = string_member(result, "taskId")};
        if (const auto host = find_host(api.doors.hosts_in(relay.hosts()), name)) created.pid = host->agent_pid;
        ask(relay, MessageType::ListConnectedAgents, {{"agent", name}}, std::move(asked),
            [created = std::move(created), then = std::move(then)](Call told, const json::object& listing) mutable {
              created.session_id = session_of(created.agent_name, listing);
              if (created.session_id.empty())
                return told.refuse(conflict("FAILED", format("{} was started and ended at once; see why with: "
                                                             "agent-relay log",
                                                             created.agent_name)));
              then(std::move(told), std::move(created));
            });
      });
}

}  // namespace

void create_session(Api& api, WorkspaceHandle workspace, Call call) {
  const auto wanted = call.body_as<CreateSessionRequest>();
  if (!wanted) return call.refuse(wanted.error());
  spawn(api, workspace.relay, *wanted, std::move(call),
        [](Call asked, const CreateSessionResponse& created) { asked.answer(201, created); });
}

void spawn_in_workspace(Api& api, Call call) {
  const auto wanted = call.body_as<SpawnAgentRequest>();
  if (!wanted) return call.refuse(wanted.error());
  const auto id = call.value("id");
  CreateSessionRequest session{
      .agent = wanted->name, .cli = wanted->provider.value_or(std::string{kDefaultProgram}), .task = wanted->task};
  api.workspaces.find(id, [&api, session = std::move(session),
                           call = std::move(call)](ApiResult<WorkspaceHandle> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    auto& relay = workspace->relay;
    spawn(api, relay, session, std::move(call), [&relay, session](Call asked, const CreateSessionResponse& created) {
      asked.answer(201, AgentBody{.id = format("{}.{}", relay.id(), created.agent_name),
                                  .name = created.agent_name,
                                  .workspace_id = relay.id(),
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
  with_session(workspace.relay, std::move(call),
               [](Call asked, const SessionBody& session) { asked.answer(200, session); });
}

void message_session(Api& api, WorkspaceHandle workspace, Call call) {
  auto message = call.body_as<SendMessageRequest>();
  if (!message) return call.refuse(message.error());
  with_session(workspace.relay, std::move(call),
               [&api, workspace, message = *std::move(message)](Call asked, const SessionBody& session) {
                 if (session.ended_at) return asked.refuse(ended(session));
                 send_message_to(api, workspace, session.agent_name, message, std::move(asked));
               });
}

void end_session(Api& api, WorkspaceHandle workspace, Call call) {
  auto& relay = workspace.relay;
  with_session(relay, std::move(call), [&api, &relay](Call asked, const SessionBody& session) {
    if (session.ended_at) return asked.refuse(ended(session));
    if (!session.connected)
      return asked.refuse(conflict(
          "STALE",
          format("{} is not connected; unless it returns soon its session ends as crashed", session.agent_name)));
    const auto host = find_host(api.doors.hosts_in(relay.hosts()), session.agent_name);
    if (!host || !host->spawned)
      return asked.refuse(conflict(
          "UNSUPPORTED", format("{} was not started by the relay: whoever started it ends it", session.agent_name)));
    ask(relay, MessageType::Release, {{"name", session.agent_name}, {"by", kOwnName}}, std::move(asked),
        [&relay](Call released, const json::object&) {
          with_session(relay, std::move(released), [](Call told, SessionBody done) {
            const auto until = done.ended_at.value_or(done.last_seen);
            told.answer(200, EndSessionResponse{.summary = {.duration = std::max<WallMs>(0, until - done.started_at),
                                                            .item_count = done.item_count,
                                                            .commands_run = done.commands_run,
                                                            .files_modified = std::move(done.files_modified)}});
          });
        });
  });
}

}  // namespace relay::api
