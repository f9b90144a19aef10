#include "broker/loop_breaker.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/format.h"
#include "protocol/names.h"

namespace relay::broker {

namespace {

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

std::uint64_t joined(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t both = (a * 0x9E3779B97F4A7C15ULL) ^ (b + 0x632BE59BD9B4E019ULL);
  return (both ^ (both >> 31U)) * 0xBF58476D1CE4E5B9ULL;
}

/// A group of recipients; its messages are one chain.
bool is_group(std::string_view to) {
  return to.starts_with('#') || to == protocol::kEveryone || to == protocol::kAllUsers;
}

Millis between(SteadyTime from, SteadyTime to) { return std::chrono::duration_cast<Millis>(to - from); }

}  // namespace

struct LoopBreaker::Ends {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  [[nodiscard]] std::uint64_t pair() const { return joined(from, to); }
  [[nodiscard]] std::uint64_t reverse_pair() const { return joined(to, from); }
};

std::optional<std::string> LoopBreaker::check(const Sent& sent, Timestamp now) {
  assessment_ = {};
  if (!sent.counts || sent.from.empty()) return std::nullopt;
  ++serial_;
  const Ends ends{hash_of(sent.from), hash_of(sent.to)};
  const auto refused = [&](Breaker& opened) {
    ++opened.trip.refused;
    const auto wait = std::chrono::ceil<std::chrono::seconds>(opened.until - now.steady);
    if (sent.from == sent.to)
      return format(
          "{0} seems to be in a loop with itself: {1}. Its messages to itself are refused for {2} s; the user can end "
          "this with: agent-relay loops reset {0} {0}",
          sent.from, opened.trip.reason, wait.count());
    return format(
        "{0} and {1} seem to be in a loop: {2}. Messages from {0} to {1} are refused for {3} s. Do not answer without "
        "new content; the user can end this with: agent-relay loops reset {0} {1}",
        sent.from, sent.to, opened.trip.reason, wait.count());
  };
  const auto breaker = breaker_of(ends, now);
  const bool half_open = breaker != breakers_.end() && !breaker->second.closed;
  if (half_open && now.steady < breaker->second.until) return refused(breaker->second);

  Chain& chain = chain_of(sent, ends);
  Pair* const pair = pairs_.find(joined(ends.pair(), chain.id));
  assessment_ = assess(sent, ends, chain, pair, now);
  const auto reason = [&] {
    if (chain.hops >= kMaxHops) return format("{} turns in a row had no new word", chain.hops);
    return format("the last {} turns from {} to {} had nothing new, nor had the turns they answer", pair->turns,
                  sent.from, sent.to);
  };
  if (half_open && assessment_.nothing_new) {
    trip(sent, ends, reason(), now);
  } else if (half_open) {
    breaker->second.closed = true;
    if (pair != nullptr) pair->suspicion = std::min(pair->suspicion, kLimit / 2);
  } else if (assessment_.loop) {
    Breaker& opened = trip(sent, ends, reason(), now);
    if (chain.hops >= kMaxHops) chain.hops = 0;
    auto reason_of_refusal = refused(opened);
    tripped_ = opened.trip;
    return reason_of_refusal;
  }
  return std::nullopt;
}

LoopBreaker::Chain& LoopBreaker::chain_of(const Sent& sent, const Ends& ends) {
  for (const std::string_view mark : {sent.reply_to, sent.thread}) {
    if (mark.empty()) continue;
    const ChainId* const declared = marks_.find(hash_of(mark));
    if (Chain* const chain = declared == nullptr ? nullptr : find_chain(*declared)) return *chain;
  }
  const auto last = [&](std::uint64_t key) {
    const Last* const found = last_.find(key);
    return found == nullptr ? Last{} : *found;
  };
  const Last sent_last = last(ends.pair());
  const Last answered = last(is_group(sent.to) ? ends.to : ends.reverse_pair());
  const Last received = last(ends.from);
  Last cause = sent_last;
  if (received.serial > cause.serial) cause = received;
  const bool by_user = cause.serial == received.serial && received.chain == 0;
  if (answered.serial > sent_last.serial && !by_user) cause = answered;
  Chain* const chain = find_chain(cause.chain);
  return chain == nullptr ? new_chain() : *chain;
}

LoopBreaker::Chain* LoopBreaker::find_chain(ChainId id) {
  if (id == 0) return nullptr;
  Chain& chain = chains_[id % kMaxChains];
  return chain.id == id ? &chain : nullptr;
}

LoopBreaker::Chain& LoopBreaker::new_chain() {
  std::size_t slot = chains_.size();
  if (slot < kMaxChains) {
    chains_.emplace_back();
  } else {
    while (std::exchange(chains_[hand_].used, false)) hand_ = (hand_ + 1) % kMaxChains;
    slot = std::exchange(hand_, (hand_ + 1) % kMaxChains);
    chains_[slot] = {};
  }
  chains_[slot].id = serial_ * kMaxChains + slot;
  return chains_[slot];
}

LoopBreaker::TurnAssessment LoopBreaker::assess(const Sent& sent, const Ends& ends, Chain& chain, Pair* pair,
                                                Timestamp now) {
  // An agent that writes to itself answers itself: such a message is a turn, and so is the sender's next one.
  TurnAssessment assessment{.chain = chain.id,
                            .turn = chain.from != ends.from || chain.to == ends.from || ends.from == ends.to};
  // Without an answer there is nothing to assess: a stream of messages in one direction costs almost nothing.
  if (chain.from == 0 || (!assessment.turn && !chain.answered)) return assessment;
  if (assessment.turn) chain.vocabulary.next_turn();
  const TextNovelty novelty = chain.vocabulary.read(sent.body);
  assessment.fingerprint = novelty.fingerprint;
  // In a group the messages of different agents interleave, so an agent's own pace counts.
  const SteadyTime before = is_group(sent.to) && pair != nullptr ? pair->at : chain.at;
  assessment.gap = assessment.turn ? between(before, now.steady) : chain.gap;
  if (pair == nullptr) return assessment;

  const auto suspicion_of = [](unsigned new_words) {
    return kSuspicion[std::min<std::size_t>(new_words, kSuspicion.size() - 1)];
  };
  const bool repeats = std::ranges::find(pair->fingerprints, novelty.fingerprint) != pair->fingerprints.end();
  const unsigned numbers = assessment.gap > kMachinePace ? novelty.new_numbers : 0;
  const unsigned words = novelty.new_words + kWordsPerName * novelty.new_names;
  const int points = suspicion_of(repeats ? 0 : words + kWordsPerNumber * numbers);
  assessment.nothing_new = points > 0;
  if (!assessment.turn) {
    // `On it.`, and then the report: the best message of a turn counts.
    if (points < 0) pair->suspicion = std::max(0, pair->suspicion - std::exchange(pair->added, 0) + points);
    return assessment;
  }
  chain.hops = suspicion_of(words) < 0 ? 0 : chain.hops + 1;
  const Millis max_gap = std::clamp(kPaces * chain.gap, kMinIdleTime, kMaxIdleTime);
  if (assessment.gap > max_gap) {
    const double half_lives =
        static_cast<double>((assessment.gap - max_gap).count()) / static_cast<double>(kSuspicionHalfLife.count());
    pair->suspicion = static_cast<int>(pair->suspicion * std::exp2(-half_lives));
  }
  pair->suspicion = std::clamp(pair->suspicion + points, 0, kMaxSuspicion);
  if (Pair* const answered = points < 0 ? pairs_.find(joined(chain.pair, chain.id)) : nullptr) {
    answered->suspicion = std::max(0, answered->suspicion + points);
  }
  pair->added = std::max(0, points);
  pair->turns = pair->suspicion == 0 ? 0 : pair->turns + 1;
  assessment.loop = (points > 0 && pair->suspicion >= kLimit && chain.suspicion >= kLimit) || chain.hops >= kMaxHops;
  return assessment;
}

void LoopBreaker::on_stored(const Sent& sent, std::string_view id, Timestamp now) {
  if (!sent.counts) return;
  const Ends ends{hash_of(sent.from), hash_of(sent.to)};
  if (sent.from.empty()) {
    ++serial_;
    last_.at(ends.to, serial_) = {0, serial_};
    return;
  }
  const TurnAssessment assessment = std::exchange(assessment_, {});
  Chain* const found = find_chain(assessment.chain);
  if (found == nullptr) return;
  Chain& chain = *found;
  Pair& pair = pairs_.at(joined(ends.pair(), chain.id), serial_);
  pair.at = now.steady;
  pair.fingerprints[pair.next_fingerprint] = assessment.fingerprint;
  pair.next_fingerprint = (pair.next_fingerprint + 1) % pair.fingerprints.size();
  if (assessment.turn) chain.gap = assessment.gap;
  chain.answered = chain.answered || (assessment.turn && chain.from != 0);
  chain.from = ends.from;
  chain.to = ends.to;
  chain.pair = ends.pair();
  chain.at = now.steady;
  chain.suspicion = pair.suspicion;
  chain.used = true;
  last_.at(ends.pair(), serial_) = {chain.id, serial_};
  last_.at(ends.to, serial_) = {chain.id, serial_};
  if (!id.empty()) marks_.at(hash_of(id), serial_) = chain.id;
  if (sent.thread.empty()) return;
  // A thread's first message belongs to the chain it came from: new threads for every message do not evade the check.
  ChainId& thread = marks_.at(hash_of(sent.thread), serial_);
  if (find_chain(thread) == nullptr) thread = new_chain().id;  // invalidates `chain`
}

LoopBreaker::Breakers::iterator LoopBreaker::breaker_of(const Ends& ends, Timestamp now) {
  if (breakers_.empty()) return breakers_.end();
  const auto place = breakers_.find(ends.pair());
  if (place == breakers_.end() || now.steady < place->second.until + kRemembered) return place;
  breakers_.erase(place);
  return breakers_.end();
}

LoopBreaker::Breaker& LoopBreaker::trip(const Sent& sent, const Ends& ends, std::string reason, Timestamp now) {
  if (breakers_.size() >= kMaxBreakers && !breakers_.contains(ends.pair())) {
    breakers_.erase(std::ranges::min_element(breakers_, {}, [](const auto& entry) { return entry.second.until; }));
  }
  Breaker& breaker = breakers_[ends.pair()];
  breaker.pause = breaker.trip.trips == 0 ? kFirstPause : std::min(kMaxPause, 2 * breaker.pause);
  breaker.until = now.steady + breaker.pause;
  breaker.closed = false;
  breaker.trip = {.from = std::string{sent.from},
                  .to = std::string{sent.to},
                  .reason = std::move(reason),
                  .at = now.wall,
                  .until = now.wall + breaker.pause.count(),
                  .trips = breaker.trip.trips + 1,
                  .refused = breaker.trip.refused};
  tripped_ = breaker.trip;
  return breaker;
}

std::vector<LoopBreaker::Trip> LoopBreaker::open(Timestamp now) const {
  std::vector<Trip> trips;
  for (const auto& [pair, breaker] : breakers_) {
    if (!breaker.closed && now.steady < breaker.until) trips.push_back(breaker.trip);
  }
  return trips;
}

std::size_t LoopBreaker::reset(std::string_view from, std::string_view to) {
  std::size_t count = 0;
  for (auto place = breakers_.begin(); place != breakers_.end();) {
    const auto& [pair, breaker] = *place;
    if ((!from.empty() && breaker.trip.from != from) || (!to.empty() && breaker.trip.to != to)) {
      ++place;
      continue;
    }
    count += breaker.closed ? 0 : 1;
    if (const Last* const last = last_.find(pair)) pairs_.erase(joined(pair, last->chain));
    place = breakers_.erase(place);
  }
  return count;
}

void LoopBreaker::forget(std::string_view name) {
  std::erase_if(breakers_,
                [&](const auto& entry) { return entry.second.trip.from == name || entry.second.trip.to == name; });
  last_.erase(hash_of(name));
}

std::size_t LoopBreaker::bytes() const {
  return chains_.capacity() * sizeof(Chain) + pairs_.bytes() + last_.bytes() + marks_.bytes();
}

}  // namespace relay::broker
