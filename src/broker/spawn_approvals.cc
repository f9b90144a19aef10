#include "broker/spawn_approvals.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {

using protocol::NackCode;

void SpawnApprovals::on_spawn(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto wanted = protocol::parse_spawn(envelope.payload);
  if (!wanted) {
    const auto name = protocol::parse_name(envelope.payload);
    return workers_.refuse_spawn(connection, envelope.id, name ? *name : std::string{},
                                 {NackCode::BadRequest, wanted.error().message()});
  }
  if (!is_spawn_by_agent(connection))
    return workers_.start(connection, {envelope.id, envelope.claim_token}, *std::move(wanted));
  wanted->environment.clear();  // an agent could name other programs by its PATH
  const auto refuse = [&](NackCode code, std::string reason) {
    workers_.refuse_spawn(connection, envelope.id, wanted->name, {code, std::move(reason)});
  };
  if (auto reason = refusal_of_spawn(*policy_, *wanted)) {
    context_.log(WriteLog::Level::Info, format("an agent may not start {}", command_line_of(*wanted)));
    return refuse(NackCode::Refused, *std::move(reason));
  }
  if (policy_->by_agents == SpawnByAgents::Profiles)
    return workers_.start(connection, {envelope.id, envelope.claim_token}, *std::move(wanted),
                          SpawnPlace::InsideProject);
  AgentState* const asker = spawning_agent(connection, *wanted);
  if (asker == nullptr)
    return refuse(NackCode::Refused,
                  "your user can approve this only for a connected agent; ask your user to run `agent-relay spawn`");
  prompt_user(*asker, connection, envelope, *std::move(wanted));
}

/// Otherwise it comes from the user or a program of the user. The origin names the agent that the process belongs to. A
/// session that queues messages for an agent (`delivery.queue`) is a host's or an MCP server's, even if the agent
/// was started without agent-relay.
bool SpawnApprovals::is_spawn_by_agent(const ConnectionState& connection) {
  if (!connection.peer->origin.is_user()) return true;
  return !connection.query_only && connection.capabilities->queue;
}

AgentState* SpawnApprovals::spawning_agent(const ConnectionState& connection, const protocol::SpawnRequest& wanted) {
  const auto& origin = connection.peer->origin;
  AgentState* const agent = agents_.find(!origin.agent.empty()   ? origin.agent
                                         : connection.query_only ? wanted.spawner
                                                                 : connection.agent->value());
  return agent != nullptr && agent->connected() && agent->session ? agent : nullptr;
}

void SpawnApprovals::prompt_user(AgentState& asker, ConnectionState& connection, const protocol::Envelope& envelope,
                                 protocol::SpawnRequest wanted) {
  const auto own = std::ranges::count(pending_, *connection.id, [](const auto& one) { return one.second.connection; });
  if (static_cast<std::size_t>(own) >= context_.limits().max_starting_each)
    return workers_.refuse_spawn(
        connection, envelope.id, wanted.name,
        {NackCode::Busy, format("{} requests to start an agent are already open; wait for an answer", own)});
  const auto command = command_line_of(wanted);
  const auto task = task_summary(wanted.task);
  OpenPrompt prompt;
  prompt.id = format("{}-spawn{}", asker.session->id.value(), ++last_prompt_);
  prompt.requested_at = context_.wall();
  prompt.spawn = true;
  events::PermissionRequested permission{.request_id = prompt.id,
                                         .tool = "spawn",
                                         .command = command,
                                         .description = format("start the agent {}: {}{}", wanted.name, command,
                                                               task.empty() ? "" : format(" (its task: {})", task))};
  if (!wanted.directory.empty()) permission.directory = wanted.directory;
  prompt.event = std::move(permission);
  pending_.emplace(prompt.id, PendingApproval{.connection = connection.id,
                                              .asker = asker.name(),
                                              .request_id = std::string{envelope.id},
                                              .claim_token = std::string{envelope.claim_token},
                                              .wanted = std::move(wanted)});
  prompts_.open(asker, std::move(prompt), Occurrence::First);
}

/// The user or a rule of the user has decided, or the prompt has timed out.
void SpawnApprovals::on_decided(AgentState& asker, OpenPrompt& prompt, const PromptAnswer& answer,
                                const std::string& by, std::optional<ClientRequest> approver) {
  const bool approved = answer.decision == PromptAnswer::Decision::Approve;
  const bool late = answer.decision == PromptAnswer::Decision::Timeout;
  event_recorder_.record(
      events::PermissionResolved{.request_id = prompt.id,
                                 .resolution = approved ? events::Resolution::Approved
                                               : late   ? events::Resolution::Timeout
                                                        : events::Resolution::Denied,
                                 .resolved_by = by,
                                 .resolved_at = context_.wall(),
                                 .reason = answer.reason.empty() ? std::nullopt : std::optional{answer.reason}},
      asker);
  prompts_.end_when_saved(asker, prompt.id);
  auto node = pending_.extract(prompt.id);
  ConnectionState* const connection = node.empty() ? nullptr : connections_.find(node.mapped().connection);
  if (connection == nullptr || connection->phase != Phase::Active) {
    if (approver) prompts_.respond(*approver, Rejection{NackCode::Stale, "the agent no longer requests this"});
    return;
  }
  const PendingApproval& spawn = node.mapped();
  if (approved)
    return workers_.start(*connection, {spawn.request_id, spawn.claim_token}, spawn.wanted, SpawnPlace::Anywhere,
                          std::move(approver));
  if (approver) prompts_.respond(*approver, std::nullopt);
  workers_.refuse_spawn(
      *connection, spawn.request_id, spawn.wanted.name,
      {NackCode::Refused, late ? "your user did not answer in time; continue without it"
                               : format("your user denied it{}; continue without it",
                                        answer.reason.empty() ? "" : format(" ({})", answer.reason))});
}

void SpawnApprovals::on_not_opened(const std::string& prompt) {
  const auto node = pending_.extract(prompt);
  ConnectionState* const connection = node.empty() ? nullptr : connections_.find(node.mapped().connection);
  if (connection == nullptr || connection->phase != Phase::Active) return;
  workers_.refuse_spawn(*connection, node.mapped().request_id, node.mapped().wanted.name,
                        {NackCode::Busy, "your user cannot be asked at the moment; try again later"});
}

void SpawnApprovals::on_disconnected(ConnectionId connection) {
  for (auto place = pending_.begin(); place != pending_.end();) {
    if (place->second.connection != connection) {
      ++place;
      continue;
    }
    if (AgentState* const asker = agents_.find(place->second.asker.value()))
      prompts_.withdraw_abandoned(*asker, place->first);
    place = pending_.erase(place);
  }
}

}  // namespace relay::broker
