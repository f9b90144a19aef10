#include "host/delivery/injector.h"

#include <algorithm>

#include "base/format.h"
#include "commands/line_shape.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

using protocol::ReceiptStatus;

constexpr Millis kIntentRetry{1'000};

/// Each character with the accents that follow it (U+0300 to U+036F).
using Characters = std::vector<std::string_view>;

bool is_accent(std::string_view character) {
  return character.size() == 2 &&
         (character[0] == '\xcc' || (character[0] == '\xcd' && static_cast<unsigned char>(character[1]) < 0xb0));
}

constexpr std::string_view kDrawnLineBreak = "↵";  // how some composers draw the end of a line

Characters visible_characters(std::string_view text) {
  Characters characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = text.substr(at, text::character_bytes(text.substr(at)));
    const bool joins = is_accent(character) && !characters.empty() && characters.back().end() == character.begin();
    if (joins)
      characters.back() = {characters.back().begin(), character.end()};
    else if (character != " " && character != "\n" && character != "\t" && character != kDrawnLineBreak)
      characters.push_back(character);
    at += character.size();
  }
  return characters;
}

/// Claude Code draws `e` and a combining accent as one character. Without tables, any single non-ASCII character matches.
bool looks_same(std::string_view one, std::string_view other) {
  const auto accented = [](std::string_view character) { return text::character_bytes(character) < character.size(); };
  const auto single = [&](std::string_view character) { return character.size() > 1 && !accented(character); };
  return one == other || (accented(one) && single(other)) || (single(one) && accented(other));
}

/// Extra erasures are harmless; they cover the blank after a backslash and an Enter that became a line break.
constexpr std::size_t kExtraErasures = 8;

std::size_t characters_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += text::character_bytes(text.substr(at));
  return count;
}

/// Some composers read a backslash before Enter as a line break. Agents trim the added blank.
std::string pad_trailing_backslash(std::string text) { return text.ends_with('\\') ? text + ' ' : text; }

constexpr std::string_view kEnded = "the agent ended while it was being typed";

protocol::Receipt typed_receipt(ReceiptStatus status, std::string_view proof, std::string_view reason,
                                std::string_view evidence = {}) {
  return {.status = status,
          .proof = std::string{proof},
          .reason = std::string{reason},
          .via = std::string{adapters::via::kTerminal},
          .evidence = std::string{evidence}};
}

protocol::Receipt typed_and_seen_receipt(std::string_view via, std::string_view id) {
  return seen_receipt(adapters::via::kTerminal, via, id, format("typed; its {} shows it", via));
}

}  // namespace

void Injector::add(Delivery delivery) { deliveries_.push_back(std::move(delivery)); }

std::optional<Delivery> Injector::reclaim() {
  if (deliveries_.empty() || deliveries_.back().done || deliveries_.back().injection.has_started()) return std::nullopt;
  auto delivery = std::move(deliveries_.back());
  deliveries_.pop_back();
  return delivery;
}

std::optional<Delivery> Injector::make_notice(std::string_view notice) {
  if (notices_ >= kMaxTypedNotices) return std::nullopt;
  ++notices_;
  return Delivery{.ref = {},
                  .from = "Relay",
                  .text = format("Relay: {}", text::sanitize_line(notice)),
                  .injection = Injection{rules_}};
}

void Injector::inject_user_text(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done) {
  deliveries_.push_front({.from = "the user",
                          .text = std::move(text),
                          .injection = Injection{rules_},
                          .done = std::move(done),
                          .give_up_at = now + kUserTextTimeout});
}

void Injector::on_agent_exit() {
  if (!is_injecting()) return;
  auto& delivery = deliveries_.front();
  if (delivery.done)
    delivery.done(delivery.injection.has_entered() ? Result<void>{} : fail(std::string{kEnded}));
  else
    finish(delivery, typed_receipt(ReceiptStatus::InDoubt, "", kEnded));
  deliveries_.pop_front();
}

void Injector::relocate(const client::DeliveryRef& ref) {
  for (auto& delivery : deliveries_) {
    if (delivery.ref.id == ref.id) delivery.ref = ref;
    for (auto& each : delivery.bundled)
      if (each.ref.id == ref.id) each.ref = ref;
  }
}

