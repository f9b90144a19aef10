#include "host/sorter.h"

#include <algorithm>

#include "base/format.h"

namespace relay::host {
namespace {

using adapters::Moment;
using profiles::State;
using protocol::DeliveryMode;
using protocol::ReceiptStatus;

constexpr DeliveryMode kInOrder[] = {DeliveryMode::Immediate, DeliveryMode::NextToolCall, DeliveryMode::NextMessage,
                                     DeliveryMode::OnIdle, DeliveryMode::Manual};

bool can_be_typed(DeliveryMode mode) { return mode == DeliveryMode::OnIdle || mode == DeliveryMode::Immediate; }

/// Why the moment has not come; nothing when it has.
std::string_view not_yet(Moment moment, State state) {
  if (state == State::Unknown) return "it is not known to be ready";
  if (state == State::Blocked) return "a dialog is open";
  const bool working = state == State::Working;
  if (moment == Moment::Idle && working) return "the agent is working";
  if (moment == Moment::Working && !working) return "it waits for the agent to work";
  return {};
}

std::string_view impossible(DeliveryMode mode) {
  return mode == DeliveryMode::NextMessage ? "this agent cannot be given words with its next prompt"
                                           : "this agent cannot be given words with its next tool call";
}

void sooner(std::optional<SteadyTime>& at, std::optional<SteadyTime> other) {
  if (other) at = at ? std::min(*at, *other) : *other;
}

}  // namespace

void Sorter::add(Letter letter) {
  if (intent_.holds(letter.place.id))  // a predecessor's: our own are never handed up twice
    return end(letter, ReceiptStatus::InDoubt, "", "the host ended while it was being brought");
  if (!letter.place.id.empty()) hands_.report(letter.place, {.status = ReceiptStatus::Accepted});
  lane(letter.mode).push_back(std::move(letter));
}

std::optional<SteadyTime> Sorter::deliver(const View& view) {
  now_ = view.now;
  has_record_ = !view.can.hear.empty();
  drop_expired(view);
  // A way has opened since it was given to the mailroom, perhaps.
  if (view.can.by(DeliveryMode::OnIdle).moment != Moment::Never)
    if (auto back = hands_.take_back()) lane(back->mode).push_front(*std::move(back));
  std::optional<SteadyTime> again;
  for (const auto mode : kInOrder) sooner(again, serve(mode, view));
  sooner(again, look_for_proof(view));
  for (const auto& lane : lanes_)
    for (const auto& letter : lane)
      if (letter.expires_at) sooner(again, view.now + Millis{*letter.expires_at - view.wall});
  return again;
}

/// What is in the agent's hands and has not been shown: it may be known by other signs, or never.
std::optional<SteadyTime> Sorter::look_for_proof(const View& view) {
  std::optional<SteadyTime> again;
  const bool at_rest = view.state == State::Idle || view.state == State::Typing;
  std::erase_if(handed_, [&](Handed& handed) {
    const bool began = view.state == State::Working && view.since >= handed.at;
    if (handed.taken && !has_record_ && began) {
      end(handed.letter, ReceiptStatus::Delivered, "submitted", format("by {}; the agent began to work", handed.way));
      return true;
    }
    const auto late = handed.at + kProofPatience;
    const auto hopeless = std::max(handed.at, view.since) + kProofLimit;
    if (at_rest && view.now >= hopeless) {
      end(handed.letter, ReceiptStatus::InDoubt, "",
          format("it was handed over by {}, and nothing shows that the model has it", handed.way));
      return true;
    }
    if (view.now >= late && handed.taken) wait(handed.letter, "the agent took it, and its record does not show it yet");
    if (view.now < late) sooner(again, late);
    if (at_rest) sooner(again, hopeless);
    return false;
  });
  return again;
}

void Sorter::drop_expired(const View& view) {
  for (auto& lane : lanes_)
    std::erase_if(lane, [&](const Letter& letter) {
      if (!letter.expires_at || *letter.expires_at > view.wall) return false;
      end(letter, ReceiptStatus::Failed, "", "its time was over before it could be brought");
      return true;
    });
}

std::optional<SteadyTime> Sorter::serve(DeliveryMode mode, const View& view) {
  auto& from = lane(mode);
  if (from.empty()) return std::nullopt;
  auto& first = from.front();
  if (mode == DeliveryMode::Manual) {
    for (auto& letter : from) wait(letter, "it is kept until the agent fetches it");
    return std::nullopt;
  }
  const auto& by = view.can.by(mode);
  if (by.moment == Moment::Asked) {
    for (auto& letter : from)
      wait(letter, mode == DeliveryMode::NextMessage ? "it waits for the agent's next prompt"
                                                     : "it waits for the agent's next tool call");
    return std::nullopt;
  }
  const bool native = by.moment != Moment::Never && !first.typed_only;
  if (native) return hand_over(from, by, view);
  if (!can_be_typed(mode)) {
    for (auto& letter : from) wait(letter, impossible(mode));
    return std::nullopt;
  }
  // What is urgent goes before what stands at the gate and has not begun.
  if (mode == DeliveryMode::Immediate && !hands_.may_type())
    if (auto back = hands_.take_back()) lane(back->mode).push_front(*std::move(back));
  if (hands_.may_type()) {
    auto letter = std::move(from.front());  // not `first`: what came back may be of this lane and stands before it
    from.pop_front();
    hands_.type(std::move(letter));
  }
  return std::nullopt;
}

std::optional<SteadyTime> Sorter::hand_over(Lane& from, const adapters::Speaking& by, const View& view) {
  auto& letter = from.front();
  if (letter.not_before > view.now) return letter.not_before;
  if (const auto why = not_yet(by.moment, view.state); !why.empty()) {
    wait(letter, why);
    return std::nullopt;
  }
  if (by.not_before > view.now) {
    wait(letter, format("its {} takes only so many messages in a while", by.way));
    return by.not_before;
  }
  const auto in_its_hands = [&](const Handed& handed) { return handed.letter.mode == letter.mode; };
  if (std::ranges::count_if(handed_, in_its_hands) >= static_cast<std::ptrdiff_t>(kMaxHanded)) {
    wait(letter, "it has many in its hands already");
    return std::nullopt;
  }
  if (by.moment == Moment::Idle && letter.mode != DeliveryMode::NextMessage) {  // it begins a turn: one after the other
    for (const auto& handed : handed_)
      if (handed.letter.mode == letter.mode && view.now < handed.at + kProofPatience) return handed.at + kProofPatience;
    const auto free_at = std::max(view.since + kIdleSettle, last_seen_ + kTurnSettle);
    if (view.now < free_at) return free_at;
  }
  if (letter.mode == DeliveryMode::Immediate)
    for (const auto& handed : handed_)
      if (view.now < handed.at + kProofPatience) {
        letter.reason = "another message is just being taken";
        return handed.at + kProofPatience;
      }
  if (!noted(letter)) {
    wait(letter, "the note of what is brought cannot be written");
    letter.not_before = view.now + kHandRetry;
    return letter.not_before;
  }
  const auto& handed = into_its_hands(from, by.way, view.now);
  const adapters::Words words{
      .delivery = handed.letter.place.id, .text = handed.letter.text, .mode = handed.letter.mode};
  hands_.hand_over(words, [this, alive = alive_, key = handed.key](Result<void> outcome) {
    if (*alive) on_handed(key, outcome);
  });
  return view.now;  // the next lane, or the next letter of this one, at once
}

Sorter::Handed& Sorter::into_its_hands(Lane& from, std::string_view way, SteadyTime now) {
  auto& handed =
      handed_.emplace_back(Handed{.letter = std::move(from.front()), .key = ++last_key_, .at = now, .way = way});
  from.pop_front();
  handed.letter.reason = format("handed over by {}", way);
  return handed;
}

void Sorter::on_handed(std::uint64_t key, const Result<void>& outcome) {
  const auto found = std::ranges::find(handed_, key, &Handed::key);
  if (found == handed_.end()) return;  // seen already
  if (outcome) {
    found->taken = true;
    if (!found->letter.place.id.empty())
      hands_.report(found->letter.place, {.status = ReceiptStatus::Accepted, .reason = found->letter.reason});
    return;
  }
  auto letter = std::move(found->letter);
  letter.typed_only = can_be_typed(letter.mode);
  letter.not_before = now_ + kHandRetry;
  wait(letter, format("its {} took nothing: {}", found->way, outcome.error().message()));
  handed_.erase(found);
  lane(letter.mode).push_front(std::move(letter));
}

std::string Sorter::take(DeliveryMode mode, std::size_t max_bytes, const View& view) {
  now_ = view.now;
  drop_expired(view);
  std::string text;
  auto& from = lane(mode);
  while (!from.empty()) {
    auto& letter = from.front();
    const auto more = letter.text.size() + (text.empty() ? 0 : 1);
    if (text.size() + more > max_bytes || !noted(letter)) break;
    if (!text.empty()) text += '\n';
    text += letter.text;
    on_handed(into_its_hands(from, adapters::way::kHook, view.now).key, {});
  }
  return text;
}

void Sorter::on_given(std::string_view text, std::string_view way) {
  for (auto each = handed_.begin(); each != handed_.end();) {
    if (!text.contains(each->letter.text)) {
      ++each;
      continue;
    }
    last_seen_ = now_;
    end(each->letter, ReceiptStatus::Delivered, "seen", format("by {}; its {} shows it", each->way, way));
    each = handed_.erase(each);
  }
}

void Sorter::fetch(const std::vector<std::string>& ids) {
  if (auto back = hands_.take_back()) lane(back->mode).push_front(*std::move(back));
  for (const auto mode : kInOrder)
    std::erase_if(lane(mode), [&](Letter& letter) {
      if (letter.place.id.empty() || std::ranges::find(ids, letter.message) == ids.end() || !noted(letter))
        return false;
      end(letter, ReceiptStatus::Delivered, "seen", "fetched by the agent");
      return true;
    });
}

std::vector<const Letter*> Sorter::fetchable() const {
  std::vector<const Letter*> all;
  for (const auto mode : kInOrder)
    for (const auto& letter : lanes_[static_cast<std::size_t>(mode)]) all.push_back(&letter);
  return all;
}

void Sorter::on_agent_gone() {
  for (const auto& handed : handed_)
    end(handed.letter, ReceiptStatus::InDoubt, "",
        format("the agent took it by {} and ended before its record showed it", handed.way));
  handed_.clear();
}

std::vector<const Letter*> Sorter::waiting() const {
  std::vector<const Letter*> all;
  for (const auto& handed : handed_) all.push_back(&handed.letter);
  std::ranges::copy(fetchable(), std::back_inserter(all));
  return all;
}

bool Sorter::noted(Letter& letter) {
  return letter.place.id.empty() || intent_.holds(letter.place.id) || intent_.add(letter.place.id).has_value();
}

void Sorter::wait(Letter& letter, std::string_view reason) {
  letter.reason = reason;
  if (letter.told == reason || letter.place.id.empty()) return;
  letter.told = reason;
  hands_.report(letter.place, {.status = ReceiptStatus::Deferred, .reason = letter.reason});
}

void Sorter::end(const Letter& letter, ReceiptStatus status, std::string_view proof, std::string reason) {
  if (letter.place.id.empty()) return;  // a word of our own
  hands_.report(letter.place, {.status = status, .proof = std::string{proof}, .reason = std::move(reason)});
}

}  // namespace relay::host
