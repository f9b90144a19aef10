#include "host/mailroom.h"

#include <algorithm>

#include "base/format.h"
#include "speech/line_shape.h"
#include "text/sanitize.h"

namespace relay::host {
namespace {

using protocol::ReceiptStatus;

constexpr Millis kNoteRetry{1'000};

/// A letter with the accents that follow it (U+0300 to U+036F).
using Letters = std::vector<std::string_view>;

bool is_accent(std::string_view character) {
  return character.size() == 2 &&
         (character[0] == '\xcc' || (character[0] == '\xcd' && static_cast<unsigned char>(character[1]) < 0xb0));
}

constexpr std::string_view kShownBreak = "↵";  // how some composers show the end of a line

Letters without_blanks(std::string_view text) {
  Letters letters;
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
          .way = std::string{adapters::way::kTerminal},
          .evidence = std::string{evidence}};
}

protocol::Receipt shown_receipt(std::string_view way, std::string_view id) {
  return seen_receipt(adapters::way::kTerminal, way, id, format("typed; its {} shows it", way));
}

}  // namespace

void Mailroom::add(Letter letter) { letters_.push_back(std::move(letter)); }

std::optional<Letter> Mailroom::take_back() {
  if (letters_.empty() || letters_.back().done || letters_.back().injection.begun()) return std::nullopt;
  auto letter = std::move(letters_.back());
  letters_.pop_back();
  return letter;
}

std::optional<Letter> Mailroom::explanation(std::string_view sentence) {
  if (explanations_ >= kMaxExplanations) return std::nullopt;
  ++explanations_;
  return Letter{.place = {},
                .from = "Relay",
                .text = format("Relay: {}", text::harmless_line(sentence)),
                .injection = Injection{rules_}};
}

void Mailroom::say_now(std::string text, SteadyTime now, std::move_only_function<void(Result<void>)> done) {
  letters_.push_front({.from = "a person",
                       .text = std::move(text),
                       .injection = Injection{rules_},
                       .done = std::move(done),
                       .give_up_at = now + kSayPatience});
}

void Mailroom::on_agent_gone() {
  if (!in_hand()) return;
  auto& letter = letters_.front();
  if (letter.done)
    letter.done(letter.injection.entered() ? Result<void>{} : fail(std::string{kEnded}));
  else
    finish(letter, typed_receipt(ReceiptStatus::InDoubt, "", kEnded));
  letters_.pop_front();
}

void Mailroom::relocate(const client::Place& place) {
  for (auto& letter : letters_) {
    if (letter.place.id == place.id) letter.place = place;
    for (auto& quiet : letter.company)
      if (quiet.place.id == place.id) quiet.place = place;
  }
}

/// In the order they stand in the paste: one may be known by standing behind another.
void Mailroom::on_given(Shown& shown, std::string_view way, std::string_view id) {
  const auto show = [&](Letter& letter) {
    const bool counts = !letter.place.id.empty() || letter.done;
    if (!letter.seen && counts && shown.shows(letter.text)) letter.seen = shown_receipt(way, id);
  };
  std::erase_if(typed_, [&](const Typed& typed) {
    if (!shown.shows(typed.text)) return false;
    const auto receipt = shown_receipt(way, id);
    intent_.add_end(typed.note, receipt);
    hands_.report(typed.place, receipt);
    return true;
  });
  if (!unshown_.empty() && shown.shows(unshown_)) unshown_.clear();
  if (!in_hand() || !letters_.front().injection.sent()) return;
  for (auto& quiet : letters_.front().company) show(quiet);
  show(letters_.front());
}

/// A paste is sent as a whole: what shows one of it shows that all of it was. Once a person has edited it each must be
/// shown.
const protocol::Receipt* Mailroom::shown_of(const Letter& letter) {
  const protocol::Receipt* shown = nullptr;
  bool all = true;
  const auto look_at = [&](const Letter& each) {
    if (each.seen && shown == nullptr) shown = &*each.seen;
    all = all && (each.seen || each.place.id.empty());
  };
  look_at(letter);
  for (const auto& quiet : letter.company) look_at(quiet);
  return all || !letter.injection.edited() ? shown : nullptr;
}

/// What the composer holds is ours and nothing else: all of it, the part that has room, or it was folded away. Rows are
/// wrapped at blanks, so blanks do not count.
bool Mailroom::holds(const View& view, const Letter& letter) {
  constexpr std::size_t kEnoughBytes = 12;
  if (view.composer == nullptr || !*view.composer) return true;
  const auto shown = speech::trimmed((*view.composer)->draft);
  if (shown.starts_with("[Pasted") && shown.ends_with(']')) return true;
  const auto draft = without_blanks(shown);
  const auto ours = without_blanks(letter.pasted);
  std::size_t bytes = 0;
  for (const auto each : draft) bytes += each.size();
  return (bytes >= kEnoughBytes || draft.size() == ours.size()) &&
         !std::ranges::search(ours, draft, looks_same).empty();
}

/// The composer is seen to hold our text or its beginning or its end, whatever else stands there.
bool Mailroom::stands(const View& view, const Letter& letter) {
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

bool Mailroom::is_free(const View& view) {
  return view.composer != nullptr && *view.composer && (*view.composer)->draft.empty();
}

bool Mailroom::may_interrupt(const View& view, const Letter& letter) const {
  return view.since != own_turn_ || (letter.as_user && unshown_.empty() && typed_.empty() && !submitted_);
}

std::optional<SteadyTime> Mailroom::deliver(const View& view) {
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
    deaf_ = deaf_ && view.revision == pasted_on_;
    if (deaf_ && !letter.injection.begun()) {
      set_reason(letter, "the screen does not react to what is typed", view.now);
      return again(letter, tell_waiting(letter, view.now), view);
    }
    if (turn_is_due(view) && !letter.injection.begun() && view.state == profiles::State::Idle) {
      set_reason(letter, "the turn of the message before it has not begun", view.now);
      return again(letter, submitted_->until, view);
    }
    if (letter.injection.begun() && view.drained) tell_written(letter);
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
    if (!letter.injection.begun() && !letter.company.empty()) hands_.return_quiet(std::exchange(letter.company, {}));
    const bool passing = decision.step == Step::Wait && decision.look_again && !letter.injection.doubted();
    if (const auto* shown = shown_of(letter); shown != nullptr && !passing)
      decision = {Step::Delivered, shown->reason, {}, shown->evidence};  // whatever the screen shows
    if (decision.step == Step::Wait) {
      set_reason(letter, decision.reason, view.now);
      // What passes by itself is not worth a line in the ledger.
      return again(letter, decision.look_again ? decision.look_again : tell_waiting(letter, view.now), view);
    }
    if (decision.step == Step::Paste && !noted(letter)) {  // nothing was written: it begins anew
      letter.injection.not_pasted();
      set_reason(letter, "the note of what is typed cannot be written", view.now);
      (void)tell_waiting(letter, view.now);
      return view.now + kNoteRetry;
    }
    if (decision.step == Step::Paste) pasted_on_ = view.revision;
    if (decision.step == Step::InDoubt && !letter.injection.seen() && view.revision == pasted_on_) deaf_ = true;
    carry_out(decision, letter, view);
    if (decision.step == Step::Paste || decision.step == Step::Enter || decision.step == Step::Interrupt ||
        decision.step == Step::Erase)
      return view.now + std::min(rules_.submit_gap, kErasePatience);
    if (decision.step == Step::Delivered) expect_turn(letter, view);
    if (letter.injection.sent()) {
      const bool is_tracked = !letter.place.id.empty() && decision.step == Step::Delivered;  // in typed_
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
bool Mailroom::turn_is_due(const View& view) {
  if (!submitted_) return false;
  const bool working = view.state == profiles::State::Working;
  if (working) own_turn_ = view.since;
  submitted_->worked = submitted_->worked || working;
  const bool seen = !submitted_->note.empty() &&
                    std::ranges::none_of(typed_, [&](const Typed& typed) { return typed.note == submitted_->note; });
  if (seen || view.now >= submitted_->until || (submitted_->worked && view.state == profiles::State::Idle))
    submitted_.reset();
  return submitted_.has_value();
}

void Mailroom::expect_turn(const Letter& letter, const View& view) {
  submitted_.reset();
  if (letter.injection.worked() || letter.seen || view.state == profiles::State::Working) return;
  submitted_ = Submitted{.note = letter.place.id.empty() ? "" : note_of(letter),
                         .until = view.now + (view.has_record ? kSeenPatience : kTurnPatience)};
}

/// What has not begun may run out of time, a person who types from elsewhere does not wait for ever, nor do held keys.
std::optional<SteadyTime> Mailroom::again(const Letter& letter, std::optional<SteadyTime> at, const View& view) {
  const auto end = letter.injection.begun() ? letter.injection.keys_due()
                   : letter.done            ? std::optional{letter.give_up_at}
                                            : expiry_of(letter, view.now, view.wall);
  return at && end ? std::min(*at, *end) : at ? at : end;
}

/// In company: who else goes with it, each on its own line, where lines do not press Enter.
std::string Mailroom::text_of(Letter& letter, const View& view) {
  if (letter.done) return letter.pasted = letter.text;
  const auto room = rules_.max_paste_bytes;
  if (letter.text.size() < room) letter.company = hands_.take_quiet(room - letter.text.size());
  const auto put = [&](Letter& each) {
    if (!view.takes_lines) std::ranges::replace(each.text, '\n', ' ');
    letter.pasted += each.text;
  };
  letter.pasted.clear();
  for (auto& quiet : letter.company) {
    put(quiet);
    letter.pasted += view.takes_lines ? '\n' : ' ';
  }
  put(letter);
  return letter.pasted;
}

void Mailroom::carry_out(const Decision& decision, Letter& letter, const View& view) {
  const auto end = [&](ReceiptStatus status, std::string_view proof) {
    if (letter.done)
      return letter.done(status == ReceiptStatus::Delivered ? Result<void>{} : fail(std::string{decision.reason}));
    finish(letter, typed_receipt(status, proof, decision.reason, decision.evidence));
  };
  switch (decision.step) {
    case Step::Wait: break;
    case Step::Interrupt: hands_.interrupt(); break;
    case Step::Paste: hands_.paste(typable(text_of(letter, view))); break;
    case Step::Enter: hands_.press_enter(); break;
    case Step::Erase: hands_.erase(characters_in(letter.pasted) + kSpareErasures); break;
    case Step::Delivered: end(ReceiptStatus::Delivered, "submitted"); break;
    case Step::Failed: end(ReceiptStatus::Failed, ""); break;
    case Step::InDoubt: end(ReceiptStatus::InDoubt, ""); break;
  }
}

bool Mailroom::noted(const Letter& letter) {
  return letter.place.id.empty() || intent_.holds(note_of(letter)) || intent_.add(note_of(letter)).has_value();
}

/// One letter and who went with it: what its agent's record shows decides, else what became of the typing.
void Mailroom::finish(Letter& letter, protocol::Receipt receipt) {
  if (const auto* shown = shown_of(letter); shown != nullptr && receipt.status != ReceiptStatus::Delivered)
    receipt = typed_receipt(ReceiptStatus::Delivered, "submitted", shown->reason, shown->evidence);
  const auto tell = [&](Letter& each) {
    if (each.place.id.empty()) return;  // a word of our own
    const auto& said = each.seen ? *each.seen : receipt;
    intent_.add_end(note_of(each), said);
    hands_.report(each.place, said);
    if (each.seen || receipt.status != ReceiptStatus::Delivered) return;
    if (typed_.size() >= kMaxTyped) typed_.pop_front();
    typed_.push_back({each.place, note_of(each), std::move(each.text)});
  };
  for (auto& quiet : letter.company) tell(quiet);
  tell(letter);
}

void Mailroom::tell_written(Letter& letter) {
  const auto tell = [&](Letter& each) {
    if (std::exchange(each.written, true) || each.place.id.empty()) return;
    hands_.report(each.place, typed_receipt(ReceiptStatus::Accepted, "written", ""));
  };
  for (auto& quiet : letter.company) tell(quiet);
  tell(letter);
}

/// When it must be asked again although nothing has changed.
std::optional<SteadyTime> Mailroom::tell_waiting(Letter& letter, SteadyTime now) {
  if (should_tell_reason(letter, now))
    hands_.report(letter.place, {.status = ReceiptStatus::Deferred, .reason = letter.reason});
  return reason_due(letter);
}

}  // namespace relay::host
