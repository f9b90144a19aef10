#include "daemon/workspace.h"

#include <algorithm>

#include "base/format.h"
#include "base/log.h"
#include "daemon/event_projection.h"
#include "daemon/host_manager.h"
#include "protocol/envelope.h"
#include "protocol/send.h"

namespace relay::daemon {
namespace {

/// A roster report takes at most this share of the loop's time, however many agents are known.
constexpr int kRosterTimeShare = 20;

constexpr std::string_view kNoHosts = "agents cannot be run here";

log::Level level_of(broker::WriteLog::Level level) {
  switch (level) {
    case broker::WriteLog::Level::Debug: return log::Level::Debug;
    case broker::WriteLog::Level::Info: return log::Level::Info;
    case broker::WriteLog::Level::Warn: return log::Level::Warn;
  }
  return log::Level::Info;
}

}  // namespace

Workspace::Workspace(WorkspaceOptions options, net::EventLoop& loop, Random& random, const MakeStoreQueue& make_queue,
                     records::WorkspaceState state, RosterSink roster_sink, EffectProbe probe, HostManager* hosts)
    : options_{std::move(options)},
      loop_{loop},
      roster_sink_{std::move(roster_sink)},
      probe_{std::move(probe)},
      hosts_{hosts},
      newest_event_{state.newest_event},
      broker_{options_.limits, options_.info, std::move(state), random, loop.now()},
      queue_{make_queue(*this)} {
  use_retention(options_.retention);
  run_effects();
}

Workspace::~Workspace() = default;

void Workspace::accept(std::unique_ptr<net::Stream> stream) {
  const ConnectionId id{++last_connection_};
  const net::Peer peer = stream->peer();
  ConnectionOwner& owner = *this;
  auto connection = std::make_unique<FrameConnection>(id, std::move(stream), owner);
  auto origin = options_.origin_of ? options_.origin_of(peer) : protocol::user_origin();
  broker_.on_connect(id, {.uid = peer.uid, .pid = peer.pid, .origin = std::move(origin)}, now());
  connection->start();
  connections_.emplace(id, std::move(connection));
  run_effects();
}

// From connections.

void Workspace::on_frame(ConnectionId from, std::string_view body) {
  broker_.on_frame(from, body, now());
  run_effects();
}

void Workspace::on_bad_stream(ConnectionId from, std::string_view reason) {
  broker_.on_bad_stream(from, reason, now());
  run_effects();
}

void Workspace::on_written(ConnectionId by, std::size_t bytes_left) {
  broker_.on_written(by, bytes_left, now());
  run_effects();
}

void Workspace::on_closed(ConnectionId from, const std::string& reason) {
  destroy_later(from);
  broker_.on_disconnect(from, reason, now());
  run_effects();
}

// From the store.

void Workspace::on_committed(records::CommitTicket up_to, records::EventSeq newest) {
  on_new_event(newest);
  broker_.on_committed(up_to, newest, now());
  run_effects();
}

void Workspace::on_events(records::EventSeq newest) {
  on_new_event(newest);
  broker_.on_newest_event(newest, now());
  run_effects();
}

void Workspace::on_new_event(records::EventSeq newest) {
  newest_event_ = std::max(newest_event_, newest);
  if (projection_ != nullptr) projection_->on_committed(newest_event_);
}

void Workspace::project_events(EventProjection& projection) {
  projection_ = &projection;
  projection.set_retention(options_.retention.max_event_age_ms);
  projection.start(newest_event_, [this](records::EventQuery query) {
    query.price_of = options_.price_of;
    const store::QueryId number{++last_query_};
    queries_.emplace(number, [this](Result<store::QueryResult> result) {
      if (result)
        projection_->on_page(std::get<records::EventPage>(*std::move(result)));
      else
        projection_->on_page(Failure{std::move(result).error()});
    });
    queue_->query(number, std::move(query));
  });
}

void Workspace::on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& error) {
  log::error("commit failed; its senders get NACK", {{"reason", error.message()}});
  broker_.on_commit_failed(from, to, error.message(), now());
  run_effects();
}

void Workspace::on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& request) {
  if (page)
    broker_.on_backlog(*std::move(page), now());
  else
    broker_.on_backlog_failed(request, page.error().message(), now());
  run_effects();
}

void Workspace::on_expired(Result<records::ExpireResult> result) {
  if (result) on_new_event(result->newest_event);
  if (result)
    broker_.on_expired(*result, now());
  else
    broker_.on_expire_failed(result.error().message(), now());
  run_effects();
}

void Workspace::on_query_result(store::QueryId id, Result<store::QueryResult> result) {
  auto callback = queries_.extract(id);
  if (callback.empty()) return;
  callback.mapped()(std::move(result));
  run_effects();
}

void Workspace::on_damage(const store::Damage& damage) {
  log::error("the message store is damaged", {{"damage", damage.message()}});
  broker_.on_damage({.finding = damage.joined_findings(),
                     .reason = damage.message(),
                     .lost_messages = damage.lost_messages,
                     .refused_changes = damage.refused,
                     .files = damage.files},
                    now());
  run_effects();
}

