/// The heart: frames, ticks, commit and load results go in; an ordered list of effects comes out.
///
/// Why pure: the whole system can run in one thread under a simulated clock, disk and network, and the order
///   "first the log, then the word" is a list that a test can read.
/// Invariants:
///   1. An ACK for a SEND and its DELIVERs are emitted only after `on_committed` of the commit that holds it.
///   2. Every SEND is answered (ACK, NACK, or ERROR for clients without send_ack); none is dropped silently.
///   3. At most `max_inflight` unacknowledged deliveries per session; the rest waits in the store, not here.
///   4. Within one stream (topic, from → to, lane) deliveries are sent in the order of their numbers.
///   5. One living owner per agent name (users may have several windows).
///   6. Everything kept here is bounded by BrokerLimits and the number of known agents.
/// Ownership: borrows the Random, which outlives it. Threading: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "broker/effects.h"
#include "broker/spawn_policy.h"
#include "permissions/policy.h"
#include "protocol/bye.h"
#include "protocol/ended_session.h"
#include "protocol/limits.h"
#include "protocol/peer_origin.h"
#include "records/queries.h"

namespace relay::broker {

/// Who connected, by the kernel's word.
struct PeerProcess {
  std::uint32_t uid = 0;
  std::int32_t pid = 0;
  protocol::PeerOrigin origin = {};  // as the daemon classified it when it accepted the connection
};

struct BrokerLimits {
  std::int64_t heartbeat_ms = protocol::kHeartbeatMs;
  std::int64_t handshake_ms = protocol::kHandshakeTimeoutMs;
  std::int64_t ack_timeout_ms = protocol::kAckTimeoutMs;
  std::int64_t session_grace_ms = 60'000;   // a lost session is still present; then it ends as crashed
  std::int64_t claim_lease_ms = 3'600'000;  // a claimed name stays its owner's this long after it was lost
  std::int64_t default_ttl_ms = 7LL * 24 * 3600 * 1000;
  std::uint64_t max_backlog = 1'000'000;  // pending deliveries per recipient
  // What waits for a commit, per connection; reading pauses beyond. Messages are what the next word waits behind.
  std::size_t max_uncommitted_bytes = 256 << 10;   // with another message, of who speaks alone
  std::size_t shared_uncommitted_bytes = 2 << 10;  // the same of each who speaks, when several do; a frame at least
  std::size_t max_remembered_bytes = 4 << 20;      // with anything else: answers, topics, votes
  std::size_t max_uncommitted_total = 128 << 20;   // of all connections, for memory's sake
  std::size_t max_waiting_bytes = 1 << 20;         // handed to a stream and not taken by its peer: nothing new is sent
  std::size_t max_page_rows = 512;                 // deliveries held ready per recipient
  std::size_t max_page_bytes = 1 << 20;
  double rate_per_second = 100'000;  // SENDs per sender; 0 is no limit
  double rate_burst = 200'000;
  std::size_t max_known_agents = 100'000;           // the longest unused are forgotten for new ones
  std::size_t max_description_bytes = 64ULL << 20;  // of what they tell of themselves, together; the same
  std::size_t max_streams = 1'000'000;              // (topic, from → to) with a number
  std::size_t max_topic_streams = 16'384;           // of those, with a topic and of one sender; idle ones are forgotten
  std::size_t max_open_queries = 64;                // per connection
  std::size_t max_starting = 64;                    // agents being started for others at once
  std::size_t max_starting_each = 16;               // of those, per connection
  bool explain = false;                             // a debug note for every decision
  bool break_loops = true;                          // agents that only echo each other are stopped
};

/// What the broker tells about its surroundings to STATUS, HEALTH and METRICS; the probes read the machine.
struct ProcessUsage {
  std::uint64_t rss_bytes = 0;
  double cpu_percent = 0;
};
struct MachineUsage {
  std::uint64_t total_memory = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t own_memory = 0;
};
struct ServerInfo {
  std::string version;
  std::string storage_driver;
  bool persistent = false;
  std::string damage = {};            // of the store: a sentence; empty: none was found
  std::uint64_t lost_messages = 0;    // by that, at most
  std::uint64_t refused_changes = 0;  // acknowledged ones that the store refuses and keeps for its next opening
  std::string durability = {};        // what an accepted message survives: `power` or `process`; empty: neither
  std::function<ProcessUsage(std::int32_t pid)> process_usage = {};
  std::function<MachineUsage()> machine_usage = {};
  std::string system_token = {};           // shown by the daemon's own programs; empty: nobody can
  std::optional<SteadyTime> started = {};  // of the daemon; without it the broker's own start counts
};

/// Damage of the store that was found after its opening.
struct StoreDamage {
  std::string finding;                  // which file, what is wrong, the next step
  std::string reason;                   // the same with what is lost, where that is known
  std::uint64_t lost_messages = 0;      // at most
  std::uint64_t refused_changes = 0;    // in all
  std::vector<std::string> files = {};  // that were set aside
};

/// One row of the roster (agents.json, LIST_AGENTS).
struct RosterEntry {
  records::Agent agent;
  bool connected = false;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t pending = 0;
  std::string state = {};         // of its session, as it told; empty when it is not connected or never did
  std::string reason = {};        // why what is for it waits
  std::string capabilities = {};  // what it can do, as it told: a JSON object
  std::uint64_t held = 0;         // of `pending`, what waits for a time or for somebody's word
  std::string session = {};       // its id, while it is connected
  WallMs offline_since = 0;       // 0 while it is connected
};

class Broker {
 public:
  Broker(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState snapshot, Random& random, Timestamp now);
  ~Broker();

