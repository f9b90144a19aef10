#include "host/screen/agent_input.h"

#include <algorithm>
#include <utility>

namespace relay::host {
namespace {

constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::string_view kStringEnd = "\x1b\\";

}  // namespace

/// A screen without the composer counts as an unknown dialog. Into a described dialog no earlier key is released, however
/// long it stays; where the dialog is only presumed, keys are held for kMaxHeld at most.
KeyHold key_hold(const KeyHoldView& view) {
  if (view.mid_frame) return KeyHold::Frame;
  if (view.state == profiles::State::Blocked)
    return view.blocker == profiles::Blocker::Silent ? KeyHold::EarlierBounded : KeyHold::Earlier;
  const bool unseen = view.overtaken && view.screen == profiles::State::Unknown;
  return view.message_unsent || unseen ? KeyHold::All : KeyHold::None;
}

void AgentInput::connect(pty::Program& program) {
  program_ = &program;
  on_writable();
}

void AgentInput::on_user_input(std::string_view bytes, SteadyTime now) {
  const bool must_hold = !earlier_only() && (hold_ == KeyHold::All || !held_.empty() || held_.must_delay(bytes, now));
  if (fragment_held_ != must_hold) bytes = finish_fragment(bytes, now);
  if (bytes.empty()) return;
  must_hold ? hold_input(bytes, now) : pass_input(bytes, now);
}

void AgentInput::pass_input(std::string_view bytes, SteadyTime now) {
  write(bytes);
  expire(now);  // an earlier Escape does not belong to these keys
  record_typing(splitter_.feed(bytes, now), now);
  fragment_held_ = false;
  last_typed_ = now;
  if (splitter_.may_be_escape()) typing_.any = typing_.edit = now;
}

void AgentInput::expire(SteadyTime now) {
  const auto pieces = splitter_.expire(now);
  fragment_held_ ? held_.classify(pieces) : record_typing(pieces, last_typed_);
  fragment_held_ = fragment_held_ && splitter_.incomplete();
}

std::string_view AgentInput::finish_fragment(std::string_view bytes, SteadyTime now) {
  expire(now);
  while (!bytes.empty() && splitter_.incomplete()) {
    const auto byte = bytes.substr(0, 1);
    bytes.remove_prefix(1);
    if (!fragment_held_) {
      pass_input(byte, now);
      continue;
    }
    const auto end = splitter_.in_paste() ? kPasteEnd : kStringEnd;
    held_.classify(splitter_.feed(byte, now));
    if (held_.bytes() < kMaxHeldBytes)
      held_.extend(byte);
    else if (++discarded_; !splitter_.incomplete())
      held_.extend(end);
  }
  fragment_held_ = fragment_held_ && splitter_.incomplete();
  return bytes;
}

/// A terminal's reply is not held, because the program may wait for it.
void AgentInput::pass_replies(SteadyTime now) {
  if (held_.empty() || held_.keys_since() || (fragment_held_ && splitter_.deadline())) return;
  fragment_held_ = false;
  write(held_.take(now));
}

void AgentInput::hold_input(std::string_view bytes, SteadyTime now) {
  expire(now);
  held_.add(bytes, now);
  held_.classify(splitter_.feed(bytes, now));
  fragment_held_ = splitter_.incomplete();
  last_typed_ = now;
  pass_replies(now);
  on_writable();
}

bool AgentInput::hold(KeyHold hold, SteadyTime now, std::optional<SteadyTime> drawn_at) {
  in_frame_ = hold == KeyHold::Frame;
  if (in_frame_) return false;
  const auto before = std::exchange(hold_, hold);
  if (held_.empty()) overtaken_ = false;
  const bool was_open = before == KeyHold::Earlier || before == KeyHold::EarlierBounded;
  const bool passed = earlier_only() && !was_open && drawn_at && pass_since(*drawn_at);
  if (earlier_only()) {
    overtaken_ = !held_.empty();
  } else if (was_open && overtaken_) {
    held_.restart(now);
    dialog_closed_at_ = now + kDialogClosedTime;
  }
  if (before == KeyHold::Earlier && hold == KeyHold::EarlierBounded) held_.restart(now);
  on_writable();
  if (hold_ == KeyHold::Earlier || (!earlier_only() && now < dialog_closed_at_)) return passed;
  const auto since = held_.keys_since();
  if (hold_ != KeyHold::None && !(since && now >= *since + kMaxHeld)) return passed;
  if (hold_ == KeyHold::All) hold_ = KeyHold::None;
  return release(now);
}

/// Handles the input as if the dialog had been recognized when it was drawn.
bool AgentInput::pass_since(SteadyTime drawn_at) {
  if (held_.empty() || held_.newest() < drawn_at) return false;
  splitter_ = {};
  fragment_held_ = false;
  for (const auto& piece : held_.drain())
    piece.at < drawn_at ? hold_input(piece.bytes, piece.at) : on_user_input(piece.bytes, piece.at);
  return true;
}

bool AgentInput::release(SteadyTime now) {
  if (held_.empty()) return false;
  expire(now);
  const bool edits = held_.has_edits() || (fragment_held_ && splitter_.may_be_escape()), enters = held_.has_enter();
  const auto bytes = held_.take(now);
  if (bytes.empty()) return false;
  if (edits) typing_.any = typing_.edit = now;
  if (enters) typing_.any = typing_.enter = now;
  if (held_.empty()) {
    fragment_held_ = overtaken_ = false;
    discarded_ = 0;
  }
  write(bytes);
  return true;
}

HeldKeys AgentInput::held(SteadyTime now) {
  if (!held_.empty()) expire(now);
  pass_replies(now);
  if (earlier_only()) return {};  // they are held for the dialog, not for an injection
  return {.since = held_.keys_since(), .cancel = held_.has_cancel()};
}

AgentInput::Held AgentInput::describe_held() const {
  return {.bytes = held_.bytes(), .discarded = discarded_, .since = held_.keys_since(), .dialog = earlier_only()};
}

std::optional<SteadyTime> AgentInput::due() const {
  if (held_.empty() || in_frame_) return std::nullopt;
  if (hold_ == KeyHold::None)
    return overtaken_ ? std::max(dialog_closed_at_, held_.due().value_or(dialog_closed_at_)) : held_.due();
  if (const auto undecided = splitter_.deadline(); undecided && fragment_held_) return undecided;
  const auto since = held_.keys_since();
  if (!since || hold_ == KeyHold::Earlier) return std::nullopt;
  return std::max(*since + kMaxHeld, held_.due().value_or(SteadyTime{}));
}

void AgentInput::record_typing(const std::vector<terminal::InputEvent>& pieces, SteadyTime at) {
  for (const auto& piece : pieces) {
    if (!terminal::is_typing(piece.kind)) continue;
    typing_.any = std::max(typing_.any, at);
    auto& kind = piece.kind == terminal::InputKind::Enter ? typing_.enter : typing_.edit;
    kind = std::max(kind, at);
  }
}

void AgentInput::write(std::string_view bytes) {
  pending_.append(bytes);
  on_writable();
}

void AgentInput::on_writable() {
  if (program_ != nullptr && !pending_.empty()) pending_.erase(0, program_->write(pending_));
  const bool active = !pending_.empty() || (!earlier_only() && held_.bytes() >= kMaxHeldBytes);
  if (std::exchange(is_backpressured_, active) != active) on_backpressure_(active);
}

bool AgentInput::empty() const { return pending_.empty() && (program_ == nullptr || program_->input_waiting() == 0); }

}  // namespace relay::host
