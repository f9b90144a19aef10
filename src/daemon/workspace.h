/// Runs one project's broker: passes inputs to it and executes its effects.
///
/// Depends only on EventLoop, Stream, StoreQueue and Random, so that the simulation runs the same code on a virtual
///   clock, network and disk.
/// Invariants:
///   1. Effects are executed in the broker's order, and all of them before the next input; changes are passed to the
///      store once per turn of the loop.
///   2. At most one timer waits for the broker's next tick; an idle workspace otherwise wakes only for retention.
///   3. Unread output of a connection is bounded by `max_output_bytes`; beyond that it is closed with a fatal ERROR.
///   4. The roster is reported on change only, at most once per kRosterBurstMs.
/// Ownership: owns its broker, connections and store queue; borrows loop, random and hosts, which outlive it. Must not
///   be destroyed from inside one of its own callbacks: post it.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "broker/broker.h"
#include "daemon/frame_connection.h"
#include "daemon/rules.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/bye.h"
#include "store/queue/store_queue.h"

namespace relay::daemon {

inline constexpr std::size_t kMaxOutputBytes = 8 << 20;  // unread output of one connection
inline constexpr Millis kRosterBurstMs{200};             // changes within this time share one report
inline constexpr Millis kCountsDelay{1'000};             // the same for counts of sent and received messages
inline constexpr Millis kFirstRetention{60'000};         // after the start
inline constexpr Millis kRetentionEvery{3'600'000};
inline constexpr Millis kMaxShutdownWait{5'000};  // for commits in progress, before BYE

struct WorkspaceOptions {
  broker::BrokerLimits limits;
  broker::ServerInfo info;
  store::Retention retention;  // nothing is forgotten when both limits are 0
  std::size_t max_output_bytes = kMaxOutputBytes;
  records::PriceOf price_of = {};  // what usage costs, for the summary of a session
  /// Classifies a peer when its connection is accepted. Empty (simulation): every peer is the user's.
  std::function<protocol::PeerOrigin(const net::Peer& peer)> origin_of = {};
};

/// Creates the queue that reports to this listener. Called once, by the constructor.
using MakeStoreQueue = std::function<std::unique_ptr<store::StoreQueue>(store::StoreListener&)>;

/// Gets the whole roster after it changed (agents.json and its like). May be empty.
using RosterSink = std::function<void(const std::vector<broker::RosterEntry>& roster, WallMs now)>;

/// Called when an agent starts to wait for the user. May be empty.
using AttentionSink = std::function<void(const broker::NotifyUser& wanted)>;

/// Called with each effect before it is executed. May be empty; the simulation cuts the power here.
using EffectProbe = std::function<void(const broker::Effect& effect)>;

class EventProjection;
class HostManager;

class Workspace final : private store::StoreListener, private ConnectionOwner {
 public:
  Workspace(WorkspaceOptions options, net::EventLoop& loop, Random& random, const MakeStoreQueue& make_queue,
            records::WorkspaceState state, RosterSink roster_sink = {}, EffectProbe probe = {},
            HostManager* hosts = nullptr);
  ~Workspace() override;

  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// A new client. The stream has not been started yet.
  void accept(std::unique_ptr<net::Stream> stream);

  /// Sends BYE to every client, waits for commits in progress (at most kMaxShutdownWait), then calls `done` once.
  /// Streams keep flushing their output after the Workspace is destroyed.
  void shut_down(net::Task done, std::string_view reason = protocol::kDaemonStopping);

  /// Passes events to the projection from now on, after their commits. It outlives the workspace.
  void project_events(EventProjection& projection);

  /// Applies the rules from the next prompt on.
  void use_rules(const Rules& rules) {
    if (rules.permissions) broker_.use_policy(rules.permissions);
    if (rules.spawn) broker_.use_spawn_policy(rules.spawn);
  }
  void set_attention_sink(AttentionSink sink) { attention_sink_ = std::move(sink); }

  /// Applies from the next round of retention on.
  void use_retention(store::Retention retention);
  /// Removes agents not used since, as each round of retention does.
  void prune_unused_names(WallMs older_than);

  [[nodiscard]] bool is_idle() const { return broker_.is_idle(); }
  [[nodiscard]] std::size_t connection_count() const { return connections_.size(); }
  [[nodiscard]] std::vector<broker::RosterEntry> roster() const { return broker_.roster(); }

 private:
  // ConnectionOwner
  void on_frame(ConnectionId from, std::string_view body) override;
  void on_bad_stream(ConnectionId from, std::string_view reason) override;
  void on_written(ConnectionId by, std::size_t bytes_left) override;
  void on_closed(ConnectionId from, const std::string& reason) override;

  // StoreListener
  void on_committed(records::CommitTicket up_to, records::EventSeq newest) override;
  void on_events(records::EventSeq newest) override;
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& why) override;
  void on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& request) override;
  void on_expired(Result<records::ExpireResult> result) override;
  void on_query_result(store::QueryId id, Result<store::QueryResult> result) override;
  void on_damage(const store::Damage& damage) override;

  void on_new_event(records::EventSeq newest);
  void run_effects();
  void schedule_commit();
  void execute_effects(broker::Broker::Batching batching);
  void parse_resumed();
  void execute(broker::SendFrame& effect);
  void execute(broker::Close& effect);
  void execute(broker::PauseReading& effect);
  void execute(broker::ResumeReading& effect);
  void execute(broker::Persist& effect);
  void execute(broker::LoadBacklog& effect);
  void execute(broker::ExpireDue& effect);
  void execute(broker::QueryStore& effect);
  void execute(broker::StartHost& effect);
  void execute(broker::StopHost& effect);
  void execute(broker::SendHostInput& effect);
  void execute(broker::ListHosts& effect);
  void execute(broker::AnswerPrompt& effect);
  void execute(broker::FindEndedSessions& effect);
  void execute(broker::ForgetEndedSession& effect);
  void execute(broker::NotifyUser& effect);
  void execute(broker::RosterChanged& effect);
  void execute(broker::WriteLog& effect);

  /// Passes the result of a host request to the broker, unless the workspace was destroyed meanwhile.
  template <typename Answer, typename Handler>
  auto when_done(broker::QueryId id, Handler handler);
  void close_overflowing(FrameConnection& connection);
  void destroy_later(ConnectionId id);
  void arm_tick();
  void on_tick_timer();
  void report_roster();
  void arm_retention(Millis delay);
  void end_shutdown();
  [[nodiscard]] Timestamp now() const { return loop_.now(); }

  WorkspaceOptions options_;
  net::EventLoop& loop_;
  RosterSink roster_sink_;
  AttentionSink attention_sink_;
  EffectProbe probe_;
  HostManager* hosts_;  // null where no agent can be run
  EventProjection* projection_ = nullptr;
  records::EventSeq newest_event_;
  broker::Broker broker_;

  std::unordered_map<ConnectionId, std::unique_ptr<FrameConnection>> connections_;
  std::vector<std::unique_ptr<FrameConnection>> closing_;  // closed, but perhaps still on the call stack
  std::vector<ConnectionId> resumed_;                      // their buffered frames are parsed once effects are done
  std::uint64_t last_connection_ = 0;

  std::unordered_map<store::QueryId, std::move_only_function<void(Result<store::QueryResult>)>> queries_;
  std::uint64_t last_query_ = 0;

  std::unique_ptr<net::Timer> tick_timer_;
  SteadyTime tick_at_{};
  std::unique_ptr<net::Timer> roster_timer_;
  SteadyTime roster_due_{};         // when it fires
  SteadyTime roster_not_before_{};  // a long report is not repeated at once
  std::unique_ptr<net::Timer> retention_timer_;
  std::unique_ptr<net::Timer> shutdown_timer_;
  net::Task shutdown_done_;
  bool parsing_resumed_ = false;
  bool commit_scheduled_ = false;  // the end of this turn is posted

  std::unique_ptr<store::StoreQueue> queue_;  // after the members that its results use: it stops first
  Lifetime lifetime_;
};

}  // namespace relay::daemon
