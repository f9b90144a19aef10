#include "broker/broker.h"

#include <algorithm>

#include "broker/broker_parts.h"
#include "protocol/send.h"

namespace relay::broker {

Broker::Broker(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState state, Random& random,
               Timestamp now)
    : parts_{std::make_unique<BrokerParts>(limits, std::move(info), std::move(state), random, now)} {}
Broker::~Broker() = default;

BrokerParts& Broker::at(Timestamp now) {
  parts_->context.set_now(now);
  return *parts_;
}

// ---------------------------------------------------------------- connections

void Broker::on_connect(ConnectionId connection, PeerProcess peer, Timestamp now) {
  at(now).sessions.on_connect(connection, std::move(peer));
}

void Broker::on_frame(ConnectionId id, std::string_view frame, Timestamp now) {
  BrokerParts& parts = at(now);
  ConnectionState* connection = parts.connections.find(id);
  if (connection == nullptr || connection->phase == Phase::Closing) return;
  parts.connections.on_received(*connection);
  if (!parts.sessions.hold_frame(*connection, frame)) parts.handle_frame(*connection, frame);
}

void Broker::on_bad_stream(ConnectionId id, std::string_view reason, Timestamp now) {
  BrokerParts& parts = at(now);
  ConnectionState* connection = parts.connections.find(id);
  if (connection == nullptr || connection->phase == Phase::Closing) return;
  parts.connections.send_error(*connection, protocol::ErrorCode::BadRequest, reason, protocol::Fatal::Yes);
  parts.sessions.close(*connection, std::string{reason});
}

void Broker::on_written(ConnectionId id, std::size_t left, Timestamp now) {
  BrokerParts& parts = at(now);
  ConnectionState* connection = parts.connections.find(id);
  if (connection == nullptr || connection->phase == Phase::Closing) return;
  parts.connections.on_written(*connection, left);
  if (connection->phase != Phase::Active) return;
  if (AgentState* agent = connection->query_only ? nullptr : parts.agents.find(connection->agent->value())) {
    if (left == 0) parts.deliveries.on_all_written(*agent);
    parts.deliveries.deliver_pending(*agent);
  }
  parts.subscriptions.on_written(*connection);
}

void Broker::on_disconnect(ConnectionId id, std::string_view reason, Timestamp now) {
  BrokerParts& parts = at(now);
  ConnectionState* connection = parts.connections.find(id);
  if (connection == nullptr) return;
  parts.sessions.on_disconnect(*connection, reason);
  parts.spawns.on_disconnected(id);
  parts.budget.forget(id);
  parts.connections.erase(id);
}

// ---------------------------------------------------------------- the store

void Broker::on_committed(records::CommitTicket up_to, records::EventSeq newest, Timestamp now) {
  BrokerParts& parts = at(now);
  parts.commits.on_committed(up_to);
  parts.subscriptions.on_newest_event(newest);
}

void Broker::on_newest_event(records::EventSeq newest, Timestamp now) { at(now).subscriptions.on_newest_event(newest); }

void Broker::on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why,
                              Timestamp now) {
  at(now).commits.on_commit_failed(from, to, why);
}

void Broker::on_damage(const StoreDamage& damage, Timestamp now) { at(now).workspace_queries.on_damage(damage); }

void Broker::on_backlog(records::BacklogPage page, Timestamp now) { at(now).deliveries.on_backlog(std::move(page)); }

void Broker::on_backlog_failed(const records::BacklogRequest& request, std::string_view why, Timestamp now) {
  at(now).deliveries.on_backlog_failed(request, why);
}

void Broker::on_expired(const records::ExpireResult& result, Timestamp now) {
  BrokerParts& parts = at(now);
  parts.expiry.on_expired(result);
  parts.subscriptions.on_newest_event(result.newest_event);
}

void Broker::on_expire_failed(std::string_view why, Timestamp now) { at(now).expiry.on_expire_failed(why); }

void Broker::on_query_result(QueryId id, Result<records::StoreResult> result, Timestamp now) {
  at(now).queries.on_result(id, std::move(result));
}

// ---------------------------------------------------------------- hosts

void Broker::on_host_started(QueryId id, Result<std::int32_t> pid, Timestamp now) {
  at(now).hosts.on_started(id, std::move(pid));
}

void Broker::on_host_done(QueryId id, Result<void> outcome, Timestamp now) {
  at(now).hosts.on_done(id, std::move(outcome));
}

void Broker::on_hosts(QueryId id, Result<std::vector<Worker>> workers, Timestamp now) {
  at(now).hosts.on_listed(id, std::move(workers));
}

void Broker::on_ended_sessions(const std::vector<protocol::EndedSession>& ended, Timestamp now) {
  at(now).sessions.on_ended_sessions(ended);
}

void Broker::use_policy(std::shared_ptr<const permissions::Policy> policy) {
  parts_->prompts.use_policy(std::move(policy));
}

void Broker::use_spawn_policy(std::shared_ptr<const SpawnPolicy> policy) {
  parts_->spawns.use_policy(std::move(policy));
}

// ---------------------------------------------------------------- time

void Broker::on_tick(Timestamp now) {
  BrokerParts& parts = at(now);
  parts.expiry.on_tick();
  while (auto due = parts.context.pop_due_timer()) parts.on_timer(due->first, due->second);
}

std::optional<SteadyTime> Broker::next_tick() const {
  const auto next = parts_->context.next_timer();
  const auto expiry = parts_->expiry.due();
  if (!next || !expiry) return next ? next : expiry;
  return std::min(*next, *expiry);
}

void Broker::forget_unused(WallMs older_than, Timestamp now) { at(now).removal.forget_unused(older_than); }

void Broker::shut_down(Timestamp now, std::string_view reason) { at(now).sessions.shut_down(reason); }

bool Broker::is_idle() const { return parts_->commits.is_idle(); }

// ---------------------------------------------------------------- effects

Effects Broker::take_effects(Batching batching) {
  BrokerParts& parts = *parts_;
  parts.budget.resume_released();
  if (parts.agents.take_counts_changed()) parts.context.emit(RosterChanged{RosterChange::Counts});
  if (batching == Batching::Close) parts.commits.flush();
  parts.commits.fail_open_batch();
  return parts.context.take_effects();
}

void Broker::recycle(Effects effects) { parts_->context.recycle(std::move(effects)); }

bool Broker::has_open_batch() const { return parts_->commits.has_open_batch(); }

std::vector<RosterEntry> Broker::roster() const { return parts_->agents.roster(); }

}  // namespace relay::broker
