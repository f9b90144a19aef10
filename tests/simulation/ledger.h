/// What really happened, seen from outside: every message said, stored, acknowledged and handed up. The judge.
///
/// Promises checked as they could be broken, at once:
///   acknowledged ⇒ stored; delivered ⇒ stored; nothing handed up twice in one life of a program, nor in all its lives
///   when it keeps its positions; order of numbers, and of saying, within a stream; Delivered in the ledger ⇒ handed up.
/// And at every start of the daemon and at the end: stored and not final ⇒ visibly pending, and nothing else is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "client/stream_positions.h"
#include "store/message_store.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/watched_store.h"

namespace relay::simulation {

enum class Fate { Said, Acknowledged, Refused, Doubtful };  // Doubtful: the saying program lost its memory of it
enum class Keeps { Positions, Nothing };                    // what a receiving program has after its own crash

struct Saying {
  std::string from;
  std::string to;  // as addressed
  std::string topic;
  bool ordered = true;  // the outbox keeps the order whatever happens
  bool short_ttl = false;
  Fate fate = Fate::Said;
};

class Ledger final : public StoreWitness {
 public:
  explicit Ledger(Trace& trace) : trace_{trace} {}

  [[nodiscard]] const std::optional<std::string>& violation() const { return violation_; }
  void violate(const std::string& what);

  /// Only deliveries to these are waited for; bad clients get mail too and never say so.
  enum class Name { Claimed, Free };  // whoever takes a free name gets its mail
  void knows(const std::string& program, Name name) {
    programs_.insert(program);
    if (name == Name::Claimed) owners_.insert(program);
  }

  // What programs do and hear.
  std::uint64_t say(Saying saying);  // its number, which its body carries
  void has_id(std::uint64_t number, const std::string& id);
  void could_not_be_said(std::uint64_t number);
  void doubt_all_of(const std::string& program);
  void acknowledged(const std::string& id);
  void refused(const std::string& id, const std::string& code);
  void handed_up(const std::string& program, int life, Keeps keeps, const client::Place& place,
                 std::string_view payload);

  // What the daemon says and stores.
  void daemon_says(std::string_view frame);
  void on_durable(const records::Changes& changes) override;
  void on_expired(const records::ExpireResult& result) override;
  void on_doubt(records::Changes changes, const std::vector<records::ExpireResult>& expired) override;

  /// Compares what the store shows as pending with what it must.
  void check_store(store::MessageStore& store);

  /// Is there nothing left to wait for?
  [[nodiscard]] bool settled() const { return awaited_ == 0 && unanswered_ == 0; }
  [[nodiscard]] std::string unsettled() const;
  void check_end();

  [[nodiscard]] std::uint64_t said() const { return sayings_.size(); }
  [[nodiscard]] std::uint64_t handed_up_count() const { return handed_up_; }
  [[nodiscard]] std::uint64_t acknowledged_count() const { return acknowledged_; }

  static std::string body_of(std::uint64_t number);

 private:
  struct Delivery {
    std::uint64_t number = 0;
    std::string to;
  };
  struct Life {
    std::map<std::tuple<std::string, std::string, protocol::Lane>, std::uint64_t> seqs;  // by topic, from, lane
    std::set<std::uint64_t> numbers;
  };
  void doubt(std::uint64_t number);
  void open(std::int64_t key);
  void close(std::int64_t key);
  [[nodiscard]] std::set<std::int64_t> pending_with_doubtful() const;

  Trace& trace_;
  std::optional<std::string> violation_;
  std::vector<Saying> sayings_;  // by number, from 1
  std::map<std::string, std::uint64_t> by_id_;
  std::map<std::int64_t, std::uint64_t> by_key_;  // message key → number
  std::set<std::uint64_t> stored_;
  std::map<std::int64_t, Delivery> deliveries_;          // every one that was ever to be made
  std::set<std::int64_t> open_;                          // those that are not final
  std::set<std::pair<std::uint64_t, std::string>> got_;  // number, program
  std::map<std::pair<std::string, int>, Life> lives_;
  std::map<std::string, std::set<std::uint64_t>> ever_;  // programs that keep positions
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> last_said_;  // to, topic, from
  records::Changes doubtful_changes_;  // of the commit the power went away in
  std::vector<records::ExpireResult> doubtful_expired_;
  std::set<std::string> programs_;
  std::set<std::string> owners_;  // those that claimed their name
  bool nameless_ = false;         // some message got no id when it was said
  std::size_t unanswered_ = 0;
  std::size_t awaited_ = 0;  // of the open ones, those to programs
  std::uint64_t handed_up_ = 0;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace relay::simulation
