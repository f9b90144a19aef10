/// The judge: checks every message that was sent, stored, acknowledged and received, seen from outside.
///
/// Promises, checked as soon as they can be broken:
///   acknowledged ⇒ stored; delivered ⇒ stored; no message received twice by one process of a client, nor by any of its
///   processes if it keeps its positions; order of numbers, and of sending, within a stream; Delivered ⇒ received.
/// States are true: Delivered ⇒ injected and shown by its host, or taken by a session that is the agent; Seen ⇒ seen;
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

enum class Fate { Said, Acknowledged, Refused, Doubtful };  // Doubtful: the saying program lost its memory of it
enum class Keeps { Positions, Nothing };                    // what a receiving program has after its own crash

struct SentMessage {
  std::string from;
  std::string to;  // as addressed
  std::string topic;
  bool ordered = true;  // the outbox keeps the order whatever happens
  bool short_ttl = false;
  std::string wish = {};  // its idempotency key
  Fate fate = Fate::Said;
};

class HistoryChecker final : public StoreObserver {
 public:
  HistoryChecker(Trace& trace, const VirtualLoop& loop) : trace_{trace}, loop_{loop} {}

  [[nodiscard]] const std::optional<std::string>& violation() const { return violation_; }
  void violate(const std::string& what);
  /// Reports a violation that damage may cause: damage takes back reported commits, so a message may come again.
  void violate_unless_damaged(const std::string& what);

  /// Registers a client; only its deliveries are awaited. Bad clients get messages too and never report them.
  enum class Name { Claimed, Free };  // any client that takes a free name gets its messages
  void knows(const std::string& program, Name name, const Able& able) {
    programs_.insert(program);
    if (name == Name::Claimed) owners_.insert(program);
    if (able.queue) hosts_.insert(program);
    alarm_.knows(program, able);
  }

  // Reports of clients.
  std::uint64_t say(SentMessage saying);  // its number, which its body carries
  void has_id(std::uint64_t number, const std::string& id);
  void could_not_be_said(std::uint64_t number);
  void doubt_all_of(const std::string& program);
  void acknowledged(const std::string& id);
  void refused(const std::string& id, const std::string& code);
  void handed_up(const std::string& program, int life, Keeps keeps, const client::DeliveryRef& place,
                 std::string_view payload);

  /// A host injected it into its agent.
  void surfaced(const std::string& program, const client::DeliveryRef& place);
  /// A session is about to report this about a delivery.
  void reports(const client::DeliveryRef& place, const protocol::Receipt& receipt);
  void wants_cancelled(const std::string& delivery) { cancel_wanted_.insert(delivery); }
  void tells(const std::string& program, Told told, std::string& number);
  /// A client lost its connection or died with these deliveries unsettled.
  void loses_session(const std::string& program, const std::set<std::string>& in_hand);
  void has_session(const std::string& program, const std::string& session) { alarm_.session_of(program, session); }

  // Reports of the daemon and its store.
  void daemon_starts();
  void daemon_says(broker::ConnectionId to, std::string_view frame);
  void daemon_saves(const records::Changes& changes);
  void clock_jumps() { alarm_.clock_jumps(loop_.now()); }
  void on_durable(const Deeds& group) override;
  void on_doubt(Deeds group) override { doubtful_ = std::move(group); }

  /// Checks that every pending delivery has a next step. Called when the daemon has nothing to do.
  void look_for_untouched(const std::vector<broker::RosterEntry>& roster);
  /// Some delivery that is not final (or the other way round), drawn by the number; empty when there is none.
  [[nodiscard]] std::string some_delivery(std::uint64_t draw, bool final) const;

  /// The disk damages a file. From then on each acknowledged message arrives, becomes final visibly, or is counted.
  void disk_damages(const std::string& what) {
    trace_.line("disk: {}", what);
    damaged_ = true;
  }
  /// The store was opened and found damaged.
  void store_damaged(const store::Damage& damage);
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t lost_count() const { return lost_.size(); }
  [[nodiscard]] std::uint64_t daemon_lives() const { return daemon_lives_; }
  /// The answer to a STATUS that was asked in that life of the daemon.
  void hears_status(std::uint64_t asked_in, std::string_view payload);

  /// Compares the pending deliveries of the store with those of the model.
  void check_store(store::MessageStore& store);