// Effects of the broker.

/// After every input: executes effects until there are none, parses resumed connections and arms the timer. Changes are
/// committed at the end of the turn, so inputs of one turn share a commit.
void Workspace::run_effects() {
  execute_effects(broker::Broker::Batching::KeepOpen);
  parse_resumed();
  schedule_commit();
  arm_tick();
  if (shutdown_done_ && broker_.is_idle()) end_shutdown();
}

void Workspace::schedule_commit() {
  if (commit_scheduled_ || !broker_.has_open_batch()) return;
  commit_scheduled_ = true;
  loop_.post([this, alive = lifetime_.watch()] {
    if (!alive) return;
    commit_scheduled_ = false;
    execute_effects(broker::Broker::Batching::Close);
  });
}

/// Resumed connections may have buffered frames that were read before the pause. Each is an input like any other; the
/// outermost call parses all of them, so the stack stays flat however many connections resume at once.
void Workspace::parse_resumed() {
  if (parsing_resumed_) return;
  parsing_resumed_ = true;
  while (!resumed_.empty()) {
    for (const ConnectionId id : std::exchange(resumed_, {})) {
      const auto found = connections_.find(id);
      if (found != connections_.end()) found->second->parse_buffered();
    }
  }
  parsing_resumed_ = false;
}

void Workspace::execute_effects(broker::Broker::Batching batching) {
  for (auto effects = broker_.take_effects(batching); !effects.empty(); effects = broker_.take_effects(batching)) {
    for (auto& effect : effects) {
      if (probe_) probe_(effect);
      std::visit([this](auto& one) { execute(one); }, effect);
    }
    broker_.recycle(std::move(effects));
  }
}

void Workspace::execute(broker::SendFrame& effect) {
  const auto found = connections_.find(effect.to);
  if (found == connections_.end()) return;
  FrameConnection& connection = *found->second;
  if (connection.bytes_waiting() + effect.frame.size() > options_.max_output_bytes) {
    return close_overflowing(connection);
  }
  connection.send(effect.frame);
}

void Workspace::close_overflowing(FrameConnection& connection) {
  const ConnectionId id = connection.id();
  const std::string reason = format("{} bytes of output are unread, which is the limit; read faster and connect again",
                                    connection.bytes_waiting());
  connection.send(protocol::write_envelope(
      {.type = protocol::MessageType::Error,
       .id = format("overflow-{}", id.value()),
       .ts = now().wall,
       .payload = protocol::write_error(protocol::ErrorCode::Busy, reason, protocol::Fatal::Yes)}));
  connection.close(net::Drain::Yes);
  destroy_later(id);
  broker_.on_disconnect(id, reason, now());
}

void Workspace::execute(broker::Close& effect) {
  const auto found = connections_.find(effect.connection);
  if (found == connections_.end()) return;
  log::debug("closing a connection", {{"reason", effect.reason}});
  found->second->close(effect.after == broker::After::Flush ? net::Drain::Yes : net::Drain::No);
  destroy_later(effect.connection);
  broker_.on_disconnect(effect.connection, effect.reason, now());  // a stream closed by its owner reports nothing
}

void Workspace::execute(broker::PauseReading& effect) {
  const auto found = connections_.find(effect.connection);
  if (found != connections_.end()) found->second->pause();
}

void Workspace::execute(broker::ResumeReading& effect) {
  const auto found = connections_.find(effect.connection);
  if (found == connections_.end()) return;
  found->second->resume();
  resumed_.push_back(effect.connection);
}

void Workspace::execute(broker::Persist& effect) {
  queue_->persist(effect.ticket, std::move(effect.changes), effect.mode);
}

void Workspace::execute(broker::LoadBacklog& effect) { queue_->load_backlog(std::move(effect.request)); }

void Workspace::execute(broker::ExpireDue& effect) { queue_->expire(std::move(effect.request)); }

void Workspace::execute(broker::QueryStore& effect) {
  if (auto* events = std::get_if<records::EventQuery>(&effect.query)) events->price_of = options_.price_of;
  const store::QueryId number{++last_query_};
  queries_.emplace(number, [this, id = effect.id](Result<store::QueryResult> result) {
    broker_.on_query_result(id, std::move(result), now());
  });
  queue_->query(number, std::move(effect.query));
}

template <typename Answer, typename Handler>
auto Workspace::when_done(broker::QueryId id, Handler handler) {
  return [this, alive = lifetime_.watch(), id, handler](Result<Answer> result) {
    if (!alive) return;
    (broker_.*handler)(id, std::move(result), now());
    run_effects();
  };
}

void Workspace::execute(broker::StartHost& effect) {
  if (hosts_ == nullptr) return broker_.on_host_started(effect.id, fail(std::string{kNoHosts}), now());
  hosts_->start(std::move(effect.spec), when_done<std::int32_t>(effect.id, &broker::Broker::on_host_started));
}

