#include "host/delivery/injector.h"

#include <algorithm>

#include "base/format.h"
#include "commands/line_shape.h"
#include "text/sanitize.h"

namespace relay::host {
namespace {

using protocol::ReceiptStatus;

constexpr Millis kNoteRetry{1'000};

/// A letter with the accents that follow it (U+0300 to U+036F).
using Deliveries = std::vector<std::string_view>;

bool is_accent(std::string_view character) {
  return character.size() == 2 &&
         (character[0] == '\xcc' || (character[0] == '\xcd' && static_cast<unsigned char>(character[1]) < 0xb0));
}

constexpr std::string_view kShownBreak = "↵";  // how some composers show the end of a line

Deliveries without_blanks(std::string_view text) {
  Deliveries letters;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = text.substr(at, text::character_bytes(text.substr(at)));
    const bool joins = is_accent(character) && !letters.empty() && letters.back().end() == character.begin();
    if (joins)
      letters.back() = {letters.back().begin(), character.end()};
    else if (character != " " && character != "\n" && character != "\t" && character != kShownBreak)
      letters.push_back(character);
    at += character.size();
  }
  return letters;
}

/// Claude Code shows `e` and an accent as the one letter both make. Without tables: any single letter beyond ASCII.
bool looks_same(std::string_view one, std::string_view other) {
  const auto accented = [](std::string_view letter) { return text::character_bytes(letter) < letter.size(); };
  const auto single = [&](std::string_view letter) { return letter.size() > 1 && !accented(letter); };
  return one == other || (accented(one) && single(other)) || (single(one) && accented(other));
}

/// More than are there do no harm: a blank that `typable` adds, a line break that an Enter became.
constexpr std::size_t kSpareErasures = 8;

std::size_t characters_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += text::character_bytes(text.substr(at));
  return count;
}

/// A backslash before Enter is a line break to some composers. Agents cut the blank off again.
std::string typable(std::string text) { return text.ends_with('\\') ? text + ' ' : text; }

constexpr std::string_view kEnded = "the agent ended while it was being typed";

protocol::Receipt typed_receipt(ReceiptStatus status, std::string_view proof, std::string_view reason,
                                std::string_view evidence = {}) {
  return {.status = status,
          .proof = std::string{proof},
          .reason = std::string{reason},
          .via = std::string{adapters::way::kTerminal},
          .evidence = std::string{evidence}};
}

protocol::Receipt shown_receipt(std::string_view way, std::string_view id) {
  return seen_receipt(adapters::way::kTerminal, way, id, format("typed; its {} shows it", way));
}

}  // namespace

void Injector::add(Delivery letter) { letters_.push_back(std::move(letter)); }

std::optional<Delivery> Injector::take_back() {
  if (letters_.empty() || letters_.back().done || letters_.back().injection.begun()) return std::nullopt;
  auto letter = std::move(letters_.back());
  letters_.pop_back();
  return letter;
}

std::optional<Delivery> Injector::explanation(std::string_view sentence) {
  if (explanations_ >= kMaxExplanations) return std::nullopt;
  ++explanations_;
  return Delivery{.ref = {},
                  .from = "Relay",
                  .text = format("Relay: {}", text::sanitize_line(sentence)),
                  .injection = Injection{rules_}};
}

void Injector::say_now(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done) {
  letters_.push_front({.from = "a person",
                       .text = std::move(text),
                       .injection = Injection{rules_},
                       .done = std::move(done),
                       .give_up_at = now + kSayTimeout});
}

void Injector::on_agent_gone() {
  if (!is_injecting()) return;
  auto& letter = letters_.front();
  if (letter.done)
    letter.done(letter.injection.entered() ? Result<void>{} : fail(std::string{kEnded}));
  else
    finish(letter, typed_receipt(ReceiptStatus::InDoubt, "", kEnded));
  letters_.pop_front();
}

void Injector::relocate(const client::DeliveryRef& place) {
  for (auto& letter : letters_) {
    if (letter.ref.id == place.id) letter.ref = place;
    for (auto& quiet : letter.bundled)
      if (quiet.ref.id == place.id) quiet.ref = place;
  }
}

