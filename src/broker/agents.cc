#include "broker/agents.h"

#include <algorithm>

#include "base/format.h"
#include "base/nearest.h"
#include "protocol/description_limits.h"
#include "text/utf8.h"

namespace relay::broker {
namespace {

/// The last report of its session.
std::string capabilities_of(const AgentState& agent) {
  if (!agent.activity->state.capabilities.empty() || !agent.session) return agent.activity->state.capabilities;
  return agent.session->capabilities.contract;
}

/// Rows of an earlier version may hold longer descriptions than are accepted now.
records::Agent bounded(records::Agent agent) {
  const auto cut = [](std::string& text, std::size_t max) {
    if (text.size() > max) text = std::string{text::truncate_utf8(text, max)};
  };
  for (auto* label : {&agent.cli, &agent.program, &agent.model, &agent.team, &agent.display_name})
    cut(*label, protocol::kMaxLabelBytes);
  cut(agent.task, protocol::kMaxTaskBytes);
  if (agent.avatar_url.size() > protocol::kMaxAvatarBytes) agent.avatar_url.clear();
  return agent;
}

}  // namespace

void Agents::restore(records::WorkspaceState& state) {
  for (auto& record : state.agents) {
    AgentState& agent = add(record.name.value());
    agent.record.write() = bounded(std::move(record));
    mark_saved(agent);
    count_description(agent);
  }
  for (const auto& counts : state.counts) {
    AgentState* agent = find(counts.agent.value());
    if (agent == nullptr) continue;
    agent->counts->sent = counts.sent;
    agent->counts->received = counts.received;
  }
  for (auto& mark : state.marks) {
    if (AgentState* agent = find(mark.sender.value())) agent->outboxes.restore(std::move(mark));
  }
  for (const auto& backlog : state.backlogs) {
    AgentState* agent = find(backlog.to.value());
    if (agent != nullptr) agent->mailbox.restore(backlog);
  }
}

AgentState& Agents::add(const std::string& name) {
  auto [place, added] = agents_.try_emplace(name);
  if (added) {
    records::Agent& record = place->second.record.write();
    record.name = AgentName{name};
    record.first_seen = context_.wall();
    confusable_names_.add(name);
  }
  return place->second;
}

void Agents::erase(const std::string& name) {
  confusable_names_.remove(name);
  if (const AgentState* agent = find(name)) description_bytes_ -= agent->counts->description_bytes;
  agents_.erase(name);
}

std::string Agents::confusable_reason(std::string_view name) const {
  const auto reason = [&](std::string_view other) {
    return format("the name '{}' looks like '{}'; choose one that differs more clearly", name, other);
  };
  if (const auto reserved = protocol::reserved_look_alike(name); !reserved.empty()) return reason(reserved);
  const auto in_use = [&](const std::string& other) {
    const AgentState* agent = find(other);
    return agent != nullptr && (agent->connected() || in_audience(*agent));
  };
  const auto other = confusable_names_.find(name, in_use);
  return other.empty() ? std::string{} : reason(other);
}

std::string Agents::unknown_reason(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [other, agent] : agents_) {
    if (!protocol::is_internal_name(other)) names.push_back(other);
  }
  std::ranges::sort(names);
  std::string text = format("no agent is named '{}'", name);
  const auto nearest = nearest_names(name, names);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    text += format("{}{}", i == 0 ? "; did you mean " : i + 1 == nearest.size() ? " or " : ", ", nearest[i]);
  }
  return text + (nearest.empty() ? "" : "?");
}

bool Agents::is_claimed(const AgentState& agent) const {
  if (agent.record->claim_hash.empty()) return false;
  // A session that ended with BYE has released its claim; a lost one keeps it.
  return agent.connected() || context_.wall() - agent.record->last_seen < context_.limits().claim_lease_ms;
}

bool Agents::in_audience(const AgentState& agent) const {
  if (agent.removing || agent.observed()) return false;
  if (agent.connected()) return true;
  return agent.session && agent.session->ended == 0 &&
         context_.steady() - agent.times->lost_at < Millis{context_.limits().session_grace_ms};
}

void Agents::set_description(AgentState& agent, const protocol::Hello& hello) {
  records::Agent& record = agent.record.write();
  record.entity = hello.entity;
  const auto take = [](std::string& field, const std::string& value) {
    if (!value.empty()) field = value;
  };
  take(record.cli, hello.cli);
  take(record.program, hello.program);
  take(record.model, hello.model);
  take(record.task, hello.task);
  take(record.working_directory, hello.working_directory);
  take(record.team, hello.team);
  take(record.display_name, hello.display_name);
  take(record.avatar_url, hello.avatar_url);
  count_description(agent);
}

bool Agents::set_paused(AgentState& agent, bool paused, const std::string& reason) {
  records::Agent& record = agent.record.write();
  if (record.paused == paused && record.pause_reason == reason) return false;
  record.paused = paused;
  record.pause_reason = paused ? reason : std::string{};
  return true;
}

void Agents::count_sent(const AgentName& sender) {
  AgentState* agent = find(sender.value());
  if (agent == nullptr) return;
  ++agent->counts->sent;
  counts_changed_ = true;
}

void Agents::count_received(AgentState& agent) {
  ++agent.counts->received;
  counts_changed_ = true;
}

void Agents::count_description(AgentState& agent) {
  const records::Agent& record = agent.record;
  auto& own = agent.counts->description_bytes;
  description_bytes_ -= std::exchange(own, 0);
  for (const auto* text : {&record.cli, &record.program, &record.model, &record.task, &record.working_directory,
                           &record.team, &record.display_name, &record.avatar_url})
    own += text->size();
  description_bytes_ += own;
}

bool Agents::has_room(std::size_t others) const {
  const auto& limits = context_.limits();
  return agents_.size() + others < limits.max_agents && description_bytes_ < limits.max_description_bytes;
}

std::vector<RosterEntry> Agents::roster() const {
  std::vector<RosterEntry> entries;
  entries.reserve(agents_.size());
  for (const auto& [name, agent] : agents_) {
    const bool connected = agent.connected();
    entries.push_back({*agent.record, connected, agent.counts->sent, agent.counts->received, agent.mailbox.pending(),
                       connected ? agent.activity->state.state : "", connected ? agent.activity->state.reason : "",
                       connected ? capabilities_of(agent) : "", agent.mailbox.held(),
                       connected && agent.session ? agent.session->id.value() : "",
                       connected ? 0 : agent.offline_since()});
  }
  std::ranges::sort(entries, {}, [](const RosterEntry& entry) -> const AgentName& { return entry.agent.name; });
  return entries;
}

}  // namespace relay::broker
