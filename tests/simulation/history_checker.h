/// Checks from outside every message that was sent, stored, acknowledged and received.
///
/// Guarantees, checked as soon as they can be broken:
///   acknowledged ⇒ stored; delivered ⇒ stored; no message received twice by one process of a client, nor by any of its
///   processes if it keeps its positions; order of numbers, and of sending, within a stream; Delivered ⇒ received.
/// States are true: Delivered ⇒ injected and pending by its host, or taken by a session that is the agent; Seen ⇒ seen;
///   failed, in doubt or cancelled ⇒ a session or the operator caused it; a RECEIPT matches a stored entry, in order.
/// Exactly one surface: a host never injects a message again, unless the operator redelivered it.
/// If the disk damages files between two runs of the daemon, the promise is weaker: an acknowledged message arrives,
///   has a visible final state, or is counted as lost and reported.
/// At every start of the daemon and at the end: stored and not final ⇒ visibly pending, and nothing else is; at the end
///   the store's history equals the model's, entry by entry, and so does the event log, numbered without a gap. The
///   DeliveryModel checks each step, the LivenessChecker that every pending delivery has a next step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "client/stream_positions.h"
#include "protocol/send.h"
#include "store/message_store.h"
#include "tests/simulation/delivery_model.h"
#include "tests/simulation/liveness_checker.h"
#include "tests/simulation/observed_store.h"
#include "tests/simulation/trace.h"

namespace relay::simulation {

enum class SendStatus { Sent, Acknowledged, Refused, Unknown };  // Unknown: its sender lost its record
enum class Memory { Positions, Nothing };                        // what a receiving client has after a crash

struct SentMessage {
  std::string from;
  std::string to;  // as addressed
  std::string topic;
  bool ordered = true;  // the outbox keeps the order in every case
  bool short_ttl = false;
  std::string key = {};    // its idempotency key
  std::size_t filler = 0;  // bytes of the body after its number
  SendStatus status = SendStatus::Sent;
};

class HistoryChecker final : public StoreObserver {
 public:
  HistoryChecker(Trace& trace, const VirtualLoop& loop) : trace_{trace}, loop_{loop} {}

  [[nodiscard]] const std::optional<std::string>& violation() const { return violation_; }
  void violate(const std::string& what);
  /// Reports a violation that damage may cause: damage removes reported commits, so a message may come again.
  void violate_unless_damaged(const std::string& what);

  /// Registers a client; only its deliveries are awaited. Bad clients get messages too and never report them.
  enum class Name { Claimed, Free };  // any client that takes a free name gets its messages
  void add_client(const std::string& client, Name name, const SessionCapabilities& capabilities) {
    clients_.insert(client);
    if (name == Name::Claimed) owners_.insert(client);
    if (capabilities.queue) hosts_.insert(client);
    liveness_.add_client(client, capabilities);
  }

  // Reports of clients.
  std::uint64_t on_send(SentMessage message);  // its number, which its body carries
  void on_id(std::uint64_t number, const std::string& id);
  void on_send_failed(std::uint64_t number);
  /// Its sender may lose it without a report.
  void on_unconfirmed(std::uint64_t number) { doubt(number); }
  void mark_unknown(const std::string& client);
  void on_ack(const std::string& id);
  void on_nack(const std::string& id, const std::string& code);
  void on_received(const std::string& client, int process, Memory memory, const client::DeliveryRef& ref,
                   std::string_view payload);

  /// A host injected it into its agent.
  void on_injected(const std::string& client, const client::DeliveryRef& ref);
  /// A session is about to report this about a delivery.
  void on_report(const client::DeliveryRef& ref, const protocol::Receipt& receipt);
  void on_unpause_request(const std::string& agent) { pauses_[agent].unpause_requested = true; }
  void on_cancel_request(const std::string& delivery) { cancel_requests_.insert(delivery); }
  void on_session_report(const std::string& client, SessionReport report, std::string& number);
  /// A client lost its connection or died with these deliveries unsettled.
  void on_session_lost(const std::string& client, const std::set<std::string>& unsettled);
  void on_session(const std::string& client, const std::string& session) { liveness_.set_session(client, session); }

  // Reports of the daemon and its store.
  void on_daemon_start();
  void on_daemon_frame(broker::ConnectionId to, std::string_view frame);
  void on_daemon_commit(const records::Changes& changes);
  void on_clock_jump() { liveness_.on_clock_jump(loop_.now()); }
  void on_durable(const StoreChanges& group) override;
  void on_doubt(StoreChanges group) override { doubtful_ = std::move(group); }

  /// Checks that every pending delivery has a next step. Called when the daemon has nothing to do.
  void check_pending(const std::vector<broker::RosterEntry>& roster);
  /// Some delivery that is not final (or the other way round), drawn by the number; empty when there is none.
  [[nodiscard]] std::string some_delivery(std::uint64_t draw, bool final) const;

  /// The disk damages a file. From then on each acknowledged message arrives, becomes final visibly, or is counted.
  void on_disk_damage(const std::string& what) {
    trace_.line("disk: {}", what);
    damaged_ = true;
  }
  /// The store was opened and found damaged.
  void on_store_damage(const store::Damage& damage);
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t lost_count() const { return lost_.size(); }
  [[nodiscard]] std::uint64_t daemon_starts() const { return daemon_starts_; }
  /// The response to a STATUS that was requested in that process of the daemon.
  void on_status(std::uint64_t requested_in, std::string_view payload);

