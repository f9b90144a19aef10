#include "host/keyboard.h"

#include <algorithm>
#include <utility>

namespace relay::host {

void Keyboard::connect(pty::Program& program) {
  program_ = &program;
  on_room();
}

void Keyboard::person_types(std::string_view bytes, SteadyTime now) {
  if (holds_ || !held_.empty() || held_.must_wait(bytes, now)) return hold_input(bytes, now);
  write(bytes);
  count(splitter_.expire(now), last_typed_);  // an Escape of long ago does not belong to what is typed now
  count(splitter_.feed(bytes, now), now);
  last_typed_ = now;
  if (splitter_.may_be_escape()) typing_.any = typing_.edit = now;
}

/// A terminal's reply does not wait: the program may wait for it.
void Keyboard::pass_replies(SteadyTime now) {
  if (!held_.empty() && !held_.keys_since() && !splitter_.deadline()) write(held_.take(now));
}

void Keyboard::hold_input(std::string_view bytes, SteadyTime now) {
  held_.classify(splitter_.expire(now));
  held_.add(bytes, now);
  held_.classify(splitter_.feed(bytes, now));
  last_typed_ = now;
  pass_replies(now);
  on_room();
}

bool Keyboard::hold(bool holds, SteadyTime now) {
  const auto since = held_.keys_since();
  holds_ = holds && !(since && now >= *since + kMaxHeld);
  return !holds_ && release(now);
}

bool Keyboard::release(SteadyTime now) {
  if (held_.empty()) return false;
  held_.classify(splitter_.expire(now));
  const bool edits = held_.has_edits() || splitter_.may_be_escape(), enters = held_.has_enter();
  const auto bytes = held_.take(now);
  if (bytes.empty()) return false;
  if (edits) typing_.any = typing_.edit = now;
  if (enters) typing_.any = typing_.enter = now;
  write(bytes);
  return true;
}

HeldKeys Keyboard::held(SteadyTime now) {
  if (!held_.empty()) held_.classify(splitter_.expire(now));
  pass_replies(now);
  return {.since = held_.keys_since(), .cancel = held_.has_cancel()};
}

std::optional<SteadyTime> Keyboard::due() const {
  if (held_.empty()) return std::nullopt;
  if (!holds_) return held_.due();
  if (const auto undecided = splitter_.deadline()) return undecided;
  const auto since = held_.keys_since();
  return since ? std::optional{*since + kMaxHeld} : std::nullopt;
}

void Keyboard::count(const std::vector<terminal::InputPiece>& pieces, SteadyTime at) {
  for (const auto& piece : pieces) {
    if (!terminal::is_typing(piece.kind)) continue;
    typing_.any = std::max(typing_.any, at);
    auto& kind = piece.kind == terminal::InputKind::Enter ? typing_.enter : typing_.edit;
    kind = std::max(kind, at);
  }
}

void Keyboard::write(std::string_view bytes) {
  waiting_.append(bytes);
  on_room();
}

void Keyboard::on_room() {
  if (program_ != nullptr && !waiting_.empty()) waiting_.erase(0, program_->write(waiting_));
  const bool crowded = !waiting_.empty() || held_.bytes() >= kMaxHeldBytes;
  if (std::exchange(crowded_, crowded) != crowded) on_crowded_(crowded);
}

bool Keyboard::empty() const { return waiting_.empty() && (program_ == nullptr || program_->input_waiting() == 0); }

}  // namespace relay::host