  // What happens to connections.
  void on_connect(ConnectionId connection, PeerProcess peer, Timestamp now);
  /// One frame's JSON body, as it came.
  void on_frame(ConnectionId connection, std::string_view frame, Timestamp now);
  /// The stream broke the framing rules; the reason is told to the peer and it is closed.
  void on_bad_stream(ConnectionId connection, std::string_view reason, Timestamp now);
  /// The peer took bytes from its queue; `left` still wait there.
  void on_written(ConnectionId connection, std::size_t left, Timestamp now);
  void on_disconnect(ConnectionId connection, std::string_view reason, Timestamp now);

  // What the store answers.
  /// `newest` is the number of the last event there is.
  void on_committed(records::CommitTicket up_to, records::EventSeq newest, Timestamp now);
  /// There are events up to this number, of what was committed earlier.
  void on_newest_event(records::EventSeq newest, Timestamp now);
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why, Timestamp now);
  void on_damage(const StoreDamage& damage, Timestamp now);
  void on_backlog(records::BacklogPage page, Timestamp now);
  void on_backlog_failed(const records::BacklogRequest& asked, std::string_view why, Timestamp now);
  void on_expired(records::ExpireResult result, Timestamp now);
  void on_expire_failed(std::string_view why, Timestamp now);
  void on_messages(QueryId id, Result<std::vector<records::MessageRow>> rows, Timestamp now);
  void on_trace(QueryId id, Result<records::Trace> trace, Timestamp now);
  void on_stats(QueryId id, Result<records::StoreStats> stats, Timestamp now);
  void on_held(QueryId id, Result<records::HeldPage> page, Timestamp now);
  void on_dead(QueryId id, Result<std::vector<records::DeadLetter>> letters, Timestamp now);
  void on_events(QueryId id, Result<records::EventPage> page, Timestamp now);
  void on_usage(QueryId id, Result<std::vector<records::UsageSum>> sums, Timestamp now);
  void on_session(QueryId id, Result<records::SessionRow> row, Timestamp now);

  // What became of agents that run for others.
  void on_host_started(QueryId id, Result<std::int32_t> pid, Timestamp now);
  void on_host_done(QueryId id, Result<void> outcome, Timestamp now);  // EndHost, TypeIntoHost
  void on_hosts(QueryId id, Result<std::vector<Worker>> workers, Timestamp now);

  void on_host_answered(QueryId id, Result<void> outcome, Timestamp now);  // AnswerPrompt
  /// What hosts left of sessions that ended unheard (FindEndedSessions). May be empty.
  void on_ended_sessions(const std::vector<protocol::EndedSession>& ended, Timestamp now);

  /// What is approved without a person, from the next request on. Before the first call: nothing.
  void use_policy(std::shared_ptr<const permissions::Policy> policy);
  /// Which agents other agents may start. Before the first call: none.
  void use_spawn_policy(std::shared_ptr<const SpawnPolicy> policy);

  // Time.
  void on_tick(Timestamp now);
  /// Forgets names that were last used before then, in several commits when they are many.
  void forget_unused(WallMs older_than, Timestamp now);
  /// When `on_tick` is wanted next; empty when nothing waits for time.
  [[nodiscard]] std::optional<SteadyTime> next_tick() const;

  /// Says BYE to everyone and closes; further frames are ignored. What is being committed still gets its answer.
  /// `reason` is a sentence for all of them.
  void shut_down(Timestamp now, std::string_view reason = protocol::kDaemonStopping);
  /// True once nothing waits for a commit.
  [[nodiscard]] bool is_idle() const;

  /// The effects since the last call, in order. While gathering goes on, what is to be saved is not among them yet: what
  /// many inputs change then shares one commit.
  enum class Batching : std::uint8_t { Close, KeepOpen };
  [[nodiscard]] Effects take_effects(Batching gathering = Batching::Close);
  /// Effects that are carried out: their room is used again.
  void recycle(Effects effects);
  /// Does anything wait for the gathering to end?
  [[nodiscard]] bool has_open_batch() const;

  [[nodiscard]] std::vector<RosterEntry> roster() const;

 private:
  std::unique_ptr<class Core> core_;
};

}  // namespace relay::broker