  /// Compares the pending deliveries of the store with those of the model.
  void check_store(store::MessageStore& store);

  /// No message is unanswered and no delivery is open.
  [[nodiscard]] bool is_settled() const { return awaited_ == 0 && unanswered_ == 0; }
  [[nodiscard]] std::string unsettled() const;
  void check_end(store::MessageStore& store);

  [[nodiscard]] std::uint64_t sent_count() const { return messages_.size(); }
  [[nodiscard]] std::uint64_t received_count() const { return received_count_; }
  [[nodiscard]] std::uint64_t acknowledged_count() const { return acknowledged_; }
  [[nodiscard]] std::uint64_t injected_count() const { return injected_.size(); }
  [[nodiscard]] std::uint64_t check_count() const { return check_count_; }
  [[nodiscard]] const DeliveryModel& model() const { return model_; }

  static std::string body_of(std::uint64_t number, std::size_t filler = 0);
  /// The whole body of a message that was sent; empty for another number.
  [[nodiscard]] std::string sent_body(std::uint64_t number) const;
  /// The agent was paused when the message to it was stored, and no unpause was requested since.
  [[nodiscard]] bool is_paused_since_stored(std::uint64_t number, const std::string& agent) const;

 private:
  struct Delivery {
    std::uint64_t number = 0;
    std::string to;
  };
  struct Process {
    std::map<std::tuple<std::string, std::string, protocol::Lane>, std::uint64_t> seqs;  // by topic, from, lane
    std::map<std::uint64_t, std::string> numbers;                                        // as which delivery
  };
  /// The reports of sessions about one delivery.
  struct ReportedOutcome {
    records::Proof proof = records::Proof::Stored;  // the strongest
    bool failed = false, in_doubt = false, returned = false;
  };
  using PendingRows = std::map<std::int64_t, records::Delivery>;
  PendingRows pending_in(store::MessageStore& store, const records::WorkspaceState& snapshot);
  void reconcile(store::MessageStore& store, const PendingRows& pending);
  void on_expired(const records::ExpireResult& result);
  void report_violation(const std::optional<std::string>& violation);
  void check_end_state(const Row& row, const records::ChangeDelivery& change);
  void check_receipt(const protocol::Receipt& receipt);
  void check_order(const std::string& reader, const client::DeliveryRef& ref, std::uint64_t number);
  [[nodiscard]] bool ended_in(store::MessageStore& store, std::uint64_t number, const std::string& to) const;
  void check_history(store::MessageStore& store);
  void check_events(store::MessageStore& store);
  [[nodiscard]] bool is_stored(std::uint64_t number) const;
  [[nodiscard]] bool is_commit_stored(store::MessageStore& store, Key newest) const;
  void doubt(std::uint64_t number);
  void open(std::int64_t key);
  void close(std::int64_t key);

  Trace& trace_;
  const VirtualLoop& loop_;
  DeliveryModel model_;
  LivenessChecker liveness_{model_};
  std::optional<std::string> violation_;
  std::vector<SentMessage> messages_;  // by number, from 1
  std::map<std::string, std::uint64_t> by_id_;
  std::map<std::int64_t, std::uint64_t> by_key_;  // message key → number
  std::set<std::uint64_t> stored_;
  std::map<std::int64_t, Delivery> deliveries_;               // every one that was ever to be made
  std::set<std::int64_t> open_;                               // those that are not final
  std::set<std::pair<std::uint64_t, std::string>> received_;  // number, program
  std::map<std::pair<std::string, int>, Process> process_count_;
  std::map<std::string, std::map<std::uint64_t, std::string>> received_ever_;  // programs that keep positions
  std::map<std::tuple<std::string, std::string, std::string, protocol::Lane>, std::uint64_t>
      last_sent_;                                                                // by reader, topic, from, lane
  std::map<std::string, ReportedOutcome> outcomes_;                              // by delivery
  std::set<std::string> injected_;                                               // deliveries
  std::map<std::pair<std::string, std::string>, std::set<std::uint64_t>> keys_;  // by from, key: those stored
  std::set<std::string> cancel_requests_;
  std::map<std::int64_t, WallMs> sent_at_;  // by message key
  struct Pause {
    bool paused = false;
    bool unpause_requested = false;  // which may take effect before it is durable
    std::uint64_t count = 0;         // of changes
  };
  std::map<std::string, Pause> pauses_;                                       // by agent
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> paused_at_;  // by number, agent: the pause it met
  Key newest_;                                                                // stored
  StoreChanges doubtful_;  // of the commit that a power cut interrupted
  std::set<std::string> clients_;
  std::set<std::string> owners_;  // those that claimed their name
  std::set<std::string> hosts_;   // those that bring messages to an agent
  bool has_unnumbered_ = false;   // some message got no id when it was sent
  std::size_t unanswered_ = 0;
  std::size_t awaited_ = 0;  // of the open ones, those to programs
  std::uint64_t received_count_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t check_count_ = 0;
  bool damaged_ = false;          // ever
  std::set<std::uint64_t> lost_;  // by damage
  std::uint64_t reported_lost_ = 0;
  std::uint64_t daemon_starts_ = 0, damaged_start_ = 0;
};

}  // namespace relay::simulation
