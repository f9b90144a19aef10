#include "host/delivery/scheduler.h"

#include <algorithm>
#include <ranges>
#include <tuple>

#include "base/format.h"

namespace relay::host {
namespace {

using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;
using protocol::Lane;
using protocol::Priority;
using protocol::ReceiptStatus;

constexpr DeliveryMode kInOrder[] = {DeliveryMode::Immediate, DeliveryMode::NextToolCall, DeliveryMode::NextMessage,
                                     DeliveryMode::OnIdle, DeliveryMode::Manual};
constexpr Priority kPriorities[] = {Priority::Urgent, Priority::Normal};

bool can_be_typed(DeliveryMode mode) { return mode == DeliveryMode::OnIdle || mode == DeliveryMode::Immediate; }

/// Its native way took nothing, or would present the user's words as a peer's.
bool must_be_typed(const Delivery& letter, const adapters::ModeSupport& by) {
  return letter.typed_only || (letter.as_user && by.as_peer && can_be_typed(letter.mode));
}

/// At the gate: a working agent can only be interrupted, so what interrupts is before what cannot go now anyway.
bool goes_before(Lane one, Lane other, State state) {
  const auto place = [&](Lane lane) {
    const bool waits = lane.mode != DeliveryMode::Immediate;
    return std::tuple{state == State::Working && waits, lane.priority != Priority::Urgent, waits};
  };
  return place(one) < place(other);
}

/// Why the moment has not come; nothing when it has.
std::string_view not_yet(DeliveryTiming moment, State state, profiles::Blocker blocker) {
  if (state == State::Unknown) return "it is not known to be ready";
  if (state == State::Blocked) return profiles::reason_of(blocker);
  const bool working = state == State::Working;
  if (moment == DeliveryTiming::Idle && working) return "the agent is working";
  if (moment == DeliveryTiming::Working && !working) return "it waits for the agent to work";
  return {};
}

constexpr std::string_view kFetched = "mcp";
constexpr std::string_view kStandsInInbox =
    "no profile knows the program, so nothing is typed into it; it stands in its inbox.md ($AGENT_RELAY_INBOX)";
constexpr std::string_view kGoesAlong = "it does not wake the agent; it goes with the next message";

/// The agent's ways were told to the daemon, which keeps such a message: this one was under way when that changed.
std::string_view impossible(DeliveryMode mode) {
  return mode == DeliveryMode::NextMessage ? "this agent cannot be given words with its next prompt"
                                           : "this agent cannot be given words with its next tool call";
}

void sooner(std::optional<SteadyTime>& at, std::optional<SteadyTime> other) {
  if (other) at = at ? std::min(*at, *other) : *other;
}

}  // namespace

void DeliveryScheduler::add(Delivery letter) {
  if (intent_.contains(intent_key(letter))) {  // a predecessor's: our own are never handed up twice
    if (auto known = intent_.end_of(intent_key(letter))) return reports_.report(letter.ref, *std::move(known));
    return end(letter, {.status = ReceiptStatus::InDoubt, .reason = "the host ended while it was being brought"});
  }
  if (!letter.ref.id.empty()) reports_.report(letter.ref, {.status = ReceiptStatus::Accepted});
  home(letter).add(std::move(letter));
}

FairQueue& DeliveryScheduler::home(const Delivery& letter) {
  const auto priority = letter.ref.lane.priority;
  return letter.silent && letter.mode != DeliveryMode::Manual ? quiet(priority) : lane({letter.mode, priority});
}

std::vector<FairQueue*> DeliveryScheduler::queues() {
  std::vector<FairQueue*> all;
  for (const auto priority : kPriorities)
    for (const auto mode : kInOrder) all.push_back(&lane({mode, priority}));
  for (const auto priority : kPriorities) all.push_back(&quiet(priority));
  return all;
}

/// What stands before the gate and has not begun comes back.
void DeliveryScheduler::clear_gate() {
  at_gate_.reset();
  user_at_gate_ = false;
  if (auto letter = injector_.take_back()) put_back(*std::move(letter));
}

std::optional<SteadyTime> DeliveryScheduler::deliver(const View& view) {
  now_ = view.now;
  has_record_ = !view.can.output.empty();
  has_terminal_ = view.can.terminal;
  hook_takes_quiet_ = view.can.by(DeliveryMode::NextMessage).moment == DeliveryTiming::Asked;
  drop_expired(view);
  if (injector_.can_accept()) user_at_gate_ = false;
  // A way has opened since it was given to the mailroom, perhaps.
  if (view.can.by(DeliveryMode::OnIdle).moment != DeliveryTiming::Never && !injector_.has_interrupted() &&
      !user_at_gate_)
    clear_gate();
  std::optional<SteadyTime> again;
  if (paused_) {
    hold_all();
  } else {
    for (const auto priority : kPriorities)
      for (const auto mode : kInOrder) sooner(again, serve({mode, priority}, view));
    for (const auto priority : kPriorities) sooner(again, serve_quiet(priority, view));
  }
  sooner(again, check_proofs(view));
  for (const auto* queue : queues())
    for (const auto* letter : queue->in_order()) sooner(again, expiry_of(*letter, view.now, view.wall));
  return again;
}

void DeliveryScheduler::hold_all() {
  clear_gate();
  for (auto* queue : queues())
    for (auto* letter : queue->in_order())
      if (letter->mode != DeliveryMode::Manual) wait(*letter, *paused_);
}

/// What is in the agent's hands and has not been shown: it may be known by other signs, or never.
std::optional<SteadyTime> DeliveryScheduler::check_proofs(const View& view) {
  std::optional<SteadyTime> again;
  const bool at_rest = view.state == State::Idle || view.state == State::Typing;
  const auto ended = std::erase_if(handed_, [&](UnprovenDelivery& handed) {
    if (view.state == State::Working) handed.awaits_turn = false;
    const bool began = view.state == State::Working && view.since >= handed.at;
    if (handed.taken && !has_record_ && began) {
      end(handed.letter, {.status = ReceiptStatus::Delivered,
                          .proof = "submitted",
                          .reason = format("by {}; the agent began to work", handed.via),
                          .via = std::string{handed.via},
                          .evidence = "status working"});
      return true;
    }
    const auto late = handed.at + kProofTimeout;
    const auto hopeless = std::max(handed.at, view.since) + kProofLimit;
    const bool counts = at_rest && !handed.awaits_turn;
    if (counts && view.now >= hopeless) {
      end(handed.letter,
          {.status = ReceiptStatus::InDoubt,
           .reason = format("it was handed over by {}, and nothing shows that the model has it", handed.via),
           .via = std::string{handed.via}});
      doubted_.push_back(std::move(handed));
      if (doubted_.size() > kMaxHanded) doubted_.pop_front();
      return true;
    }
    if (view.now >= late && handed.taken)
      wait(handed.letter, handed.awaits_turn ? "the agent has it for its next turn"
                                             : "the agent took it, and its record does not show it yet");
    if (view.now < late) sooner(again, late);
    if (counts) sooner(again, hopeless);
    return false;
  });
  if (ended > 0) sooner(again, view.now);  // its hands are free for others
  return again;
}

void DeliveryScheduler::drop_expired(const View& view) {
  for (auto* queue : queues())
    queue->erase_if([&](const Delivery& letter) {
      if (!letter.expires_at || *letter.expires_at > view.wall) return false;
      end(letter, expired_receipt(letter));
      return true;
    });
}

std::optional<SteadyTime> DeliveryScheduler::serve(Lane which, const View& view) {
  auto& from = lane(which);
  if (from.empty()) return std::nullopt;
  const auto all_wait = [&](std::string_view why) {
    for (auto* letter : from.in_order()) wait(*letter, why);
    return std::nullopt;
  };
  const auto mode = which.mode;
  if (mode == DeliveryMode::Manual)
    return all_wait("it is held until the agent fetches it or `agent-relay flush` lets it go");
  const auto& by = view.can.by(mode);
  if (by.moment == DeliveryTiming::Asked)
    return all_wait(mode == DeliveryMode::NextMessage ? "it waits for the agent's next prompt"
                                                      : "it waits for the agent's next tool call");
  if (by.moment != DeliveryTiming::Never && !must_be_typed(from.front(), by)) return deliver_native(from, mode, view);
  if (!can_be_typed(mode)) return all_wait(impossible(mode));
  if (!view.can.terminal) return all_wait("it runs without a terminal, so nothing can be typed to it");
  if (!view.typed_into) return all_wait(kStandsInInbox);
  return type_from(from, which, view);
}

/// What comes first goes before what stands at the gate and has not begun.
std::optional<SteadyTime> DeliveryScheduler::type_from(FairQueue& from, Lane which, const View& view) {
  const auto free_at = std::max(turn_started_by(DeliveryMode::OnIdle), turn_started_by(DeliveryMode::Immediate));
  if (view.state == State::Idle && view.now < free_at) return free_at;
  const bool gives_way = at_gate_ && !injector_.has_interrupted() && goes_before(which, *at_gate_, view.state);
  if (!injector_.can_accept() && gives_way) clear_gate();
  if (!injector_.can_accept()) return std::nullopt;
  at_gate_ = which;
  user_at_gate_ = from.front().as_user && view.can.by(which.mode).as_peer;
  injector_.add(from.take());
  return std::nullopt;
}

SteadyTime DeliveryScheduler::turn_started_by(DeliveryMode mode) const {
  for (const auto& handed : handed_)
    if (handed.mode == mode && now_ < handed.at + kProofTimeout) return handed.at + kProofTimeout;
  return last_seen_ + kTurnSettle;
}

/// With the next prompt's hook, or in company; at once where words can be added without beginning a turn.
std::optional<SteadyTime> DeliveryScheduler::serve_quiet(Priority priority, const View& view) {
  auto& from = quiet(priority);
  if (from.empty()) return std::nullopt;
  const auto moment = view.can.by(DeliveryMode::NextMessage).moment;
  if (moment != DeliveryTiming::Never && moment != DeliveryTiming::Asked)
    return deliver_native(from, DeliveryMode::NextMessage, view);
  for (auto* letter : from.in_order()) wait(*letter, kGoesAlong);
  return std::nullopt;
}

std::vector<Delivery> DeliveryScheduler::take_silent(std::size_t max_bytes) {
  return take_quiet_if(max_bytes, [](const Delivery&) { return true; });
}

std::vector<Delivery> DeliveryScheduler::take_quiet_if(std::size_t max_bytes,
                                                       const std::function<bool(const Delivery&)>& fits) {
  std::vector<Delivery> taken;
  if (hook_takes_quiet_) return taken;
  const auto has_room = [&](const Delivery& each) { return each.text.size() < max_bytes && fits(each); };
  for (const auto priority : kPriorities)
    while (auto letter = take_noted(quiet(priority), has_room)) {
      max_bytes -= letter->text.size() + 1;
      taken.push_back(*std::move(letter));
    }
  return taken;
}

void DeliveryScheduler::return_silent(std::vector<Delivery> letters) {
  for (; !letters.empty(); letters.pop_back()) put_back(std::move(letters.back()));
}

std::optional<SteadyTime> DeliveryScheduler::deliver_native(FairQueue& from, DeliveryMode mode, const View& view) {
  const auto& by = view.can.by(mode);
  auto& letter = from.front();
  if (letter.not_before > view.now) return letter.not_before;
  if (const auto why = not_yet(by.moment, view.state, view.blocker); !why.empty()) {  // changes with the screen
    set_reason(letter, why, view.now);
    if (should_tell_reason(letter, view.now))
      reports_.report(letter.ref, {.status = ReceiptStatus::Deferred, .reason = letter.reason});
    return reason_due(letter);
  }
  if (mode == DeliveryMode::OnIdle && injector_.has_interrupted() && view.state != State::Typing) {
    wait(letter, "another message comes first: the agent's turn was interrupted for it");
    return std::nullopt;
  }
  if (const auto until = injector_.sending_until(); until && view.now < *until) {
    set_reason(letter, "another message is just being typed", view.now);  // not told: it passes in a moment
    return until;
  }
  const bool user_goes_first = mode == DeliveryMode::OnIdle ? view.state != State::Typing : view.state == State::Idle;
  if (user_at_gate_ && !injector_.can_accept() && user_goes_first) {
    wait(letter, "a message of the user comes first");
    return std::nullopt;
  }
  if (by.not_before > view.now) {
    wait(letter, format("its {} takes only so many messages in a while", by.via));
    return by.not_before;
  }
  const auto in_its_hands = [&](const UnprovenDelivery& handed) { return handed.mode == mode; };
  if (std::ranges::count_if(handed_, in_its_hands) >= static_cast<std::ptrdiff_t>(kMaxHanded)) {
    wait(letter, "it has many in its hands already");
    return std::nullopt;
  }
  if (by.moment == DeliveryTiming::Idle &&
      mode != DeliveryMode::NextMessage) {  // it begins a turn: one after the other
    const auto free_at = std::max(view.since + kIdleSettle, turn_started_by(mode));
    if (view.now < free_at) return free_at;
  }
  if (mode == DeliveryMode::Immediate)
    for (const auto& handed : handed_)
      if (view.now < handed.at + kProofTimeout) {
        letter.reason = "another message is just being taken";
        return handed.at + kProofTimeout;
      }
  if (!log_intent(letter)) {
    wait(letter, "the note of what is brought cannot be written");
    letter.not_before = view.now + kNativeRetry;
    return letter.not_before;
  }
  const auto suits_way = [&](const Delivery& each) { return !(each.as_user && by.as_peer); };
  const auto key = ++last_key_;
  adapters::NativeDelivery words{.delivery = intent_key(letter), .text = letter.text, .mode = mode};
  auto first = from.take();
  std::string company;
  if (mode != DeliveryMode::NextMessage)
    for (auto& quiet : take_quiet_if(kMaxQuietBytes, suits_way)) {
      company += quiet.text + "\n";
      into_its_hands(std::move(quiet), key, mode, by.via);
    }
  words.text.insert(0, company);
  into_its_hands(std::move(first), key, mode, by.via);
  handed_.back().awaits_turn = mode == DeliveryMode::NextMessage;
  const auto fits = [&](const Delivery& each) {
    return words.text.size() + 1 + each.text.size() <= by.together_bytes && each.not_before <= view.now &&
           !each.typed_only && suits_way(each) &&
           std::ranges::count_if(handed_, in_its_hands) < static_cast<std::ptrdiff_t>(kMaxHanded);
  };
  while (auto next = take_noted(from, fits)) {
    words.text += "\n" + next->text;
    into_its_hands(*std::move(next), key, mode, by.via);
  }
  native_->deliver(words, [this, alive = lifetime_.watch(), key](Result<void> outcome) {
    if (alive) on_handed(key, outcome);
  });
  return view.now;  // the next lane, or the next letter of this one, at once
}

void DeliveryScheduler::into_its_hands(Delivery letter, std::uint64_t key, DeliveryMode mode, std::string_view way) {
  letter.reason = format("handed over by {}", way);
  handed_.push_back({.letter = std::move(letter), .key = key, .at = now_, .via = way, .mode = mode});
}

/// Those that went together are taken together, or not at all; what was seen already is not here any more.
void DeliveryScheduler::on_handed(std::uint64_t key, const Result<void>& outcome) {
  if (!outcome) {
    for (auto& handed : handed_)
      if (handed.key == key) handed.letter.not_before = now_ + kNativeRetry;
    return take_back_handed(key, format("took nothing: {}", outcome.error().message()));
  }
  for (auto& handed : handed_) {
    if (handed.key != key) continue;
    handed.taken = true;
    auto& letter = handed.letter;
    if (!letter.ref.id.empty() && !std::exchange(letter.written, true))
      reports_.report(letter.ref, {.status = ReceiptStatus::Accepted,
                                   .proof = "written",
                                   .reason = letter.reason,
                                   .via = std::string{handed.via}});
  }
}

void DeliveryScheduler::on_returned(const std::vector<std::string>& deliveries, std::string_view reason) {
  const auto what = format("gave it back unread: {}", reason);
  for (const auto& delivery : deliveries | std::views::reverse) {  // each is put in front
    const auto is_it = [&](const UnprovenDelivery& each) { return intent_key(each.letter) == delivery; };
    if (const auto handed = std::ranges::find_if(handed_, is_it); handed != handed_.end())
      take_back_handed(handed->key, what);
    const auto doubted = std::ranges::find_if(doubted_, is_it);
    if (doubted == doubted_.end()) continue;
    std::erase_if(doubted_,
                  [&, key = doubted->key](const UnprovenDelivery& each) {  // with those that went in the same text
                    if (each.key != key) return false;
                    end(each.letter, {.status = ReceiptStatus::Failed,
                                      .reason = format("its {} {}", each.via, what),
                                      .via = std::string{each.via}});
                    return true;
                  });
  }
}

/// `what` its interface did, for the history. They are typed from now on, where their mode can be.
void DeliveryScheduler::take_back_handed(std::uint64_t key, std::string_view what) {
  std::vector<Delivery> back;
  std::erase_if(handed_, [&](UnprovenDelivery& handed) {
    if (handed.key != key) return false;
    auto& letter = handed.letter;
    letter.typed_only = has_terminal_ && can_be_typed(letter.mode);
    letter.written = false;
    wait(letter, format("its {} {}", handed.via, what));
    back.push_back(std::move(letter));
    return true;
  });
  for (; !back.empty(); back.pop_back()) put_back(std::move(back.back()));
}

std::string DeliveryScheduler::take(DeliveryMode mode, std::size_t max_bytes, const View& view) {
  now_ = view.now;
  drop_expired(view);
  std::string text;
  const auto take_from = [&](FairQueue& from) {
    const auto fits = [&](const Delivery& each) {
      return text.size() + (text.empty() ? 0 : 1) + each.text.size() <= max_bytes;
    };
    while (auto letter = take_noted(from, fits)) {
      if (!text.empty()) text += '\n';
      text += letter->text;
      const auto key = ++last_key_;
      into_its_hands(*std::move(letter), key, mode, adapters::way::kHook);
      on_handed(key, {});
    }
  };
  if (paused_) return text;
  for (const auto priority : kPriorities) take_from(lane({mode, priority}));
  if (mode == DeliveryMode::NextMessage)
    for (const auto priority : kPriorities) take_from(quiet(priority));
  return text;
}

/// What went together may stand there in any order: one that is shown can be what another stands behind.
void DeliveryScheduler::on_given(EvidenceMatcher& shown, std::string_view way, std::string_view id) {
  const auto ends = [&](const UnprovenDelivery& handed) {
    if (!shown.matches(handed.letter.text)) return false;
    last_seen_ = now_;
    end(handed.letter, seen_receipt(handed.via, way, id, format("by {}; its {} shows it", handed.via, way)));
    return true;
  };
  while (std::erase_if(handed_, ends) + std::erase_if(doubted_, ends) > 0) {}
}

std::optional<Delivery> DeliveryScheduler::extract(std::string_view delivery) {
  clear_gate();
  for (auto* queue : queues())
    if (auto letter = queue->extract(delivery)) return letter;
  return std::nullopt;
}

void DeliveryScheduler::move(const client::DeliveryRef& place, DeliveryMode mode, Injection injection) {
  for (auto& handed : handed_)
    if (handed.letter.ref.id == place.id) handed.letter.ref = place;
  auto letter = extract(place.id);
  if (!letter) return;
  letter->ref = place;
  if (std::exchange(letter->mode, mode) != mode) letter->injection = std::move(injection);
  home(*letter).add(*std::move(letter));
}

bool DeliveryScheduler::cancel(std::string_view delivery) { return extract(delivery).has_value(); }

std::vector<std::string> DeliveryScheduler::fetch(const std::vector<std::string>& ids) {
  clear_gate();
  std::vector<std::string> taken;
  for (auto* queue : queues())
    queue->erase_if([&](Delivery& letter) {
      if (letter.ref.id.empty() || std::ranges::find(ids, letter.message) == ids.end() || !log_intent(letter))
        return false;
      taken.push_back(letter.message);
      fetched_.push_back(std::move(letter));
      return true;
    });
  return taken;
}

void DeliveryScheduler::on_fetched() {
  for (const auto& letter : std::exchange(fetched_, {}))
    end(letter, seen_receipt(kFetched, kFetched, letter.message, "fetched by the agent"));
}

std::vector<const Delivery*> DeliveryScheduler::fetchable() const {
  std::vector<const Delivery*> all;
  const auto add = [&](const FairQueue& queue) { std::ranges::copy(queue.in_order(), std::back_inserter(all)); };
  for (const auto priority : kPriorities)
    for (const auto mode : kInOrder) add(lanes_[protocol::lane_code({mode, priority})]);
  for (const auto priority : kPriorities) add(quiet_[static_cast<std::size_t>(priority)]);
  return all;
}

void DeliveryScheduler::on_agent_gone() {
  on_fetched();
  for (const auto& handed : handed_)
    end(handed.letter, {.status = ReceiptStatus::InDoubt,
                        .reason = format("the agent took it by {} and ended before its record showed it", handed.via),
                        .via = std::string{handed.via}});
  handed_.clear();
}

std::optional<std::string_view> DeliveryScheduler::way_of(const Delivery& letter,
                                                          const adapters::NativeCapabilities& can) const {
  for (const auto& handed : handed_)
    if (&handed.letter == &letter) return handed.via;
  if (letter.injection.begun()) return std::nullopt;
  if (letter.mode == DeliveryMode::Manual) return kFetched;
  if (letter.silent) return can.by(DeliveryMode::NextMessage).via;
  const auto& by = can.by(letter.mode);
  const bool native = by.moment != DeliveryTiming::Never && !must_be_typed(letter, by);
  return native ? std::optional{by.via} : std::nullopt;
}

std::vector<const Delivery*> DeliveryScheduler::waiting() const {
  std::vector<const Delivery*> all;
  for (const auto& handed : handed_) all.push_back(&handed.letter);
  std::ranges::copy(fetchable(), std::back_inserter(all));
  return all;
}

std::optional<Delivery> DeliveryScheduler::take_noted(FairQueue& from,
                                                      const std::function<bool(const Delivery&)>& fits) {
  auto letter = from.take_if(fits);
  if (!letter || log_intent(*letter)) return letter;
  from.put_back(*std::move(letter));
  return std::nullopt;
}

bool DeliveryScheduler::log_intent(Delivery& letter) {
  return letter.ref.id.empty() || intent_.contains(intent_key(letter)) || intent_.add(intent_key(letter)).has_value();
}

void DeliveryScheduler::wait(Delivery& letter, std::string_view reason) {
  set_reason(letter, reason, now_);
  if (letter.reported_reason == reason || letter.ref.id.empty()) return;
  letter.reported_reason = reason;
  ++letter.reasons_told;
  reports_.report(letter.ref, {.status = ReceiptStatus::Deferred, .reason = letter.reason});
}

void DeliveryScheduler::end(const Delivery& letter, protocol::Receipt receipt) {
  if (letter.ref.id.empty()) return;  // a word of our own
  intent_.add_outcome(intent_key(letter), receipt);
  reports_.report(letter.ref, std::move(receipt));
}

}  // namespace relay::host
