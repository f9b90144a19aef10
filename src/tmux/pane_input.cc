#include "tmux/pane_input.h"

#include <sys/ioctl.h>

#include <algorithm>

#include "net/asio_loop.h"
#include "pty/child.h"

namespace relay::tmux {
namespace {

constexpr int kTerminalFullBytes = 2 * 1024;  // half of what the kernel holds for a program that reads raw
constexpr Millis kLookAtTerminal{1};          // has it room again? Doubled each time, up to:
constexpr Millis kLookAtTerminalSeldom{64};

}  // namespace

PaneInput::PaneInput(net::AsioLoop& loop, int terminal, PasteTarget keyboard, Say say, std::function<void()> on_typed)
    : loop_{loop},
      terminal_{terminal},
      keyboard_{std::move(keyboard)},
      say_{std::move(say)},
      on_typed_{std::move(on_typed)},
      next_look_{kLookAtTerminal} {}

PaneInput::~PaneInput() = default;

std::size_t PaneInput::write(std::string_view bytes) {
  if (stopped_) return bytes.size();  // there is nobody to read it
  bytes = bytes.substr(0, pty::kMaxInputBytes - std::min(waiting(), pty::kMaxInputBytes));
  const auto taken = bytes.size();
  untyped_bytes_ += taken;
  if (!pieces_.empty() && pieces_.back().size() + bytes.size() <= kMaxPieceBytes) {
    pieces_.back().append(bytes);
    bytes = {};
  }
  while (!bytes.empty()) {
    pieces_.emplace_back(bytes.substr(0, kMaxPieceBytes));
    bytes.remove_prefix(pieces_.back().size());
  }
  type_some();
  return taken;
}

void PaneInput::allow() {
  allowed_ = true;
  type_some();
}

void PaneInput::forbid() {
  allowed_ = false;
  unanswered_bytes_ = 0;
}

void PaneInput::stop() {
  forbid();
  stopped_ = true;
  pieces_.clear();
  untyped_bytes_ = 0;
  timer_.reset();
}

void PaneInput::type_some() {
  while (allowed_ && !pieces_.empty() &&
         (unanswered_bytes_ == 0 || unanswered_bytes_ + pieces_.front().size() <= kMaxPieceBytes)) {
    if (!terminal_has_room()) return look_at_terminal_later();
    next_look_ = kLookAtTerminal;
    const auto lines = paste_commands(pieces_.front(), keyboard_);
    const auto size = pieces_.front().size();
    pieces_.pop_front();
    untyped_bytes_ -= size;
    unanswered_bytes_ += size;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) say_(lines[i], {});
    say_(lines.back(), [this, size](const CommandResult&) { typed(size); });
  }
}

void PaneInput::typed(std::size_t size) {
  unanswered_bytes_ -= std::min(size, unanswered_bytes_);
  if (stopped_) return;
  type_some();
  on_typed_();
}

bool PaneInput::terminal_has_room() const {
  int waiting = 0;
  return ::ioctl(terminal_, FIONREAD, &waiting) != 0 || waiting < kTerminalFullBytes;
}

/// Nobody tells us when a program reads; so we look, seldom when it does not seem to want to.
void PaneInput::look_at_terminal_later() {
  if (timer_) return;
  timer_ = loop_.after(next_look_, [this] {
    timer_.reset();
    next_look_ = std::min(next_look_ * 2, kLookAtTerminalSeldom);
    type_some();
  });
}

}  // namespace relay::tmux
