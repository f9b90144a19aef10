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

/// Everybody in it hears it: what is said there is one chain.
bool is_room(std::string_view to) {
  return to.starts_with('#') || to == protocol::kEveryone || to == protocol::kAllUsers;
}

Millis between(SteadyTime from, SteadyTime to) { return std::chrono::duration_cast<Millis>(to - from); }

}  // namespace

struct LoopBreaker::Ends {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  [[nodiscard]] std::uint64_t there() const { return joined(from, to); }
  [[nodiscard]] std::uint64_t back() const { return joined(to, from); }
};

std::optional<std::string> LoopBreaker::check(const Sent& sent, Timestamp now) {
  verdict_ = {};
  if (!sent.wakes || sent.from.empty()) return std::nullopt;
  ++serial_;
  const Ends ends{hash_of(sent.from), hash_of(sent.to)};
  const auto refused = [&](Breaker& breaker) {
    ++breaker.trip.refused;
    const auto wait = std::chrono::ceil<std::chrono::seconds>(breaker.until - now.steady);
    if (sent.from == sent.to)
      return format(
          "{0} seems to be in a loop with itself: {1}. What it says to itself is refused for {2} s; a person lifts "
          "this "
          "with: agent-relay loops reset {0} {0}",
          sent.from, breaker.trip.reason, wait.count());
    return format(
        "{0} and {1} seem to be in a loop: {2}. What {0} says to {1} is refused for {3} s. Do not answer unless there "
        "is "
        "something new to say; a person lifts this with: agent-relay loops reset {0} {1}",
        sent.from, sent.to, breaker.trip.reason, wait.count());
  };
  const auto known = breaker_of(ends, now);
  const bool half_open = known != breakers_.end() && !known->second.closed;
  if (half_open && now.steady < known->second.until) return refused(known->second);

  Chain& chain = chain_of(sent, ends);
  Pair* const pair = pairs_.find(joined(ends.there(), chain.id));
  verdict_ = assess(sent, ends, chain, pair, now);
  const auto reason = [&] {
    if (chain.hops >= kMaxHops) return format("{} turns in a row had no new word", chain.hops);
    return format("the last {} turns from {} to {} said nothing new, nor did what they answer", pair->turns, sent.from,
                  sent.to);
  };
  if (half_open && verdict_.nothing_new) {
    trip(sent, ends, reason(), now);
  } else if (half_open) {
    known->second.closed = true;
    if (pair != nullptr) pair->suspicion = std::min(pair->suspicion, kLimit / 2);
  } else if (verdict_.loop) {
    Breaker& opened = trip(sent, ends, reason(), now);
    if (chain.hops >= kMaxHops) chain.hops = 0;
    auto sentence = refused(opened);
    tripped_ = opened.trip;
    return sentence;
  }
  return std::nullopt;
}

LoopBreaker::Chain& LoopBreaker::chain_of(const Sent& sent, const Ends& ends) {
  for (const std::string_view mark : {sent.reply_to, sent.thread}) {
    if (mark.empty()) continue;
    const ChainId* const declared = marks_.find(hash_of(mark));
    if (Chain* const chain = declared == nullptr ? nullptr : living(*declared)) return *chain;
  }
  const auto last = [&](std::uint64_t key) {
    const Last* const found = last_.find(key);
    return found == nullptr ? Last{} : *found;
  };
  const Last said = last(ends.there());
  const Last from_there = last(is_room(sent.to) ? ends.to : ends.back());
  const Last heard = last(ends.from);
  Last cause = said;
  if (heard.serial > cause.serial) cause = heard;
  const bool by_a_person = cause.serial == heard.serial && heard.chain == 0;
  if (from_there.serial > said.serial && !by_a_person) cause = from_there;
  Chain* const chain = living(cause.chain);
  return chain == nullptr ? new_chain() : *chain;
}

