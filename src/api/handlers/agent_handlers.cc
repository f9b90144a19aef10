#include <memory>

#include "api/handlers/agent_bodies.h"
#include "api/handlers/handlers.h"
#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

AgentBody body_of(const json::object& row, const WorkspaceClient& relay, const std::vector<host::HostRecord>& hosts) {
  AgentBody agent;
  agent.name = string_member(row, "name").value_or("");
  agent.workspace_id = relay.id();
  agent.id = format("{}.{}", relay.id(), agent.name);
  agent.provider = string_member(row, "cli");
  agent.session_id = string_member(row, "sessionId");
  agent.state = string_member(row, "state");
  agent.reason = string_member(row, "reason");
  agent.paused = bool_member(row, "paused").value_or(false);
  agent.task = string_member(row, "task");
  agent.model = string_member(row, "model");
  agent.team = string_member(row, "team");
  agent.pending = integer_member(row, "pending").value_or(0);
  agent.messages_sent = integer_member(row, "messagesSent").value_or(0);
  agent.messages_received = integer_member(row, "messagesReceived").value_or(0);
  agent.last_seen = integer_member(row, "lastSeen");
  const bool resting = agent.state == "idle" || agent.state == "waiting";
  if (!bool_member(row, "idle").value_or(false)) agent.status = resting ? AgentRunState::Idle : AgentRunState::Running;
  if (const auto host = find_host(hosts, agent.name)) {
    agent.pid = host->agent_pid;
    agent.spawned = host->spawned;
    agent.spawned_at = host->started_at;
    agent.cwd = host->working_directory;
    if (!agent.task && !host->task.empty()) agent.task = host->task;
  }
  return agent;
}

void append_agents(AgentList& list, const json::object& answer, const WorkspaceClient& relay, HostGateway& doors) {
  const auto* rows = array_member(answer, "agents");
  if (rows == nullptr) return;
  const auto hosts = doors.hosts_in(relay.hosts());
  for (const auto& row : *rows)
    if (const auto* object = row.if_object()) list.agents.push_back(body_of(*object, relay, hosts));
  if (bool_member(answer, "more").value_or(false)) list.more = true;
}

/// All there are, from the beginning or behind a name; what does not fit one frame is said by `more`.
json::object everybody(const std::string& after = {}) {
  json::object question = {{"includeIdle", true}};
  if (!after.empty()) question["after"] = after;
  return question;
}

void notify_agents(Api& api, WorkspaceHandle workspace, Call call) {
  auto& relay = workspace.relay;
  auto question = everybody(call.text("after"));
  ask(relay, MessageType::ListAgents, std::move(question), std::move(call),
      [&api, &relay](Call asked, json::object answer) {
        AgentList list;
        append_agents(list, answer, relay, api.doors);
        list.workspace_id = relay.id();
        asked.answer(200, list);
      });
}

}  // namespace

void list_all_agents(Api& api, Call call) {
  const auto list = std::make_shared<AgentList>();
  for_each_workspace(
      api, std::move(call),
      [&api, list](WorkspaceHandle workspace, Next next) {
        auto& relay = workspace.relay;
        relay.request(MessageType::ListAgents, everybody(),
                      [&api, list, &relay, next = std::move(next)](Result<json::object> answer) mutable {
                        if (answer) append_agents(*list, *answer, relay, api.doors);
                        next();
                      });
      },
      [list](Call asked) { asked.answer(200, *list); });
}

void list_workspace_agents(Api& api, Call call) {
  const auto id = call.value("id");
  api.workspaces.find(id, [&api, call = std::move(call)](ApiResult<WorkspaceHandle> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    notify_agents(api, *workspace, std::move(call));
  });
}

void list_agents(Api& api, WorkspaceHandle workspace, Call call) { notify_agents(api, workspace, std::move(call)); }

void get_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  auto& relay = workspace.relay;
  ask(relay, MessageType::ListAgents, {{"includeIdle", true}, {"agent", name}}, std::move(call),
      [&api, &relay, name](Call asked, json::object answer) {
        AgentList list;
        append_agents(list, answer, relay, api.doors);
        for (const auto& agent : list.agents)
          if (agent.name == name) return asked.answer(200, agent);
        asked.refuse(not_found(format("nobody called {} was ever here; GET /agents lists all", name)));
      });
}

}  // namespace relay::api
