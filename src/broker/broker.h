/// The broker of one workspace: frames, ticks and results of commits and queries go in; an ordered list of effects
/// comes out.
///
/// Why pure: the whole system can run in one thread under a simulated clock, disk and network, and the order
///   "durable first, then sent" is a list that a test can read.
/// Invariants:
///   1. An ACK for a SEND and its DELIVERs are emitted only after `on_committed` of the commit that holds it.
///   2. Every SEND is answered (ACK, NACK, or ERROR for clients without send_ack); none is dropped silently.
///   3. At most `max_inflight` unacknowledged deliveries per session; the rest stays in the store.
///   4. Within one stream (topic, from → to, lane) deliveries are sent in the order of their numbers.
///   5. One live owner per agent name (a user may be connected several times).
///   6. All state is bounded by BrokerLimits and the number of agents.
/// This class sets the clock and passes each input to the part that handles it (broker_parts.h).
/// Ownership: borrows the Random, which outlives it. Threading: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "broker/broker_limits.h"
#include "broker/effects.h"
#include "broker/peer_process.h"
#include "broker/roster.h"
#include "broker/server_info.h"
#include "broker/spawn_policy.h"
#include "permissions/policy.h"
#include "protocol/bye.h"
#include "protocol/ended_session.h"
#include "records/store_query.h"

namespace relay::broker {

struct BrokerParts;

class Broker {
 public:
  Broker(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState state, Random& random, Timestamp now);
  ~Broker();

  // Connections.
  void on_connect(ConnectionId connection, PeerProcess peer, Timestamp now);
  /// One frame's JSON body, as it came.
  void on_frame(ConnectionId connection, std::string_view frame, Timestamp now);
  /// The stream broke the framing rules. The peer gets the reason and is closed.
  void on_bad_stream(ConnectionId connection, std::string_view reason, Timestamp now);
  /// The kernel took bytes of the stream; `left` are still queued.
  void on_written(ConnectionId connection, std::size_t left, Timestamp now);
  void on_disconnect(ConnectionId connection, std::string_view reason, Timestamp now);

  // The store.
  /// `newest` is the number of the last event in the log.
  void on_committed(records::CommitTicket up_to, records::EventSeq newest, Timestamp now);
  /// The log has events up to this number, from earlier commits.
  void on_newest_event(records::EventSeq newest, Timestamp now);
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why, Timestamp now);
  void on_damage(const StoreDamage& damage, Timestamp now);
  void on_backlog(records::BacklogPage page, Timestamp now);
  void on_backlog_failed(const records::BacklogRequest& request, std::string_view why, Timestamp now);
  void on_expired(const records::ExpireResult& result, Timestamp now);
  void on_expire_failed(std::string_view why, Timestamp now);
  /// The result of QueryStore.
  void on_query_result(QueryId id, Result<records::StoreResult> result, Timestamp now);

  // Results of requests to hosts.
  void on_host_started(QueryId id, Result<std::int32_t> pid, Timestamp now);
  void on_host_done(QueryId id, Result<void> outcome, Timestamp now);  // StopHost, SendHostInput, AnswerPrompt
  void on_hosts(QueryId id, Result<std::vector<Worker>> workers, Timestamp now);
  /// Records that hosts left of their ended sessions (FindEndedSessions). May be empty.
  void on_ended_sessions(const std::vector<protocol::EndedSession>& ended, Timestamp now);

  /// The permissions that are decided without the user, from the next prompt on. Before the first call: none.
  void use_policy(std::shared_ptr<const permissions::Policy> policy);
  /// Which agents other agents may start. Before the first call: none.
  void use_spawn_policy(std::shared_ptr<const SpawnPolicy> policy);

  // Time.
  void on_tick(Timestamp now);
  /// Forgets names that were last used before `older_than`, in several commits if there are many.
  void forget_unused(WallMs older_than, Timestamp now);
  /// When `on_tick` must be called next; empty when no timer is armed.
  [[nodiscard]] std::optional<SteadyTime> next_tick() const;

  /// Sends BYE to every connection and closes it; later frames are ignored. SENDs that are being committed still get
  /// their answer. The peers get `reason`.
  void shut_down(Timestamp now, std::string_view reason = protocol::kDaemonStopping);
  /// True once no commit is pending.
  [[nodiscard]] bool is_idle() const;

  /// The effects since the last call, in order. While the batch is kept open, its commit is not among them yet: the
  /// changes of several inputs then share one commit.
  enum class Batching : std::uint8_t { Close, KeepOpen };
  [[nodiscard]] Effects take_effects(Batching batching = Batching::Close);
  /// Executed effects: their memory is reused.
  void recycle(Effects effects);
  /// True if the open batch has changes to commit.
  [[nodiscard]] bool has_open_batch() const;

  [[nodiscard]] std::vector<RosterEntry> roster() const;

 private:
  /// The parts, with this time.
  BrokerParts& at(Timestamp now);

  std::unique_ptr<BrokerParts> parts_;
};

}  // namespace relay::broker