  /// Nothing is left to wait for.
  [[nodiscard]] bool settled() const { return awaited_ == 0 && unanswered_ == 0; }
  [[nodiscard]] std::string unsettled() const;
  void check_end(store::MessageStore& store);

  [[nodiscard]] std::uint64_t said() const { return sayings_.size(); }
  [[nodiscard]] std::uint64_t handed_up_count() const { return handed_up_; }
  [[nodiscard]] std::uint64_t acknowledged_count() const { return acknowledged_; }
  [[nodiscard]] std::uint64_t surfaced_count() const { return surfaced_.size(); }
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  [[nodiscard]] const DeliveryModel& book() const { return book_; }

  static std::string body_of(std::uint64_t number);

 private:
  struct Delivery {
    std::uint64_t number = 0;
    std::string to;
  };
  struct Life {
    std::map<std::tuple<std::string, std::string, protocol::Lane>, std::uint64_t> seqs;  // by topic, from, lane
    std::map<std::uint64_t, std::string> numbers;                                        // as which delivery
  };
  /// The reports of sessions about one delivery.
  struct Words {
    records::Proof proof = records::Proof::Stored;  // the strongest
    bool failed = false, doubted = false, given_back = false;
  };
  using Shown = std::map<std::int64_t, records::Delivery>;
  Shown pending_in(store::MessageStore& store, const records::WorkspaceState& snapshot);
  void reconcile(store::MessageStore& store, const Shown& shown);
  void on_expired(const records::ExpireResult& result);
  void judge(const std::optional<std::string>& verdict);
  void judge_end(const Row& row, const records::ChangeDelivery& change);
  void check_receipt(const protocol::Receipt& receipt);
  void check_order(const std::string& reader, const client::DeliveryRef& place, std::uint64_t number);
  [[nodiscard]] bool ended_in(store::MessageStore& store, std::uint64_t number, const std::string& to) const;
  void check_history(store::MessageStore& store);
  void check_events(store::MessageStore& store);
  [[nodiscard]] bool stored_as_wished(std::uint64_t number) const;
  [[nodiscard]] bool happened(store::MessageStore& store, Key newest) const;
  void doubt(std::uint64_t number);
  void open(std::int64_t key);
  void close(std::int64_t key);

  Trace& trace_;
  const VirtualLoop& loop_;
  DeliveryModel book_;
  LivenessChecker alarm_{book_};
  std::optional<std::string> violation_;
  std::vector<SentMessage> sayings_;  // by number, from 1
  std::map<std::string, std::uint64_t> by_id_;
  std::map<std::int64_t, std::uint64_t> by_key_;  // message key → number
  std::set<std::uint64_t> stored_;
  std::map<std::int64_t, Delivery> deliveries_;          // every one that was ever to be made
  std::set<std::int64_t> open_;                          // those that are not final
  std::set<std::pair<std::uint64_t, std::string>> got_;  // number, program
  std::map<std::pair<std::string, int>, Life> lives_;
  std::map<std::string, std::map<std::uint64_t, std::string>> ever_;  // programs that keep positions
  std::map<std::tuple<std::string, std::string, std::string, protocol::Lane>, std::uint64_t>
      last_said_;                                                                  // by reader, topic, from, lane
  std::map<std::string, Words> words_;                                             // by delivery
  std::set<std::string> surfaced_;                                                 // deliveries
  std::map<std::pair<std::string, std::string>, std::set<std::uint64_t>> wishes_;  // by from, key: those stored
  std::set<std::string> cancel_wanted_;
  std::map<std::int64_t, WallMs> said_at_;  // by message key
  Key newest_;                              // stored
  Deeds doubtful_;                          // of the commit the power went away in
  std::set<std::string> programs_;
  std::set<std::string> owners_;  // those that claimed their name
  std::set<std::string> hosts_;   // those that bring messages to an agent
  bool nameless_ = false;         // some message got no id when it was said
  std::size_t unanswered_ = 0;
  std::size_t awaited_ = 0;  // of the open ones, those to programs
  std::uint64_t handed_up_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t looks_ = 0;
  bool damaged_ = false;          // ever
  std::set<std::uint64_t> lost_;  // by damage
  std::uint64_t lost_told_ = 0;
  std::uint64_t daemon_lives_ = 0, damaged_life_ = 0;
};

}  // namespace relay::simulation
