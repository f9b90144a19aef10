#include "broker/agent_removal.h"

#include <algorithm>

#include "base/format.h"
#include "broker/authority.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;

namespace {

constexpr std::size_t kMaxForgotten = 256;  // names in one commit
constexpr WallMs kMinUnused = 60'000;       // at the limit: names used in the last minute stay
constexpr Millis kRoomRetry{1'000};         // a search that found none is not repeated sooner
constexpr std::size_t kRoomDivisor = 100;   // at the limit, room is made for all names divided by this

}  // namespace

void AgentRemoval::answer(ConnectionState& connection, std::string_view request, bool success, bool removed,
                          std::string_view message) {
  text::JsonWriter payload;
  payload.field("success", success).field("removed", removed).field("message", message);
  connections_.respond(connection, MessageType::RemoveAgentResponse, request, payload.take());
}

void AgentRemoval::on_remove_agent(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_remove_agent(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto refuse = [&](std::string_view reason) { answer(connection, envelope.id, false, false, reason); };
  if (const auto refused = require_user(connection, "remove an agent")) return refuse(refused->message);
  AgentState* agent = agents_.find(wanted->name);
  if (agent == nullptr)
    return answer(connection, envelope.id, true, false, format("no agent is named '{}'", wanted->name));
  if (agent->connected()) return refuse(format("{} is connected; let it leave first", wanted->name));
  if (agent->removing) return refuse(format("{} is already being removed", wanted->name));
  for (const NameHolder* holder : holders_)
    if (const auto obstacle = holder->removal_obstacle(wanted->name); !obstacle.empty()) return refuse(obstacle);
  set_removing(*agent, true);
  for (NameHolder* holder : holders_) holder->on_removing(*agent);
  if (agent->session && agent->session->ended == 0)
    commits_.change(
        event_recorder_.row(events::SessionEnded{.ended_at = context_.wall(), .reason = events::SessionEnd::Timeout},
                            agent->name(), agent->session->id));
  commits_.change(records::RemoveAgent{agent->name(), wanted->remove_messages, context_.wall()});
  commits_.when_committed([this, id = connection.id, request = std::string{envelope.id},
                           name = wanted->name](CommitResult result) {
    const bool done = result == CommitResult::Done;
    if (done) {
      remove(name);
    } else if (AgentState* not_removed = agents_.find(name)) {
      set_removing(*not_removed, false);
      due_timer_.arm(context_.wall());  // deliveries that were due meanwhile were skipped
    }
    ConnectionState* client = connections_.find(id);
    if (client == nullptr || client->phase != Phase::Active) return;
    answer(*client, request, done, done,
           done ? format("{} was removed", name) : format("{} could not be removed from the store; try again", name));
  });
}

void AgentRemoval::remove(const std::string& name) {
  AgentState* agent = agents_.find(name);
  if (agent == nullptr) return;
  audiences_.close_session(*agent);
  receipts_.cancel_deliveries_to(agent->name(), context_.wall());
  audiences_.leave_all(agent->name());
  loops_.forget(name);
  // Its streams keep their numbers: deliveries to a later agent of the same name must not look like duplicates.
  agents_.erase(std::string{name});
  context_.emit(RosterChanged{});
}

/// Names are forgotten in memory before the commit: an agent that connects under the name meanwhile is new, and is
/// saved after it. A commit that fails leaves a row that the next start reads and the next round removes.
void AgentRemoval::forget_unused(WallMs older_than) {
  forget_unused(older_than, unused_names(older_than, agents_.size()));
}

/// One batch per commit. A name that is in use again by then is not forgotten.
void AgentRemoval::forget_unused(WallMs older_than, std::vector<std::string> names) {
  const auto needed = needed_names();
  std::vector<std::string> batch;
  while (!names.empty() && batch.size() < kMaxForgotten) {
    const AgentState* agent = agents_.find(names.back());
    if (agent != nullptr && is_unused(*agent, older_than) && !needed.contains(agent->name()))
      batch.push_back(std::move(names.back()));
    names.pop_back();
  }
  forget_names(batch);
  if (names.empty()) return;
  commits_.when_committed([this, older_than, names = std::move(names)](CommitResult result) mutable {
    if (result == CommitResult::Done) forget_unused(older_than, std::move(names));
  });
}

bool AgentRemoval::has_room_for_name(std::size_t others) {
  if (agents_.has_room(others)) return true;
  if (context_.steady() < next_room_search_) return false;
  const auto names =
      unused_names(context_.wall() - kMinUnused, std::max<std::size_t>(1, agents_.size() / kRoomDivisor));
  forget_names(names);
  if (names.empty()) next_room_search_ = context_.steady() + kRoomRetry;
  return agents_.has_room(others);
}

std::set<AgentName> AgentRemoval::needed_names() const {
  std::set<AgentName> needed;
  for (const auto& [channel, members] : audiences_.channels())
    if (channel != protocol::kGeneralChannel)
      needed.insert(members.begin(), members.end());  // every agent is in #general
  for (const NameHolder* holder : holders_) holder->add_needed_names(needed);
  return needed;
}

/// Longest unused first.
std::vector<std::string> AgentRemoval::unused_names(WallMs older_than, std::size_t max) const {
  const auto needed = needed_names();
  std::vector<std::pair<WallMs, std::string_view>> found;
  for (const auto& [name, agent] : agents_.all())
    if (is_unused(agent, older_than) && !needed.contains(agent.name()))
      found.emplace_back(agent.record->last_seen, name);
  const auto count = std::min(max, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(found[i].second);
  return names;
}

bool AgentRemoval::is_unused(const AgentState& agent, WallMs older_than) const {
  const bool present = agent.connected() || (agent.session && agent.session->ended == 0) || agents_.is_claimed(agent);
  const bool busy = agent.removing || agent.mailbox.pending() > 0;
  const bool set_by_user = agent.record->paused || !agent.record->policy.empty();
  const auto last_used = std::max(agent.record->last_seen, agent.session ? agent.session->ended : 0);
  if (present || busy || set_by_user || last_used >= older_than) return false;
  if (std::ranges::any_of(holders_, [&](const NameHolder* holder) { return holder->is_using(agent); })) return false;
  return !agent.outboxes.was_used_since(context_.wall() - records::kOutboxMarkRetentionMs);
}

void AgentRemoval::forget_names(const std::vector<std::string>& names) {
  if (names.empty()) return;
  for (const auto& name : names) {
    commits_.change(records::RemoveAgent{AgentName{name}, false, context_.wall()});
    audiences_.leave(std::string{protocol::kGeneralChannel}, AgentName{name});
    loops_.forget(name);
    agents_.erase(name);
  }
  context_.log(WriteLog::Level::Info,
               format("unused names forgotten count={} agents={}", names.size(), agents_.size()));
  context_.emit(RosterChanged{});
}

}  // namespace relay::broker