LoopBreaker::Chain* LoopBreaker::living(ChainId id) {
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
  // Who writes to itself answers itself: such a message is a turn, and so is the next of the same sender.
  TurnAssessment verdict{.chain = chain.id,
                         .turn = chain.speaker != ends.from || chain.hearer == ends.from || ends.from == ends.to};
  // As long as nobody answers there is nothing to judge: a stream of messages one way costs next to nothing.
  if (chain.speaker == 0 || (!verdict.turn && !chain.answered)) return verdict;
  if (verdict.turn) chain.vocabulary.next_turn();
  const TextNovelty reading = chain.vocabulary.read(sent.body);
  verdict.print = reading.print;
  // In a room people speak past each other: there an agent's own pace counts.
  const SteadyTime before = is_room(sent.to) && pair != nullptr ? pair->at : chain.at;
  verdict.gap = verdict.turn ? between(before, now.steady) : chain.gap;
  if (pair == nullptr) return verdict;

  const auto suspicion_of = [](unsigned news) {
    return kSuspicion[std::min<std::size_t>(news, kSuspicion.size() - 1)];
  };
  const bool repeats = std::ranges::find(pair->prints, reading.print) != pair->prints.end();
  const unsigned numbers = verdict.gap > kMachinePace ? reading.new_numbers : 0;
  const unsigned words = reading.new_words + kNewsPerName * reading.new_names;
  const int points = suspicion_of(repeats ? 0 : words + kNewsPerNumber * numbers);
  verdict.nothing_new = points > 0;
  if (!verdict.turn) {
    // `On it.`, and then the report: a turn is as good as the best that was said in it.
    if (points < 0) pair->suspicion = std::max(0, pair->suspicion - std::exchange(pair->added, 0) + points);
    return verdict;
  }
  chain.hops = suspicion_of(words) < 0 ? 0 : chain.hops + 1;
  const Millis in_time = std::clamp(kPaces * chain.gap, kMinIdleTime, kMaxIdleTime);
  if (verdict.gap > in_time) {
    const double halves =
        static_cast<double>((verdict.gap - in_time).count()) / static_cast<double>(kForgiveHalf.count());
    pair->suspicion = static_cast<int>(pair->suspicion * std::exp2(-halves));
  }
  pair->suspicion = std::clamp(pair->suspicion + points, 0, kMaxSuspicion);
  if (Pair* const answered = points < 0 ? pairs_.find(joined(chain.pair, chain.id)) : nullptr) {
    answered->suspicion = std::max(0, answered->suspicion + points);
  }
  pair->added = std::max(0, points);
  pair->turns = pair->suspicion == 0 ? 0 : pair->turns + 1;
  verdict.loop = (points > 0 && pair->suspicion >= kLimit && chain.said >= kLimit) || chain.hops >= kMaxHops;
  return verdict;
}

void LoopBreaker::taken(const Sent& sent, std::string_view id, Timestamp now) {
  if (!sent.wakes) return;
  const Ends ends{hash_of(sent.from), hash_of(sent.to)};
  if (sent.from.empty()) {
    ++serial_;
    last_.at(ends.to, serial_) = {0, serial_};
    return;
  }
  const TurnAssessment verdict = std::exchange(verdict_, {});
  Chain* const place = living(verdict.chain);
  if (place == nullptr) return;
  Chain& chain = *place;
  Pair& pair = pairs_.at(joined(ends.there(), chain.id), serial_);
  pair.at = now.steady;
  pair.prints[pair.next_print] = verdict.print;
  pair.next_print = (pair.next_print + 1) % pair.prints.size();
  if (verdict.turn) chain.gap = verdict.gap;
  chain.answered = chain.answered || (verdict.turn && chain.speaker != 0);
  chain.speaker = ends.from;
  chain.hearer = ends.to;
  chain.pair = ends.there();
  chain.at = now.steady;
  chain.said = pair.suspicion;
  chain.used = true;
  last_.at(ends.there(), serial_) = {chain.id, serial_};
  last_.at(ends.to, serial_) = {chain.id, serial_};
  if (!id.empty()) marks_.at(hash_of(id), serial_) = chain.id;
  if (sent.thread.empty()) return;
  // A thread's first message belongs to the talk it came from: a new thread for every message is no way out.
  ChainId& thread = marks_.at(hash_of(sent.thread), serial_);
  if (living(thread) == nullptr) thread = new_chain().id;  // `chain` may be gone now
}

LoopBreaker::Breakers::iterator LoopBreaker::breaker_of(const Ends& ends, Timestamp now) {
  if (breakers_.empty()) return breakers_.end();
  const auto place = breakers_.find(ends.there());
  if (place == breakers_.end() || now.steady < place->second.until + kRemembered) return place;
  breakers_.erase(place);
  return breakers_.end();
}

LoopBreaker::Breaker& LoopBreaker::trip(const Sent& sent, const Ends& ends, std::string reason, Timestamp now) {
  if (breakers_.size() >= kMaxBreakers && !breakers_.contains(ends.there())) {
    breakers_.erase(std::ranges::min_element(breakers_, {}, [](const auto& entry) { return entry.second.until; }));
  }
  Breaker& breaker = breakers_[ends.there()];
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
    if (const Last* const said = last_.find(pair)) pairs_.erase(joined(pair, said->chain));
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