/// In the order they stand in the paste: one may be known by standing behind another.
void Injector::on_given(EvidenceMatcher& shown, std::string_view way, std::string_view id) {
  const auto show = [&](Delivery& letter) {
    const bool counts = !letter.ref.id.empty() || letter.done;
    if (!letter.seen && counts && shown.matches(letter.text)) letter.seen = shown_receipt(way, id);
  };
  std::erase_if(typed_, [&](const InjectedDelivery& typed) {
    if (!shown.matches(typed.text)) return false;
    const auto receipt = shown_receipt(way, id);
    intent_.add_outcome(typed.note, receipt);
    reports_.report(typed.place, receipt);
    return true;
  });
  if (!unshown_.empty() && shown.matches(unshown_)) unshown_.clear();
  if (!is_injecting() || !letters_.front().injection.sent()) return;
  for (auto& quiet : letters_.front().bundled) show(quiet);
  show(letters_.front());
}

/// A paste is sent as a whole: what shows one of it shows that all of it was. Once a person has edited it each must be
/// shown.
const protocol::Receipt* Injector::shown_of(const Delivery& letter) {
  const protocol::Receipt* shown = nullptr;
  bool all = true;
  const auto look_at = [&](const Delivery& each) {
    if (each.seen && shown == nullptr) shown = &*each.seen;
    all = all && (each.seen || each.ref.id.empty());
  };
  look_at(letter);
  for (const auto& quiet : letter.bundled) look_at(quiet);
  return all || !letter.injection.edited() ? shown : nullptr;
}

/// What the composer holds is ours and nothing else: all of it, the part that has room, or it was folded away. Rows are
/// wrapped at blanks, so blanks do not count.
bool Injector::holds(const View& view, const Delivery& letter) {
  constexpr std::size_t kEnoughBytes = 12;
  if (view.composer == nullptr || !*view.composer) return true;
  const auto shown = commands::trimmed((*view.composer)->draft);
  if (shown.starts_with("[Pasted") && shown.ends_with(']')) return true;
  const auto draft = without_blanks(shown);
  const auto ours = without_blanks(letter.pasted);
  std::size_t bytes = 0;
  for (const auto each : draft) bytes += each.size();
  return (bytes >= kEnoughBytes || draft.size() == ours.size()) &&
         !std::ranges::search(ours, draft, looks_same).empty();
}

/// The composer is seen to hold our text or its beginning or its end, whatever else stands there.
bool Injector::stands(const View& view, const Delivery& letter) {
  constexpr std::size_t kEnoughLetters = 12;
  if (view.composer == nullptr || !*view.composer || (*view.composer)->draft.empty()) return false;
  if (holds(view, letter)) return true;
  const auto draft = without_blanks((*view.composer)->draft);
  const auto ours = without_blanks(letter.pasted);
  const auto size = static_cast<std::ptrdiff_t>(std::min(ours.size(), kEnoughLetters));
  const auto found = [&](auto from, auto to) {
    return !std::ranges::search(draft, std::ranges::subrange{from, to}, looks_same).empty();
  };
  return size > 0 && (found(ours.begin(), ours.begin() + size) || found(ours.end() - size, ours.end()));
}

bool Injector::is_free(const View& view) {
  return view.composer != nullptr && *view.composer && (*view.composer)->draft.empty();
}

bool Injector::may_interrupt(const View& view, const Delivery& letter) const {
  return view.since != own_turn_ || (letter.as_user && unshown_.empty() && typed_.empty() && !submitted_);
}