void Workspace::execute(broker::StopHost& effect) {
  if (hosts_ == nullptr) return broker_.on_host_done(effect.id, fail(std::string{kNoHosts}), now());
  hosts_->release(effect.name, effect.release, when_done<void>(effect.id, &broker::Broker::on_host_done));
}

void Workspace::execute(broker::SendHostInput& effect) {
  if (hosts_ == nullptr) return broker_.on_host_done(effect.id, fail(std::string{kNoHosts}), now());
  hosts_->type(effect.name, std::move(effect.data), when_done<void>(effect.id, &broker::Broker::on_host_done));
}

void Workspace::execute(broker::ListHosts& effect) {
  if (hosts_ == nullptr) return broker_.on_hosts(effect.id, fail(std::string{kNoHosts}), now());
  hosts_->list(when_done<std::vector<broker::Worker>>(effect.id, &broker::Broker::on_hosts));
}

void Workspace::execute(broker::AnswerPrompt& effect) {
  const auto id = effect.id;
  if (hosts_ == nullptr) return broker_.on_host_done(id, fail(std::string{kNoHosts}), now());
  hosts_->answer(std::move(effect), when_done<void>(id, &broker::Broker::on_host_done));
}

void Workspace::execute(broker::FindEndedSessions&) {
  broker_.on_ended_sessions(hosts_ == nullptr ? std::vector<protocol::EndedSession>{} : hosts_->ended_sessions(),
                            now());
}

void Workspace::execute(broker::ForgetEndedSession& effect) {
  if (hosts_ != nullptr) hosts_->forget_ended_session(effect.session);
}

void Workspace::execute(broker::NotifyUser& effect) {
  if (hosts_ != nullptr) hosts_->show_dialog(effect.agent, effect.request);
  if (attention_sink_) attention_sink_(effect);
}

void Workspace::execute(broker::RosterChanged& effect) {
  if (!roster_sink_) return;
  const Millis delay = effect.what == broker::RosterChange::Counts ? kCountsDelay : kRosterBurstMs;
  const SteadyTime due = std::max(now().steady + delay, roster_not_before_);
  if (roster_timer_ && roster_due_ <= due) return;
  roster_due_ = due;
  roster_timer_ = loop_.at(due, [this] { report_roster(); });
}

void Workspace::execute(broker::WriteLog& effect) { log::write(level_of(effect.level), effect.text, {}); }

void Workspace::destroy_later(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  // The connection may be on the call stack, so it is destroyed in a later turn of the loop.
  closing_.push_back(std::move(found->second));
  connections_.erase(found);
  if (closing_.size() > 1) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) closing_.clear();
  });
}

// Time.

void Workspace::arm_tick() {
  const auto wanted = broker_.next_tick();
  if (!wanted) return tick_timer_.reset();
  // An earlier timer stays armed: when it fires, the next tick is computed again, so traffic does not churn timers.
  if (tick_timer_ && tick_at_ <= *wanted) return;
  tick_at_ = *wanted;
  tick_timer_ = loop_.at(tick_at_, [this] { on_tick_timer(); });
}

void Workspace::on_tick_timer() {
  const auto fired = std::move(tick_timer_);
  const Timestamp time = now();
  const auto wanted = broker_.next_tick();
  if (wanted && *wanted <= time.steady) broker_.on_tick(time);
  run_effects();
}

void Workspace::report_roster() {
  const auto fired = std::move(roster_timer_);
  const SteadyTime start = now().steady;
  roster_sink_(broker_.roster(), now().wall);
  const SteadyTime end = now().steady;
  roster_not_before_ = end + (end - start) * kRosterTimeShare;
}

void Workspace::use_retention(store::Retention retention) {
  options_.retention = retention;
  if (projection_ != nullptr) projection_->set_retention(retention.max_event_age_ms);
  const bool wanted = retention.max_age_ms > 0 || retention.max_bytes > 0 || retention.max_event_age_ms > 0;
  if (!wanted)
    retention_timer_.reset();
  else if (!retention_timer_)
    arm_retention(kFirstRetention);
}

void Workspace::prune_unused_names(WallMs older_than) {
  broker_.forget_unused(older_than, now());
  run_effects();
}

void Workspace::arm_retention(Millis delay) {
  retention_timer_ = loop_.after(delay, [this] {
    queue_->prune(options_.retention, now().wall);
    if (options_.retention.max_age_ms > 0) prune_unused_names(now().wall - options_.retention.max_age_ms);
    arm_retention(kRetentionEvery);
  });
}

// Shutdown.

void Workspace::shut_down(net::Task done, std::string_view reason) {
  shutdown_done_ = std::move(done);
  shutdown_timer_ = loop_.after(kMaxShutdownWait, [this] {
    log::warn("commits are still in progress; ending without them");
    end_shutdown();
  });
  retention_timer_.reset();
  broker_.shut_down(now(), reason);
  run_effects();
}

void Workspace::end_shutdown() {
  if (!shutdown_done_) return;
  const auto timer = std::move(shutdown_timer_);
  if (roster_timer_) report_roster();
  loop_.post(std::exchange(shutdown_done_, nullptr));
}

}  // namespace relay::daemon
