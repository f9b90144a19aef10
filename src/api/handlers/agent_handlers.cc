#include <memory>

#include "api/handlers/agent_bodies.h"
#include "api/handlers/handlers.h"
#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

AgentBody body_of(const json::object& row, const WorkspaceClient& client, const std::vector<host::HostRecord>& hosts) {
  AgentBody agent;
  agent.name = string_member(row, "name").value_or("");
  agent.workspace_id = client.id();
  agent.id = format("{}.{}", client.id(), agent.name);
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

void append_agents(AgentList& list, const json::object& response, const WorkspaceClient& client, HostGateway& gateway) {
  const auto* rows = array_member(response, "agents");
  if (rows == nullptr) return;
  const auto hosts = gateway.hosts_in(client.hosts());
  for (const auto& row : *rows)
    if (const auto* object = row.if_object()) list.agents.push_back(body_of(*object, client, hosts));
  if (bool_member(response, "more").value_or(false)) list.more = true;
}

/// Requests all agents after a name. The response has `more` when they do not fit one frame.
json::object list_agents_request(const std::string& after = {}) {
  json::object query = {{"includeIdle", true}};
  if (!after.empty()) query["after"] = after;
  return query;
}

void respond_agents(Api& api, WorkspaceHandle workspace, Call call) {
  auto& client = workspace.client;
  auto query = list_agents_request(call.text("after"));
  send_request(client, MessageType::ListAgents, std::move(query), std::move(call),
               [&api, &client](Call reply, json::object response) {
                 AgentList list;
                 append_agents(list, response, client, api.gateway);
                 list.workspace_id = client.id();
                 reply.answer(200, list);
               });
}

}  // namespace

void list_all_agents(Api& api, Call call) {
  const auto list = std::make_shared<AgentList>();
  for_each_workspace(
      api, std::move(call),
      [&api, list](WorkspaceHandle workspace, Next next) {
        auto& client = workspace.client;
        client.request(MessageType::ListAgents, list_agents_request(),
                       [&api, list, &client, next = std::move(next)](Result<json::object> response) mutable {
                         if (response) append_agents(*list, *response, client, api.gateway);
                         next();
                       });
      },
      [list](Call reply) { reply.answer(200, *list); });
}

void list_workspace_agents(Api& api, Call call) {
  const auto id = call.value("id");
  api.workspaces.find(id, [&api, call = std::move(call)](ApiResult<WorkspaceHandle> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    respond_agents(api, *workspace, std::move(call));
  });
}

void list_agents(Api& api, WorkspaceHandle workspace, Call call) { respond_agents(api, workspace, std::move(call)); }

void get_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  auto& client = workspace.client;
  send_request(client, MessageType::ListAgents, {{"includeIdle", true}, {"agent", name}}, std::move(call),
               [&api, &client, name](Call reply, json::object response) {
                 AgentList list;
                 append_agents(list, response, client, api.gateway);
                 for (const auto& agent : list.agents)
                   if (agent.name == name) return reply.answer(200, agent);
                 reply.refuse(not_found(format("no agent named {}; list agents with GET /agents", name)));
               });
}

}  // namespace relay::api
