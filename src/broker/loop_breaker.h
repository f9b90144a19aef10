/// The loop breaker stops agents that answer each other without new content.
///
/// Detection. Messages form chains. A message continues the chain that it declares (replyTo, a thread), else that of
///   the recipient's last message, if the sender has not answered it yet, else that of the last message its sender
///   received. So two agents that answer
///   each other are one chain, and so is a ring. When an ordered pair (from -> to) recurs in a chain, its turn is rated
///   by the words that it adds to the last turns. A turn is all messages of one agent before another one sends.
/// Rules, and the conversations that each is for
/// - The same words again: echoes, ping-pong, error texts that cause each other.
/// - Almost no new word of at least kLongWord characters (vocabulary.h): thanks and acknowledgements.
/// - A new number is new content, but not at machine pace: `step 12 of 500 done` is, `ping 12` within a second is not.
/// - A pair is stopped only if the pair it answers adds nothing new either: a worker that reports and gets `ok` every
///   time is not a loop.
/// - Suspicion decays when a message comes much later than the pace of the conversation: a poller never trips.
/// - kMaxHops turns without new words stop agents that only count. Other chains have no limit of hops: a number cannot
///   distinguish a loop from a long conversation.
/// - Messages of the user start a new chain. Neither they nor messages that only the user gets are counted or refused:
///   the user never answers automatically. The broker decides which names are the user (authority.h).
/// An open breaker refuses its pair for kFirstPause. Then one message passes: if it adds nothing new either, the pair
///   is refused again, twice as long (up to kMaxPause); else the breaker closes.
///
/// Bounds: every table has a constant; messages are stored as hashes. A forgotten entry can only let more pass.
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
  static constexpr Millis kRemembered{
      3'600'000};  // a breaker that trips again this soon after closing stays open longer
  static constexpr Millis kMachinePace{3'000};
  static constexpr Millis kMinIdleTime{30'000};   // an answer within this time is never late
  static constexpr Millis kMaxIdleTime{120'000};  // an answer after this time is always late
  static constexpr int kPaces = 3;                // between the two, an answer is late after kPaces times the last gap
  static constexpr Millis kSuspicionHalfLife{30'000};  // once an answer is late
  static constexpr unsigned kMaxHops = 2'000;
  static constexpr int kLimit = 100;         // of suspicion
  static constexpr int kMaxSuspicion = 130;  // so that new content has effect at once
  /// The suspicion that a turn adds to its pair, by the number of new words in it. Measured: thanks have about one new
  /// long word in a turn, work in sentences of ten words about three.
  static constexpr std::array kSuspicion = {30, 28, 12, -18, -70, -100};
  /// Repeated words are refused at this turn of a pair at the latest, or at the next one of the pair it answers: the
  /// first turn cannot repeat, each later one adds kSuspicion[0], and both pairs must reach kLimit.
  static constexpr unsigned kMaxRepeats = 2 + (kLimit + kSuspicion[0] - 1) / kSuspicion[0];
  static constexpr unsigned kWordsPerName = 3;  // thanks do not contain the name of a file
  static constexpr unsigned kWordsPerNumber = 3;
  static constexpr std::size_t kMaxChains = 4'096;
  static constexpr std::size_t kMaxPairs = 16'384;
  static constexpr std::size_t kMaxLast = 16'384;
  static constexpr std::size_t kMaxMarks = 8'192;  // message ids and threads that lead to a chain
  static constexpr std::size_t kMaxBreakers = 1'024;

  struct Sent {
    std::string_view from;  // empty: the user
    std::string_view to;    // a name, `#channel` or `*`
    std::string_view body;  // raw JSON string content, escaped or not
    std::string_view reply_to = {};
    std::string_view thread = {};
    // False: silent kinds, blocking requests and their answers, messages that only the user gets.
    bool counts = true;
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

  /// Why the message is refused; none: it may be sent.
  std::optional<std::string> check(const Sent& sent, Timestamp now);
  /// The message that was checked last is stored under this id and continues its chain.
  void on_stored(const Sent& sent, std::string_view id, Timestamp now);
  /// The breaker that the last check opened; the message itself may have passed.
  std::optional<Trip> take_trip() { return std::exchange(tripped_, std::nullopt); }

  /// The breakers that refuse now.
  [[nodiscard]] std::vector<Trip> open(Timestamp now) const;
  /// Closes the matching breakers (empty: any) and clears the suspicion; returns how many were open.
  std::size_t reset(std::string_view from, std::string_view to);
  /// An agent was removed.
  void forget(std::string_view name);

  [[nodiscard]] std::size_t bytes() const;

 private:
  using ChainId = std::uint64_t;  // 0: none; else a slot of `chains_` and its generation

  struct Chain {
    ChainId id = 0;
    Vocabulary vocabulary;
    std::uint64_t from = 0;  // of its last message
    std::uint64_t to = 0;
    std::uint64_t pair = 0;
    SteadyTime at{};
    Millis gap{};       // before the current turn
    unsigned hops = 0;  // turns since the last one with new words
    int suspicion = 0;  // of the pair of its last message
    bool answered = false;
    bool used = false;  // since the clock hand passed
  };
  /// An ordered pair within a chain.
  struct Pair {
    int suspicion = 0;
    int added = 0;       // by the current turn
    unsigned turns = 0;  // since the suspicion was 0
    SteadyTime at{};
    std::array<std::uint64_t, 4> fingerprints{};
    std::size_t next_fingerprint = 0;
  };
  /// The last message that an agent (or a group) received, or that a pair sent.
  struct Last {
    ChainId chain = 0;  // 0: it came from the user
    std::uint64_t serial = 0;
  };
  struct Breaker {
    Trip trip;
    SteadyTime until{};
    Millis pause{};
    bool closed = false;
  };
  using Breakers = std::map<std::uint64_t, Breaker>;  // by pair
  /// The result of the last check.
  struct TurnAssessment {
    ChainId chain = 0;
    std::uint64_t fingerprint = 0;
    Millis gap{};
    bool turn = false;  // another agent sent the message before
    bool nothing_new = false;
    bool loop = false;
  };
  struct Ends;  // the hashed names of a message

  Chain& chain_of(const Sent& sent, const Ends& ends);
  Chain* find_chain(ChainId id);
  Chain& new_chain();
  TurnAssessment assess(const Sent& sent, const Ends& ends, Chain& chain, Pair* pair, Timestamp now);
  Breakers::iterator breaker_of(const Ends& ends, Timestamp now);
  Breaker& trip(const Sent& sent, const Ends& ends, std::string reason, Timestamp now);

  std::vector<Chain> chains_;
  std::size_t hand_ = 0;  // of the clock algorithm that replaces chains
  LruTable<Pair> pairs_{kMaxPairs};
  LruTable<Last> last_{kMaxLast};
  LruTable<ChainId> marks_{kMaxMarks};
  Breakers breakers_;
  TurnAssessment assessment_;
  std::optional<Trip> tripped_;
  std::uint64_t serial_ = 0;
};

}  // namespace relay::broker
