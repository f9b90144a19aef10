#include "broker/broker.h"

#include <algorithm>

#include "base/format.h"
#include "broker/core.h"

namespace relay::broker {

Broker::Broker(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState snapshot, Random& random,
               Timestamp now)
    : core_{std::make_unique<Core>(limits, std::move(info), std::move(snapshot), random, now)} {}
Broker::~Broker() = default;

void Broker::on_connect(ConnectionId connection, PeerProcess peer, Timestamp now) {
  core_->set_now(now);
  core_->connect(connection, peer);
}
void Broker::on_frame(ConnectionId connection, std::string_view frame, Timestamp now) {
  core_->set_now(now);
  core_->frame(connection, frame);
}
void Broker::on_bad_stream(ConnectionId connection, std::string_view reason, Timestamp now) {
  core_->set_now(now);
  core_->bad_stream(connection, reason);
}
void Broker::on_written(ConnectionId connection, std::size_t left, Timestamp now) {
  core_->set_now(now);
  core_->written(connection, left);
}
void Broker::on_disconnect(ConnectionId connection, std::string_view reason, Timestamp now) {
  core_->set_now(now);
  core_->disconnect(connection, reason);
}
void Broker::on_committed(records::CommitTicket up_to, records::EventSeq newest, Timestamp now) {
  core_->set_now(now);
  core_->committed(up_to, newest);
}
void Broker::on_newest_event(records::EventSeq newest, Timestamp now) {
  core_->set_now(now);
  core_->see_events(newest);
}
void Broker::on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why,
                              Timestamp now) {
  core_->set_now(now);
  core_->commit_failed(from, to, why);
}
void Broker::on_damage(const StoreDamage& damage, Timestamp now) {
  core_->set_now(now);
  core_->damaged(damage);
}
void Broker::on_backlog(records::BacklogPage page, Timestamp now) {
  core_->set_now(now);
  core_->backlog(std::move(page));
}
void Broker::on_backlog_failed(const records::BacklogRequest& asked, std::string_view why, Timestamp now) {
  core_->set_now(now);
  core_->backlog_failed(asked, why);
}
void Broker::on_expired(records::ExpireResult result, Timestamp now) {
  core_->set_now(now);
  core_->expired(std::move(result));
}
void Broker::on_expire_failed(std::string_view why, Timestamp now) {
  core_->set_now(now);
  core_->expire_failed(why);
}
void Broker::on_messages(QueryId id, Result<std::vector<records::MessageRow>> rows, Timestamp now) {
  core_->set_now(now);
  core_->messages(id, std::move(rows));
}
void Broker::on_trace(QueryId id, Result<records::Trace> trace, Timestamp now) {
  core_->set_now(now);
  core_->trace(id, std::move(trace));
}
void Broker::on_stats(QueryId id, Result<records::StoreStats> stats, Timestamp now) {
  core_->set_now(now);
  core_->stats(id, std::move(stats));
}
void Broker::on_held(QueryId id, Result<records::HeldPage> page, Timestamp now) {
  core_->set_now(now);
  core_->held(id, std::move(page));
}
void Broker::on_dead(QueryId id, Result<std::vector<records::DeadLetter>> letters, Timestamp now) {
  core_->set_now(now);
  core_->dead(id, std::move(letters));
}
void Broker::on_events(QueryId id, Result<records::EventPage> page, Timestamp now) {
  core_->set_now(now);
  core_->events(id, std::move(page));
}
void Broker::on_usage(QueryId id, Result<std::vector<records::UsageSum>> sums, Timestamp now) {
  core_->set_now(now);
  core_->usage(id, std::move(sums));
}
void Broker::on_session(QueryId id, Result<records::SessionRow> row, Timestamp now) {
  core_->set_now(now);
  core_->session(id, std::move(row));
}
void Broker::on_host_started(QueryId id, Result<std::int32_t> pid, Timestamp now) {
  core_->set_now(now);
  core_->host_started(id, std::move(pid));
}
void Broker::on_host_done(QueryId id, Result<void> outcome, Timestamp now) {
  core_->set_now(now);
  core_->host_done(id, std::move(outcome));
}
void Broker::on_hosts(QueryId id, Result<std::vector<Worker>> workers, Timestamp now) {
  core_->set_now(now);
  core_->hosts(id, std::move(workers));
}
void Broker::on_host_answered(QueryId id, Result<void> outcome, Timestamp now) {
  core_->set_now(now);
  core_->host_answered(id, std::move(outcome));
}
void Broker::on_ended_sessions(const std::vector<protocol::EndedSession>& ended, Timestamp now) {
  core_->set_now(now);
  core_->ended_sessions(ended);
}
void Broker::use_policy(std::shared_ptr<const permissions::Policy> policy) { core_->use_policy(std::move(policy)); }
void Broker::use_spawn_policy(std::shared_ptr<const SpawnPolicy> policy) { core_->use_spawn_policy(std::move(policy)); }
void Broker::on_tick(Timestamp now) {
  core_->set_now(now);
  core_->tick();
}
void Broker::forget_unused(WallMs older_than, Timestamp now) {
  core_->set_now(now);
  core_->forget_unused(older_than);
}
std::optional<SteadyTime> Broker::next_tick() const { return core_->next_tick(); }
void Broker::shut_down(Timestamp now, std::string_view reason) {
  core_->set_now(now);
  core_->shut_down(reason);
}
bool Broker::is_idle() const { return core_->quiet(); }
Effects Broker::take_effects(Batching gathering) { return core_->take_effects(gathering); }
void Broker::recycle(Effects effects) { core_->give_back(std::move(effects)); }
bool Broker::has_open_batch() const { return core_->has_gathered(); }
std::vector<RosterEntry> Broker::roster() const { return core_->roster(); }

}  // namespace relay::broker