std::optional<SteadyTime> Injector::deliver(const View& view, SilentDeliveries& silent) {
  const bool had_one = !letters_.empty();
  while (!letters_.empty()) {
    auto& letter = letters_.front();
    if (letter.expires_at && *letter.expires_at <= view.wall && !letter.injection.begun()) {
      finish(letter, expired_receipt(letter));
      letters_.pop_front();
      continue;
    }
    if (letter.done && !letter.injection.begun() && view.now >= letter.give_up_at) {
      letter.done(fail(format("it was not typed: {}", letter.reason)));
      letters_.pop_front();
      continue;
    }
    unresponsive_ = unresponsive_ && view.revision == pasted_on_;
    if (unresponsive_ && !letter.injection.begun()) {
      set_reason(letter, "the screen does not react to what is typed", view.now);
      return again(letter, report_pending(letter, view.now), view);
    }
    if (turn_is_due(view) && !letter.injection.begun() && view.state == profiles::State::Idle) {
      set_reason(letter, "the turn of the message before it has not begun", view.now);
      return again(letter, submitted_->until, view);
    }
    if (letter.injection.begun() && view.drained) report_written(letter);
    auto decision = letter.injection.decide({.now = view.now,
                                             .state = view.state,
                                             .blocker = view.blocker,
                                             .since = std::max(view.since, settled_from_),
                                             .typing = view.typing,
                                             .draft_is_ours = holds(view, letter),
                                             .composer_free = is_free(view) && may_interrupt(view, letter),
                                             .composer_seen = view.composer == nullptr || *view.composer,
                                             .keys = view.keys,
                                             .text_stands = stands(view, letter)});
    if (!letter.injection.begun() && !letter.bundled.empty()) silent.return_silent(std::exchange(letter.bundled, {}));
    const bool passing = decision.step == InjectionStep::Wait && decision.recheck_at && !letter.injection.doubted();
    if (const auto* shown = shown_of(letter); shown != nullptr && !passing)
      decision = {InjectionStep::Delivered, shown->reason, {}, shown->evidence};  // whatever the screen shows
    if (decision.step == InjectionStep::Wait) {
      set_reason(letter, decision.reason, view.now);
      // What passes by itself is not worth a line in the ledger.
      return again(letter, decision.recheck_at ? decision.recheck_at : report_pending(letter, view.now), view);
    }
    if (decision.step == InjectionStep::Paste && !noted(letter)) {  // nothing was written: it begins anew
      letter.injection.not_pasted();
      set_reason(letter, "the note of what is typed cannot be written", view.now);
      (void)report_pending(letter, view.now);
      return view.now + kNoteRetry;
    }
    if (decision.step == InjectionStep::Paste) pasted_on_ = view.revision;
    if (decision.step == InjectionStep::InDoubt && !letter.injection.seen() && view.revision == pasted_on_)
      unresponsive_ = true;
    execute(decision, letter, view, silent);
    if (decision.step == InjectionStep::Paste || decision.step == InjectionStep::Enter ||
        decision.step == InjectionStep::Interrupt || decision.step == InjectionStep::Erase)
      return view.now + std::min(rules_.submit_gap, kEraseTimeout);
    if (decision.step == InjectionStep::Delivered) expect_turn(letter, view);
    if (letter.injection.sent()) {
      const bool is_tracked = !letter.ref.id.empty() && decision.step == InjectionStep::Delivered;  // in typed_
      unshown_ = letter.seen || is_tracked ? "" : letter.text;
    }
    letters_.pop_front();
    settled_from_ = view.now;
    if (view.state == profiles::State::Working) own_turn_ = view.since;
  }
  // The gate has become free, and perhaps nothing will ever change on the screen: whoever waits elsewhere may come now.
  return had_one ? std::optional{view.now} : std::nullopt;
}

/// Two that are typed in a row would become one prompt, or the second would stand unsent, where the program queues.
bool Injector::turn_is_due(const View& view) {
  if (!submitted_) return false;
  const bool working = view.state == profiles::State::Working;
  if (working) own_turn_ = view.since;
  submitted_->worked = submitted_->worked || working;
  const bool seen = !submitted_->note.empty() && std::ranges::none_of(typed_, [&](const InjectedDelivery& typed) {
    return typed.note == submitted_->note;
  });
  if (seen || view.now >= submitted_->until || (submitted_->worked && view.state == profiles::State::Idle))
    submitted_.reset();
  return submitted_.has_value();
}

void Injector::expect_turn(const Delivery& letter, const View& view) {
  submitted_.reset();
  if (letter.injection.worked() || letter.seen || view.state == profiles::State::Working) return;
  submitted_ = Submitted{.note = letter.ref.id.empty() ? "" : intent_key(letter),
                         .until = view.now + (view.has_record ? kSeenTimeout : kTurnTimeout)};
}