/// In the order of the paste, because a text may match directly after another one.
void Injector::on_model_input(EvidenceMatcher& input, std::string_view via, std::string_view id) {
  const auto mark_seen = [&](Delivery& delivery) {
    const bool counts = !delivery.ref.id.empty() || delivery.done;
    if (!delivery.seen && counts && input.matches(delivery.text)) delivery.seen = typed_and_seen_receipt(via, id);
  };
  std::erase_if(typed_, [&](const InjectedDelivery& typed) {
    if (!input.matches(typed.text)) return false;
    const auto receipt = typed_and_seen_receipt(via, id);
    intent_.add_outcome(typed.intent, receipt);
    reports_.report(typed.ref, receipt);
    return true;
  });
  if (!unseen_text_.empty() && input.matches(unseen_text_)) unseen_text_.clear();
  if (!is_injecting() || !deliveries_.front().injection.is_sent()) return;
  for (auto& each : deliveries_.front().bundled) mark_seen(each);
  mark_seen(deliveries_.front());
}

/// A paste is sent as a whole, so evidence for one delivery proves all. After the user edited it, each needs its own.
const protocol::Receipt* Injector::evidence_for(const Delivery& delivery) {
  const protocol::Receipt* shown = nullptr;
  bool all = true;
  const auto check = [&](const Delivery& each) {
    if (each.seen && shown == nullptr) shown = &*each.seen;
    all = all && (each.seen || each.ref.id.empty());
  };
  check(delivery);
  for (const auto& each : delivery.bundled) check(each);
  return all || !delivery.injection.is_edited() ? shown : nullptr;
}

/// The composer holds the pasted text and nothing else: all of it, the part that fits, or a folded paste. Rows wrap at
/// blanks, so blanks are ignored.
bool Injector::composer_matches(const View& view, const Delivery& delivery) {
  constexpr std::size_t kMinMatchBytes = 12;
  if (view.composer == nullptr || !*view.composer) return true;
  const auto text = commands::trimmed((*view.composer)->draft);
  if (text.starts_with("[Pasted") && text.ends_with(']')) return true;
  const auto draft = visible_characters(text);
  const auto pasted = visible_characters(delivery.pasted);
  std::size_t bytes = 0;
  for (const auto each : draft) bytes += each.size();
  return (bytes >= kMinMatchBytes || draft.size() == pasted.size()) &&
         !std::ranges::search(pasted, draft, looks_same).empty();
}

/// The composer holds the pasted text, its start or its end, perhaps with other text.
bool Injector::composer_contains(const View& view, const Delivery& delivery) {
  constexpr std::size_t kMinMatchCharacters = 12;
  if (view.composer == nullptr || !*view.composer || (*view.composer)->draft.empty()) return false;
  if (composer_matches(view, delivery)) return true;
  const auto draft = visible_characters((*view.composer)->draft);
  const auto pasted = visible_characters(delivery.pasted);
  const auto size = static_cast<std::ptrdiff_t>(std::min(pasted.size(), kMinMatchCharacters));
  const auto found = [&](auto from, auto to) {
    return !std::ranges::search(draft, std::ranges::subrange{from, to}, looks_same).empty();
  };
  return size > 0 && (found(pasted.begin(), pasted.begin() + size) || found(pasted.end() - size, pasted.end()));
}

bool Injector::is_free(const View& view) {
  return view.composer != nullptr && *view.composer && (*view.composer)->draft.empty();
}

bool Injector::may_interrupt(const View& view, const Delivery& delivery) const {
  return view.since != started_turn_at_ || (delivery.as_user && unseen_text_.empty() && typed_.empty() && !submitted_);
}

