#include "host/delivery/scheduler.h"

#include <algorithm>
#include <ranges>

#include "base/format.h"
#include "host/delivery/delivery_rules.h"

namespace relay::host {
namespace {

using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;
using protocol::Lane;
using protocol::Priority;
using protocol::ReceiptStatus;

constexpr DeliveryMode kModeOrder[] = {DeliveryMode::Immediate, DeliveryMode::NextToolCall, DeliveryMode::NextMessage,
                                       DeliveryMode::OnIdle, DeliveryMode::Manual};
constexpr Priority kPriorities[] = {Priority::Urgent, Priority::Normal};

constexpr std::string_view kInInboxFile =
    "the program has no profile, so nothing is typed into it; it is in inbox.md ($AGENT_RELAY_INBOX)";
constexpr std::string_view kSilentReason = "it does not wake the agent; it is delivered with the next message";

void take_earlier(std::optional<SteadyTime>& at, std::optional<SteadyTime> other) {
  if (other) at = at ? std::min(*at, *other) : *other;
}

}  // namespace

void DeliveryScheduler::add(Delivery delivery) {
  if (intent_.contains(intent_key(delivery))) {  // an earlier host has started it
    if (auto outcome = intent_.outcome_of(intent_key(delivery)))
      return reports_.report(delivery.ref, *std::move(outcome));
    return finish(delivery, {.status = ReceiptStatus::InDoubt, .reason = "the host ended during the delivery"});
  }
  if (!delivery.ref.id.empty()) reports_.report(delivery.ref, {.status = ReceiptStatus::Accepted});
  queue_of(delivery).add(std::move(delivery));
}

FairQueue& DeliveryScheduler::queue_of(const Delivery& delivery) {
  const auto priority = delivery.ref.lane.priority;
  return delivery.silent && delivery.mode != DeliveryMode::Manual ? silent_queue(priority)
                                                                  : lane({delivery.mode, priority});
}

std::vector<FairQueue*> DeliveryScheduler::queues() {
  std::vector<FairQueue*> all;
  for (const auto priority : kPriorities)
    for (const auto mode : kModeOrder) all.push_back(&lane({mode, priority}));
  for (const auto priority : kPriorities) all.push_back(&silent_queue(priority));
  return all;
}

/// Requeues the delivery at the injector that has not started.
void DeliveryScheduler::reclaim_from_injector() {
  injector_lane_.reset();
  injector_has_user_message_ = false;
  if (auto delivery = injector_.reclaim()) requeue(*std::move(delivery));
}

std::optional<SteadyTime> DeliveryScheduler::deliver(const View& view) {
  now_ = view.now;
  has_transcript_ = !view.can.output.empty();
  has_terminal_ = view.can.terminal;
  hook_delivers_silent_ = view.can.by(DeliveryMode::NextMessage).timing == DeliveryTiming::OnHook;
  drop_expired(view);
  if (injector_.can_accept()) injector_has_user_message_ = false;
  // A native interface may have become available since the injector got the delivery.
  if (view.can.by(DeliveryMode::OnIdle).timing != DeliveryTiming::Never && !injector_.has_interrupted() &&
      !injector_has_user_message_)
    reclaim_from_injector();
  std::optional<SteadyTime> again;
  if (paused_) {
    defer_paused();
  } else {
    for (const auto priority : kPriorities)
      for (const auto mode : kModeOrder) take_earlier(again, serve({mode, priority}, view));
    for (const auto priority : kPriorities) take_earlier(again, serve_silent(priority, view));
  }
  take_earlier(again, check_proofs(view));
  for (const auto* queue : queues())
    for (const auto* delivery : queue->in_order()) take_earlier(again, expiry_of(*delivery, view.now, view.wall));
  return again;
}

void DeliveryScheduler::defer_paused() {
  reclaim_from_injector();
  for (auto* queue : queues())
    for (auto* delivery : queue->in_order())
      if (delivery->mode != DeliveryMode::Manual) defer(*delivery, *paused_);
}

/// Settles unproven deliveries by other evidence than the transcript, or as in doubt.
std::optional<SteadyTime> DeliveryScheduler::check_proofs(const View& view) {
  std::optional<SteadyTime> again;
  const bool is_idle = view.state == State::Idle || view.state == State::Typing;
  const auto finished = std::erase_if(unproven_, [&](UnprovenDelivery& unproven) {
    if (view.state == State::Working) unproven.awaits_turn = false;
    const bool has_started = view.state == State::Working && view.since >= unproven.at;
    if (unproven.accepted && !has_transcript_ && has_started) {
      finish(unproven.delivery, {.status = ReceiptStatus::Delivered,
                                 .proof = "submitted",
                                 .reason = format("via {}; the agent started to work", unproven.via),
                                 .via = std::string{unproven.via},
                                 .evidence = "status working"});
      return true;
    }
    const auto overdue_at = unproven.at + kReportUnprovenAfter;
    const auto doubt_at = std::max(unproven.at, view.since) + kInDoubtAfter;
    const bool can_doubt = is_idle && !unproven.awaits_turn;
    if (can_doubt && view.now >= doubt_at) {
      finish(unproven.delivery,
             {.status = ReceiptStatus::InDoubt,
              .reason = format("accepted via {}; no evidence that the model received it", unproven.via),
              .via = std::string{unproven.via}});
      in_doubt_.push_back(std::move(unproven));
      if (in_doubt_.size() > kMaxUnproven) in_doubt_.pop_front();
      return true;
    }
    if (view.now >= overdue_at && unproven.accepted)
      defer(unproven.delivery, unproven.awaits_turn ? "the agent has it for its next turn"
                                                    : "the agent accepted it; its transcript does not show it yet");
    if (view.now < overdue_at) take_earlier(again, overdue_at);
    if (can_doubt) take_earlier(again, doubt_at);
    return false;
  });
  if (finished > 0) take_earlier(again, view.now);  // others may be delivered now
  return again;
}

void DeliveryScheduler::drop_expired(const View& view) {
  for (auto* queue : queues())
    queue->erase_if([&](const Delivery& delivery) {
      if (!delivery.expires_at || *delivery.expires_at > view.wall) return false;
      finish(delivery, expired_receipt(delivery));
      return true;
    });
}

std::optional<SteadyTime> DeliveryScheduler::serve(Lane which, const View& view) {
  auto& from = lane(which);
  if (from.empty()) return std::nullopt;
  const auto defer_all = [&](std::string_view reason) {
    for (auto* delivery : from.in_order()) defer(*delivery, reason);
    return std::nullopt;
  };
  const auto mode = which.mode;
  if (mode == DeliveryMode::Manual)
    return defer_all("it is pending until the agent fetches it or `agent-relay flush` releases it");
  const auto& by = view.can.by(mode);
  if (by.timing == DeliveryTiming::OnHook)
    return defer_all(mode == DeliveryMode::NextMessage ? "it is pending until the agent's next prompt"
                                                       : "it is pending until the agent's next tool call");
  if (by.timing != DeliveryTiming::Never && !must_be_typed(from.front(), by)) return deliver_native(from, mode, view);
  if (!can_be_typed(mode)) return defer_all(unsupported_reason(mode));
  if (!view.can.terminal) return defer_all("it runs without a terminal, so nothing can be typed to it");
  if (!view.typed_into) return defer_all(kInInboxFile);
  return inject_from(from, which, view);
}

/// A delivery that takes precedence replaces one at the injector that has not started.
std::optional<SteadyTime> DeliveryScheduler::inject_from(FairQueue& from, Lane which, const View& view) {
  const auto free_at = std::max(turn_started_by(DeliveryMode::OnIdle), turn_started_by(DeliveryMode::Immediate));
  if (view.state == State::Idle && view.now < free_at) return free_at;
  const bool replaces = injector_lane_ && !injector_.has_interrupted() && precedes(which, *injector_lane_, view.state);
  if (!injector_.can_accept() && replaces) reclaim_from_injector();
  if (!injector_.can_accept()) return std::nullopt;
  injector_lane_ = which;
  injector_has_user_message_ = from.front().as_user && view.can.by(which.mode).as_peer;
  injector_.add(from.take());
  return std::nullopt;
}

SteadyTime DeliveryScheduler::turn_started_by(DeliveryMode mode) const {
  for (const auto& unproven : unproven_)
    if (unproven.mode == mode && now_ < unproven.at + kReportUnprovenAfter) return unproven.at + kReportUnprovenAfter;
  return last_seen_ + kTurnStartTimeout;
}

/// Silent deliveries go with the hook of the next prompt or with another delivery, or at once where an interface adds
/// text without starting a turn.
std::optional<SteadyTime> DeliveryScheduler::serve_silent(Priority priority, const View& view) {
  auto& from = silent_queue(priority);
  if (from.empty()) return std::nullopt;
  const auto timing = view.can.by(DeliveryMode::NextMessage).timing;
  if (timing != DeliveryTiming::Never && timing != DeliveryTiming::OnHook)
    return deliver_native(from, DeliveryMode::NextMessage, view);
  for (auto* delivery : from.in_order()) defer(*delivery, kSilentReason);
  return std::nullopt;
}

std::vector<Delivery> DeliveryScheduler::take_silent(std::size_t max_bytes) {
  return take_silent_if(max_bytes, [](const Delivery&) { return true; });
}

std::vector<Delivery> DeliveryScheduler::take_silent_if(std::size_t max_bytes,
                                                        const std::function<bool(const Delivery&)>& fits) {
  std::vector<Delivery> taken;
  if (hook_delivers_silent_) return taken;
  const auto has_room = [&](const Delivery& each) { return each.text.size() < max_bytes && fits(each); };
  for (const auto priority : kPriorities)
    while (auto delivery = take_logged(silent_queue(priority), has_room)) {
      max_bytes -= delivery->text.size() + 1;
      taken.push_back(*std::move(delivery));
    }
  return taken;
}

void DeliveryScheduler::return_silent(std::vector<Delivery> deliveries) {
  for (; !deliveries.empty(); deliveries.pop_back()) requeue(std::move(deliveries.back()));
}

std::optional<SteadyTime> DeliveryScheduler::deliver_native(FairQueue& from, DeliveryMode mode, const View& view) {
  const auto& by = view.can.by(mode);
  auto& delivery = from.front();
  if (delivery.not_before > view.now) return delivery.not_before;
  if (const auto reason = native_block_reason(by.timing, view.state, view.blocker); !reason.empty()) {
    set_reason(delivery, reason, view.now);
    if (should_report_reason(delivery, view.now))
      reports_.report(delivery.ref, {.status = ReceiptStatus::Deferred, .reason = delivery.reason});
    return reason_due(delivery);
  }
  if (mode == DeliveryMode::OnIdle && injector_.has_interrupted() && view.state != State::Typing) {
    defer(delivery, "another message is first: the agent's turn was interrupted for it");
    return std::nullopt;
  }
  if (const auto until = injector_.sending_until(); until && view.now < *until) {
    set_reason(delivery, "another message is being typed", view.now);  // transient, so not reported
    return until;
  }
  const bool user_goes_first = mode == DeliveryMode::OnIdle ? view.state != State::Typing : view.state == State::Idle;
  if (injector_has_user_message_ && !injector_.can_accept() && user_goes_first) {
    defer(delivery, "a message of the user is first");
    return std::nullopt;
  }
  if (by.not_before > view.now) {
    defer(delivery, format("its {} is rate-limited", by.via));
    return by.not_before;
  }
  const auto is_of_mode = [&](const UnprovenDelivery& unproven) { return unproven.mode == mode; };
  if (std::ranges::count_if(unproven_, is_of_mode) >= static_cast<std::ptrdiff_t>(kMaxUnproven)) {
    defer(delivery, "too many accepted deliveries have no proof yet");
    return std::nullopt;
  }
  if (by.timing == DeliveryTiming::WhenIdle &&
      mode != DeliveryMode::NextMessage) {  // each starts a turn, so one at a time
    const auto free_at = std::max(view.since + kIdleStableTime, turn_started_by(mode));
    if (view.now < free_at) return free_at;
  }
  if (mode == DeliveryMode::Immediate)
    for (const auto& unproven : unproven_)
      if (view.now < unproven.at + kReportUnprovenAfter) {
        delivery.reason = "another message is being accepted";
        return unproven.at + kReportUnprovenAfter;
      }
  if (!log_intent(delivery)) {
    defer(delivery, "the intent log cannot be written");
    delivery.not_before = view.now + kNativeRetry;
    return delivery.not_before;
  }
  const auto suits_interface = [&](const Delivery& each) { return !(each.as_user && by.as_peer); };
  const auto key = ++last_key_;
  adapters::NativeDelivery native{.key = intent_key(delivery), .text = delivery.text, .mode = mode};
  auto first = from.take();
  std::string silent_texts;
  if (mode != DeliveryMode::NextMessage)
    for (auto& each : take_silent_if(kMaxSilentBytes, suits_interface)) {
      silent_texts += each.text + "\n";
      track_unproven(std::move(each), key, mode, by.via);
    }
  native.text.insert(0, silent_texts);
  track_unproven(std::move(first), key, mode, by.via);
  unproven_.back().awaits_turn = mode == DeliveryMode::NextMessage;
  const auto fits = [&](const Delivery& each) {
    return native.text.size() + 1 + each.text.size() <= by.max_bundle_bytes && each.not_before <= view.now &&
           !each.typed_only && suits_interface(each) &&
           std::ranges::count_if(unproven_, is_of_mode) < static_cast<std::ptrdiff_t>(kMaxUnproven);
  };
  while (auto next = take_logged(from, fits)) {
    native.text += "\n" + next->text;
    track_unproven(*std::move(next), key, mode, by.via);
  }
  native_->deliver(native, [this, alive = lifetime_.watch(), key](Result<void> outcome) {
    if (alive) on_accepted(key, outcome);
  });
  return view.now;  // the next lane, or the next delivery of this one, at once
}

void DeliveryScheduler::track_unproven(Delivery delivery, std::uint64_t key, DeliveryMode mode, std::string_view via) {
  delivery.reason = format("accepted via {}", via);
  unproven_.push_back({.delivery = std::move(delivery), .key = key, .at = now_, .via = via, .mode = mode});
}

/// Deliveries in one text are accepted together. One that was seen already is no longer unproven.
void DeliveryScheduler::on_accepted(std::uint64_t key, const Result<void>& outcome) {
  if (!outcome) {
    for (auto& unproven : unproven_)
      if (unproven.key == key) unproven.delivery.not_before = now_ + kNativeRetry;
    return requeue_unproven(key, format("rejected it: {}", outcome.error().message()));
  }
  for (auto& unproven : unproven_) {
    if (unproven.key != key) continue;
    unproven.accepted = true;
    auto& delivery = unproven.delivery;
    if (!delivery.ref.id.empty() && !std::exchange(delivery.written, true))
      reports_.report(delivery.ref, {.status = ReceiptStatus::Accepted,
                                     .proof = "written",
                                     .reason = delivery.reason,
                                     .via = std::string{unproven.via}});
  }
}

void DeliveryScheduler::on_returned(const std::vector<std::string>& ids, std::string_view reason) {
  const auto what = format("returned it unread: {}", reason);
  for (const auto& id : ids | std::views::reverse) {  // each is requeued at the front
    const auto has_id = [&](const UnprovenDelivery& each) { return intent_key(each.delivery) == id; };
    if (const auto unproven = std::ranges::find_if(unproven_, has_id); unproven != unproven_.end())
      requeue_unproven(unproven->key, what);
    const auto doubtful = std::ranges::find_if(in_doubt_, has_id);
    if (doubtful == in_doubt_.end()) continue;
    std::erase_if(in_doubt_, [&, key = doubtful->key](const UnprovenDelivery& each) {  // with the others in its text
      if (each.key != key) return false;
      finish(each.delivery, {.status = ReceiptStatus::Failed,
                             .reason = format("its {} {}", each.via, what),
                             .via = std::string{each.via}});
      return true;
    });
  }
}

/// `what`: what the interface did, for the delivery history. The deliveries are typed now if their mode allows it.
void DeliveryScheduler::requeue_unproven(std::uint64_t key, std::string_view what) {
  std::vector<Delivery> returned;
  std::erase_if(unproven_, [&](UnprovenDelivery& unproven) {
    if (unproven.key != key) return false;
    auto& delivery = unproven.delivery;
    delivery.typed_only = has_terminal_ && can_be_typed(delivery.mode);
    delivery.written = false;
    defer(delivery, format("its {} {}", unproven.via, what));
    returned.push_back(std::move(delivery));
    return true;
  });
  for (; !returned.empty(); returned.pop_back()) requeue(std::move(returned.back()));
}

std::string DeliveryScheduler::take(DeliveryMode mode, std::size_t max_bytes, const View& view) {
  now_ = view.now;
  drop_expired(view);
  std::string text;
  const auto take_from = [&](FairQueue& from) {
    const auto fits = [&](const Delivery& each) {
      return text.size() + (text.empty() ? 0 : 1) + each.text.size() <= max_bytes;
    };
    while (auto delivery = take_logged(from, fits)) {
      if (!text.empty()) text += '\n';
      text += delivery->text;
      const auto key = ++last_key_;
      track_unproven(*std::move(delivery), key, mode, adapters::via::kHook);
      on_accepted(key, {});
    }
  };
  if (paused_) return text;
  for (const auto priority : kPriorities) take_from(lane({mode, priority}));
  if (mode == DeliveryMode::NextMessage)
    for (const auto priority : kPriorities) take_from(silent_queue(priority));
  return text;
}

/// Deliveries of one text may appear in any order, and a matched one allows a match directly after it.
void DeliveryScheduler::on_model_input(EvidenceMatcher& input, std::string_view via, std::string_view id) {
  const auto finish_if_shown = [&](const UnprovenDelivery& unproven) {
    if (!input.matches(unproven.delivery.text)) return false;
    last_seen_ = now_;
    finish(unproven.delivery,
           seen_receipt(unproven.via, via, id, format("via {}; its {} shows it", unproven.via, via)));
    return true;
  };
  while (std::erase_if(unproven_, finish_if_shown) + std::erase_if(in_doubt_, finish_if_shown) > 0) {}
}

std::optional<Delivery> DeliveryScheduler::extract(std::string_view id) {
  reclaim_from_injector();
  for (auto* queue : queues())
    if (auto delivery = queue->extract(id)) return delivery;
  return std::nullopt;
}

void DeliveryScheduler::move(const client::DeliveryRef& ref, DeliveryMode mode, Injection injection) {
  for (auto& unproven : unproven_)
    if (unproven.delivery.ref.id == ref.id) unproven.delivery.ref = ref;
  auto delivery = extract(ref.id);
  if (!delivery) return;
  delivery->ref = ref;
  if (std::exchange(delivery->mode, mode) != mode) delivery->injection = std::move(injection);
  queue_of(*delivery).add(*std::move(delivery));
}

bool DeliveryScheduler::cancel(std::string_view id) { return extract(id).has_value(); }

std::vector<std::string> DeliveryScheduler::fetch(const std::vector<std::string>& ids) {
  reclaim_from_injector();
  std::vector<std::string> taken;
  for (auto* queue : queues())
    queue->erase_if([&](Delivery& delivery) {
      if (delivery.ref.id.empty() || std::ranges::find(ids, delivery.message) == ids.end() || !log_intent(delivery))
        return false;
      taken.push_back(delivery.message);
      fetched_.push_back(std::move(delivery));
      return true;
    });
  return taken;
}

void DeliveryScheduler::on_fetched() {
  for (const auto& delivery : std::exchange(fetched_, {}))
    finish(delivery, seen_receipt(adapters::via::kMcp, adapters::via::kMcp, delivery.message, "fetched by the agent"));
}

std::vector<const Delivery*> DeliveryScheduler::fetchable() const {
  std::vector<const Delivery*> all;
  const auto add = [&](const FairQueue& queue) { std::ranges::copy(queue.in_order(), std::back_inserter(all)); };
  for (const auto priority : kPriorities)
    for (const auto mode : kModeOrder) add(lanes_[protocol::lane_code({mode, priority})]);
  for (const auto priority : kPriorities) add(silent_[static_cast<std::size_t>(priority)]);
  return all;
}

void DeliveryScheduler::on_agent_exit() {
  on_fetched();
  for (const auto& unproven : unproven_)
    finish(unproven.delivery,
           {.status = ReceiptStatus::InDoubt,
            .reason = format("accepted via {}; the agent ended before its transcript showed it", unproven.via),
            .via = std::string{unproven.via}});
  unproven_.clear();
}

DeliveryRoute DeliveryScheduler::route_of(const Delivery& delivery, const adapters::NativeCapabilities& can) const {
  using Kind = DeliveryRoute::Kind;
  for (const auto& unproven : unproven_)
    if (&unproven.delivery == &delivery) return {Kind::Interface, unproven.via};
  if (delivery.injection.has_started()) return {Kind::Typed};
  if (delivery.mode == DeliveryMode::Manual) return {Kind::Interface, adapters::via::kFetch};
  const auto& by = can.by(delivery.silent ? DeliveryMode::NextMessage : delivery.mode);
  if (delivery.silent)
    return by.via.empty() ? DeliveryRoute{Kind::WithAnother} : DeliveryRoute{Kind::Interface, by.via};
  const bool is_native = by.timing != DeliveryTiming::Never && !must_be_typed(delivery, by);
  return is_native ? DeliveryRoute{Kind::Interface, by.via} : DeliveryRoute{Kind::Typed};
}

std::vector<const Delivery*> DeliveryScheduler::pending() const {
  std::vector<const Delivery*> all;
  for (const auto& unproven : unproven_) all.push_back(&unproven.delivery);
  std::ranges::copy(fetchable(), std::back_inserter(all));
  return all;
}

std::optional<Delivery> DeliveryScheduler::take_logged(FairQueue& from,
                                                       const std::function<bool(const Delivery&)>& fits) {
  auto delivery = from.take_if(fits);
  if (!delivery || log_intent(*delivery)) return delivery;
  from.requeue(*std::move(delivery));
  return std::nullopt;
}

bool DeliveryScheduler::log_intent(Delivery& delivery) {
  return delivery.ref.id.empty() || intent_.contains(intent_key(delivery)) ||
         intent_.add(intent_key(delivery)).has_value();
}

void DeliveryScheduler::defer(Delivery& delivery, std::string_view reason) {
  set_reason(delivery, reason, now_);
  if (delivery.reported_reason == reason || delivery.ref.id.empty()) return;
  delivery.reported_reason = reason;
  ++delivery.reported_reasons;
  reports_.report(delivery.ref, {.status = ReceiptStatus::Deferred, .reason = delivery.reason});
}

void DeliveryScheduler::finish(const Delivery& delivery, protocol::Receipt receipt) {
  if (delivery.ref.id.empty()) return;  // a notice of the relay
  intent_.add_outcome(intent_key(delivery), receipt);
  reports_.report(delivery.ref, std::move(receipt));
}

}  // namespace relay::host
