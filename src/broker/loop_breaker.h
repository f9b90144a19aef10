/// The loop breaker: agents that answer each other for ever are stopped; those who have something to say are not.
///
/// How it sees a loop. What an agent says continues a chain: the one it declares (replyTo, a thread that is known), else
///   that of the message it has not answered yet, else that of whatever it heard last. So two who answer each other are one chain,
///   and so is a ring. Along a chain an ordered pair (from -> to) that comes round again is judged by what its turn adds
///   to the words of the last turns. A turn is everything one agent says before another speaks: a burst counts once.
/// The rules, and what each is for
/// - The same words again: echoes, ping-pong, error texts that call forth each other.
/// - Hardly a new word of kLongWord letters: thanks and acknowledgements, however they are phrased. Small words tell
///   nothing: both kinds of talk are full of them.
/// - A new number is news, but not at machine pace: `step 12 of 500 done` is progress, `ping 12` within a second is not.
/// - A pair is stopped only when the one it answers says nothing new either: a worker who reports and is told `ok` every
///   time is no loop.
/// - What comes much later than the pace of the talk was not called forth by it, and forgives: a poller never trips.
/// - kMaxHops turns without one turn of new words: the end of those who only count. Chains that say something new have
///   no such end: a bare number of hops cannot tell a loop from a long honest conversation.
/// - The messages of the user start afresh and are no turns; what only the user hears is none either. Neither is refused:
///   the user answers nobody by itself. The broker decides who is the user (authority.h).
/// A breaker that opens refuses its pair for kFirstPause. Then one message passes: if it says nothing new either, the
///   pair is refused again, twice as long (up to kLongestPause); if it does, the breaker closes.
///
/// Bounds: every table below has a constant; texts are kept as hashes. Whatever is forgotten can only let more pass.
/// Threading: the broker's. Time is an argument.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "broker/lru_table.h"
#include "broker/vocabulary.h"

namespace relay::broker {

class LoopBreaker {
 public:
  static constexpr Millis kFirstPause{60'000};
  static constexpr Millis kMaxPause{3'600'000};
  static constexpr Millis kRemembered{3'600'000};  // a closed breaker: when it trips again, it stays open longer
  static constexpr Millis kMachinePace{3'000};
  static constexpr Millis kMinIdleTime{30'000};   // no answer takes too long before that,
  static constexpr Millis kMaxIdleTime{120'000};  // each does after that; between, kPaces times the turn before
  static constexpr int kPaces = 3;
  static constexpr Millis kForgiveHalf{30'000};  // of such silence
  static constexpr unsigned kMaxHops = 2'000;
  static constexpr int kLimit = 100;         // of suspicion
  static constexpr int kMaxSuspicion = 130;  // so that news is felt at once
  /// What a turn adds to the suspicion of its pair, by how much in it is new. Measured: talk of thanks has about one new
  /// long word in a turn, sober talk in sentences of ten words about three.
  static constexpr std::array kSuspicion = {30, 28, 12, -18, -70, -100};
  /// The same words are refused at this turn of a pair at the latest, or at the next one of the pair it answers: the first turn
  /// cannot repeat any, each later one adds kSuspicion[0], and both pairs must reach kLimit.
  static constexpr unsigned kMaxRepeats = 2 + (kLimit + kSuspicion[0] - 1) / kSuspicion[0];
  static constexpr unsigned kNewsPerName = 3;  // in words: nobody thanks with the name of a file
  static constexpr unsigned kNewsPerNumber = 3;
  static constexpr std::size_t kMaxChains = 4'096;
  static constexpr std::size_t kMaxPairs = 16'384;
  static constexpr std::size_t kMaxLast = 16'384;
  static constexpr std::size_t kMaxMarks = 8'192;  // message ids and threads that lead to a chain
  static constexpr std::size_t kMaxBreakers = 1'024;

  struct Sent {
    std::string_view from;  // empty: the user
    std::string_view to;    // a name, `#channel` or `*`
    std::string_view body;  // as in the JSON text, escaped or not
    std::string_view reply_to = {};
    std::string_view thread = {};
    // False: kinds `state` and `ack`, questions and their answers, what only the user hears; these do not count.
    bool wakes = true;
  };

  struct Trip {
    std::string from;
    std::string to;
    std::string reason;
    WallMs at = 0;
    WallMs until = 0;
    std::uint64_t trips = 0;
    std::uint64_t refused = 0;
  };

  /// A sentence when this may not be sent now.
  std::optional<std::string> check(const Sent& sent, Timestamp now);
  /// What was asked about last is stored under this id: the chain goes on.
  void taken(const Sent& sent, std::string_view id, Timestamp now);
  /// The breaker that the last question opened; it may have let that message itself pass.
  std::optional<Trip> take_trip() { return std::exchange(tripped_, std::nullopt); }

  /// Those that refuse now.
  [[nodiscard]] std::vector<Trip> open(Timestamp now) const;
  /// Closes and forgives those that fit (empty: any); how many were open.
  std::size_t reset(std::string_view from, std::string_view to);
  /// An agent was removed.
  void forget(std::string_view name);

  [[nodiscard]] std::size_t bytes() const;

 private:
  using ChainId = std::uint64_t;  // 0: none; else a slot of `chains_` and its use

  struct Chain {
    ChainId id = 0;
    Vocabulary vocabulary;
    std::uint64_t speaker = 0;
    std::uint64_t hearer = 0;  // of what was said last
    std::uint64_t pair = 0;    // that spoke last
    SteadyTime at{};
    Millis gap{};       // before the turn under way
    unsigned hops = 0;  // turns since one had new words
    int said = 0;       // its suspicion
    bool answered = false;
    bool used = false;  // since the hand came by
  };
  /// An ordered pair within a chain.
  struct Pair {
    int suspicion = 0;
    int added = 0;       // by the turn under way
    unsigned turns = 0;  // since there was no suspicion
    SteadyTime at{};
    std::array<std::uint64_t, 4> prints{};
    std::size_t next_print = 0;
  };
  /// The last thing that an agent (or a room) heard, or that a pair said.
  struct Last {
    ChainId chain = 0;  // 0: it came from a person
    std::uint64_t serial = 0;
  };
  struct Breaker {
    Trip trip;
    SteadyTime until{};
    Millis pause{};
    bool closed = false;
  };
  using Breakers = std::map<std::uint64_t, Breaker>;  // by pair
  /// What the last question found out.
  struct TurnAssessment {
    ChainId chain = 0;
    std::uint64_t print = 0;
    Millis gap{};
    bool turn = false;  // another one spoke before
    bool nothing_new = false;
    bool loop = false;
  };
  struct Ends;  // the hashed names of a message

  Chain& chain_of(const Sent& sent, const Ends& ends);
  Chain* living(ChainId id);
  Chain& new_chain();
  TurnAssessment assess(const Sent& sent, const Ends& ends, Chain& chain, Pair* pair, Timestamp now);
  Breakers::iterator breaker_of(const Ends& ends, Timestamp now);
  Breaker& trip(const Sent& sent, const Ends& ends, std::string reason, Timestamp now);

  std::vector<Chain> chains_;
  std::size_t hand_ = 0;
  LruTable<Pair> pairs_{kMaxPairs};
  LruTable<Last> last_{kMaxLast};
  LruTable<ChainId> marks_{kMaxMarks};
  Breakers breakers_;
  TurnAssessment verdict_;
  std::optional<Trip> tripped_;
  std::uint64_t serial_ = 0;
};

}  // namespace relay::broker