std::optional<SteadyTime> Injector::deliver(const View& view, SilentDeliveries& silent) {
  const bool had_one = !deliveries_.empty();
  while (!deliveries_.empty()) {
    auto& delivery = deliveries_.front();
    if (delivery.expires_at && *delivery.expires_at <= view.wall && !delivery.injection.has_started()) {
      finish(delivery, expired_receipt(delivery));
      deliveries_.pop_front();
      continue;
    }
    if (delivery.done && !delivery.injection.has_started() && view.now >= delivery.give_up_at) {
      delivery.done(fail(format("it was not typed: {}", delivery.reason)));
      deliveries_.pop_front();
      continue;
    }
    unresponsive_ = unresponsive_ && view.revision == paste_revision_;
    if (unresponsive_ && !delivery.injection.has_started()) {
      set_reason(delivery, "the screen does not react to what is typed", view.now);
      return next_call(delivery, report_pending(delivery, view.now), view);
    }
    if (turn_is_due(view) && !delivery.injection.has_started() && view.state == profiles::State::Idle) {
      set_reason(delivery, "the turn of the message before it has not started", view.now);
      return next_call(delivery, submitted_->until, view);
    }
    if (delivery.injection.has_started() && view.drained) report_written(delivery);
    auto decision = delivery.injection.decide({.now = view.now,
                                               .state = view.state,
                                               .blocker = view.blocker,
                                               .since = std::max(view.since, stable_from_),
                                               .typing = view.typing,
                                               .only_pasted_text = composer_matches(view, delivery),
                                               .composer_free = is_free(view) && may_interrupt(view, delivery),
                                               .composer_seen = view.composer == nullptr || *view.composer,
                                               .keys = view.keys,
                                               .text_visible = composer_contains(view, delivery)});
    if (!delivery.injection.has_started() && !delivery.bundled.empty())
      silent.return_silent(std::exchange(delivery.bundled, {}));
    const bool is_transient =
        decision.step == InjectionStep::Wait && decision.recheck_at && !delivery.injection.is_doubted();
    if (const auto* shown = evidence_for(delivery); shown != nullptr && !is_transient)
      decision = {InjectionStep::Delivered, shown->reason, {}, shown->evidence};  // the transcript outweighs the screen
    if (decision.step == InjectionStep::Wait) {
      set_reason(delivery, decision.reason, view.now);
      // A transient reason is not reported.
      return next_call(delivery, decision.recheck_at ? decision.recheck_at : report_pending(delivery, view.now), view);
    }
    if (decision.step == InjectionStep::Paste && !log_intent(delivery)) {  // nothing was written
      delivery.injection.undo_paste();
      set_reason(delivery, "the intent log cannot be written", view.now);
      (void)report_pending(delivery, view.now);
      return view.now + kIntentRetry;
    }
    if (decision.step == InjectionStep::Paste) paste_revision_ = view.revision;
    if (decision.step == InjectionStep::InDoubt && !delivery.injection.was_visible() &&
        view.revision == paste_revision_)
      unresponsive_ = true;
    execute(decision, delivery, view, silent);
    if (decision.step == InjectionStep::Paste || decision.step == InjectionStep::Enter ||
        decision.step == InjectionStep::Interrupt || decision.step == InjectionStep::Erase)
      return view.now + std::min(rules_.submit_gap, kEraseTimeout);
    if (decision.step == InjectionStep::Delivered) expect_turn(delivery, view);
    if (delivery.injection.is_sent()) {
      const bool is_tracked = !delivery.ref.id.empty() && decision.step == InjectionStep::Delivered;  // in typed_
      unseen_text_ = delivery.seen || is_tracked ? "" : delivery.text;
    }
    deliveries_.pop_front();
    stable_from_ = view.now;
    if (view.state == profiles::State::Working) started_turn_at_ = view.since;
  }
  // The gate is free now, and the screen may never change again: the scheduler may have a delivery for it.
  return had_one ? std::optional{view.now} : std::nullopt;
}

/// Two deliveries typed in a row would become one prompt, or the second would stay unsent, in a program that queues.
bool Injector::turn_is_due(const View& view) {
  if (!submitted_) return false;
  const bool working = view.state == profiles::State::Working;
  if (working) started_turn_at_ = view.since;
  submitted_->worked = submitted_->worked || working;
  const bool seen = !submitted_->intent.empty() && std::ranges::none_of(typed_, [&](const InjectedDelivery& typed) {
    return typed.intent == submitted_->intent;
  });
  if (seen || view.now >= submitted_->until || (submitted_->worked && view.state == profiles::State::Idle))
    submitted_.reset();
  return submitted_.has_value();
}

void Injector::expect_turn(const Delivery& delivery, const View& view) {
  submitted_.reset();
  if (delivery.injection.has_worked() || delivery.seen || view.state == profiles::State::Working) return;
  submitted_ = Submitted{.intent = delivery.ref.id.empty() ? "" : intent_key(delivery),
                         .until = view.now + (view.has_transcript ? kSeenTimeout : kTurnTimeout)};
}