/// What has not begun may run out of time, a person who types from elsewhere does not wait for ever, nor do held keys.
std::optional<SteadyTime> Injector::again(const Delivery& letter, std::optional<SteadyTime> at, const View& view) {
  const auto end = letter.injection.begun() ? letter.injection.keys_due()
                   : letter.done            ? std::optional{letter.give_up_at}
                                            : expiry_of(letter, view.now, view.wall);
  return at && end ? std::min(*at, *end) : at ? at : end;
}

/// In company: who else goes with it, each on its own line, where lines do not press Enter.
std::string Injector::text_of(Delivery& letter, const View& view, SilentDeliveries& silent) {
  if (letter.done) return letter.pasted = letter.text;
  const auto room = rules_.max_paste_bytes;
  if (letter.text.size() < room) letter.bundled = silent.take_silent(room - letter.text.size());
  const auto put = [&](Delivery& each) {
    if (!view.takes_lines) std::ranges::replace(each.text, '\n', ' ');
    letter.pasted += each.text;
  };
  letter.pasted.clear();
  for (auto& quiet : letter.bundled) {
    put(quiet);
    letter.pasted += view.takes_lines ? '\n' : ' ';
  }
  put(letter);
  return letter.pasted;
}

void Injector::execute(const InjectionDecision& decision, Delivery& letter, const View& view,
                       SilentDeliveries& silent) {
  const auto end = [&](ReceiptStatus status, std::string_view proof) {
    if (letter.done)
      return letter.done(status == ReceiptStatus::Delivered ? Result<void>{} : fail(std::string{decision.reason}));
    finish(letter, typed_receipt(status, proof, decision.reason, decision.evidence));
  };
  switch (decision.step) {
    case InjectionStep::Wait: break;
    case InjectionStep::Interrupt: composer_.interrupt(); break;
    case InjectionStep::Paste: composer_.paste(typable(text_of(letter, view, silent))); break;
    case InjectionStep::Enter: composer_.press_enter(); break;
    case InjectionStep::Erase: composer_.erase(characters_in(letter.pasted) + kSpareErasures); break;
    case InjectionStep::Delivered: end(ReceiptStatus::Delivered, "submitted"); break;
    case InjectionStep::Failed: end(ReceiptStatus::Failed, ""); break;
    case InjectionStep::InDoubt: end(ReceiptStatus::InDoubt, ""); break;
  }
}

bool Injector::noted(const Delivery& letter) {
  return letter.ref.id.empty() || intent_.contains(intent_key(letter)) || intent_.add(intent_key(letter)).has_value();
}

/// One letter and who went with it: what its agent's record shows decides, else what became of the typing.
void Injector::finish(Delivery& letter, protocol::Receipt receipt) {
  if (const auto* shown = shown_of(letter); shown != nullptr && receipt.status != ReceiptStatus::Delivered)
    receipt = typed_receipt(ReceiptStatus::Delivered, "submitted", shown->reason, shown->evidence);
  const auto tell = [&](Delivery& each) {
    if (each.ref.id.empty()) return;  // a word of our own
    const auto& said = each.seen ? *each.seen : receipt;
    intent_.add_outcome(intent_key(each), said);
    reports_.report(each.ref, said);
    if (each.seen || receipt.status != ReceiptStatus::Delivered) return;
    if (typed_.size() >= kMaxTyped) typed_.pop_front();
    typed_.push_back({each.ref, intent_key(each), std::move(each.text)});
  };
  for (auto& quiet : letter.bundled) tell(quiet);
  tell(letter);
}

void Injector::report_written(Delivery& letter) {
  const auto tell = [&](Delivery& each) {
    if (std::exchange(each.written, true) || each.ref.id.empty()) return;
    reports_.report(each.ref, typed_receipt(ReceiptStatus::Accepted, "written", ""));
  };
  for (auto& quiet : letter.bundled) tell(quiet);
  tell(letter);
}

/// When it must be asked again although nothing has changed.
std::optional<SteadyTime> Injector::report_pending(Delivery& letter, SteadyTime now) {
  if (should_tell_reason(letter, now))
    reports_.report(letter.ref, {.status = ReceiptStatus::Deferred, .reason = letter.reason});
  return reason_due(letter);
}

}  // namespace relay::host