/// The time of the next call: a delivery may expire, a user text or held keys may time out.
std::optional<SteadyTime> Injector::next_call(const Delivery& delivery, std::optional<SteadyTime> at,
                                              const View& view) {
  const auto end = delivery.injection.has_started() ? delivery.injection.keys_due()
                   : delivery.done                  ? std::optional{delivery.give_up_at}
                                                    : expiry_of(delivery, view.now, view.wall);
  return at && end ? std::min(*at, *end) : at ? at : end;
}

/// The text with silent deliveries before it, each on its own line where a line break is not an Enter.
std::string Injector::text_of(Delivery& delivery, const View& view, SilentDeliveries& silent) {
  if (delivery.done) return delivery.pasted = delivery.text;
  const auto room = rules_.max_paste_bytes;
  if (delivery.text.size() < room) delivery.bundled = silent.take_silent(room - delivery.text.size());
  const auto append = [&](Delivery& each) {
    if (!view.takes_lines) std::ranges::replace(each.text, '\n', ' ');
    delivery.pasted += each.text;
  };
  delivery.pasted.clear();
  for (auto& each : delivery.bundled) {
    append(each);
    delivery.pasted += view.takes_lines ? '\n' : ' ';
  }
  append(delivery);
  return delivery.pasted;
}

void Injector::execute(const InjectionDecision& decision, Delivery& delivery, const View& view,
                       SilentDeliveries& silent) {
  const auto finish_as = [&](ReceiptStatus status, std::string_view proof) {
    if (delivery.done)
      return delivery.done(status == ReceiptStatus::Delivered ? Result<void>{} : fail(std::string{decision.reason}));
    finish(delivery, typed_receipt(status, proof, decision.reason, decision.evidence));
  };
  switch (decision.step) {
    case InjectionStep::Wait: break;
    case InjectionStep::Interrupt: composer_.interrupt(); break;
    case InjectionStep::Paste: composer_.paste(pad_trailing_backslash(text_of(delivery, view, silent))); break;
    case InjectionStep::Enter: composer_.press_enter(); break;
    case InjectionStep::Erase: composer_.erase(characters_in(delivery.pasted) + kExtraErasures); break;
    case InjectionStep::Delivered: finish_as(ReceiptStatus::Delivered, "submitted"); break;
    case InjectionStep::Failed: finish_as(ReceiptStatus::Failed, ""); break;
    case InjectionStep::InDoubt: finish_as(ReceiptStatus::InDoubt, ""); break;
  }
}

bool Injector::log_intent(const Delivery& delivery) {
  return delivery.ref.id.empty() || intent_.contains(intent_key(delivery)) ||
         intent_.add(intent_key(delivery)).has_value();
}

/// Settles a delivery and those typed with it: by evidence if there is some, else by the outcome of the typing.
void Injector::finish(Delivery& delivery, protocol::Receipt receipt) {
  if (const auto* shown = evidence_for(delivery); shown != nullptr && receipt.status != ReceiptStatus::Delivered)
    receipt = typed_receipt(ReceiptStatus::Delivered, "submitted", shown->reason, shown->evidence);
  const auto report = [&](Delivery& each) {
    if (each.ref.id.empty()) return;  // a notice of the relay
    const auto& final_receipt = each.seen ? *each.seen : receipt;
    intent_.add_outcome(intent_key(each), final_receipt);
    reports_.report(each.ref, final_receipt);
    if (each.seen || receipt.status != ReceiptStatus::Delivered) return;
    if (typed_.size() >= kMaxTyped) typed_.pop_front();
    typed_.push_back({each.ref, intent_key(each), std::move(each.text)});
  };
  for (auto& each : delivery.bundled) report(each);
  report(delivery);
}

void Injector::report_written(Delivery& delivery) {
  const auto report = [&](Delivery& each) {
    if (std::exchange(each.written, true) || each.ref.id.empty()) return;
    reports_.report(each.ref, typed_receipt(ReceiptStatus::Accepted, "written", ""));
  };
  for (auto& each : delivery.bundled) report(each);
  report(delivery);
}

/// The time of the next call without any change.
std::optional<SteadyTime> Injector::report_pending(Delivery& delivery, SteadyTime now) {
  if (should_report_reason(delivery, now))
    reports_.report(delivery.ref, {.status = ReceiptStatus::Deferred, .reason = delivery.reason});
  return reason_due(delivery);
}

}  // namespace relay::host
