#include "tmux/pane_input.h"

#include <sys/ioctl.h>

#include <algorithm>

#include "net/asio_loop.h"
#include "pty/child.h"

namespace relay::tmux {
namespace {

constexpr int kTerminalFullBytes = 2 * 1024;  // half of what the kernel buffers for a program that reads raw
constexpr Millis kMinPollInterval{1};  // first interval of checking whether it has room again, doubled each time up to:
constexpr Millis kMaxPollInterval{64};

}  // namespace

PaneInput::PaneInput(net::AsioLoop& loop, int terminal, PasteTarget target, Send send, std::function<void()> on_typed)
    : loop_{loop},
      terminal_{terminal},
      target_{std::move(target)},
      send_{std::move(send)},
      on_typed_{std::move(on_typed)},
      poll_interval_{kMinPollInterval} {}

PaneInput::~PaneInput() = default;

std::size_t PaneInput::write(std::string_view bytes) {
  if (stopped_) return bytes.size();  // there is no reader
  bytes = bytes.substr(0, pty::kMaxInputBytes - std::min(waiting(), pty::kMaxInputBytes));
  const auto taken = bytes.size();
  untyped_bytes_ += taken;
  if (!chunks_.empty() && chunks_.back().size() + bytes.size() <= kMaxPasteBytes) {
    chunks_.back().append(bytes);
    bytes = {};
  }
  while (!bytes.empty()) {
    chunks_.emplace_back(bytes.substr(0, kMaxPasteBytes));
    bytes.remove_prefix(chunks_.back().size());
  }
  type_pending();
  return taken;
}

void PaneInput::allow() {
  allowed_ = true;
  type_pending();
}

void PaneInput::forbid() {
  allowed_ = false;
  unconfirmed_bytes_ = 0;
}

void PaneInput::stop() {
  forbid();
  stopped_ = true;
  chunks_.clear();
  untyped_bytes_ = 0;
  timer_.reset();
}

void PaneInput::type_pending() {
  while (allowed_ && !chunks_.empty() &&
         (unconfirmed_bytes_ == 0 || unconfirmed_bytes_ + chunks_.front().size() <= kMaxPasteBytes)) {
    if (!terminal_has_room()) return poll_terminal_later();
    poll_interval_ = kMinPollInterval;
    const auto lines = paste_commands(chunks_.front(), target_);
    const auto size = chunks_.front().size();
    chunks_.pop_front();
    untyped_bytes_ -= size;
    unconfirmed_bytes_ += size;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) send_(lines[i], {});
    send_(lines.back(), [this, size](const CommandResult&) { on_chunk_typed(size); });
  }
}

void PaneInput::on_chunk_typed(std::size_t size) {
  unconfirmed_bytes_ -= std::min(size, unconfirmed_bytes_);
  if (stopped_) return;
  type_pending();
  on_typed_();
}

bool PaneInput::terminal_has_room() const {
  int waiting = 0;
  return ::ioctl(terminal_, FIONREAD, &waiting) != 0 || waiting < kTerminalFullBytes;
}

/// Nothing reports that a program reads, so poll, less often the longer it does not.
void PaneInput::poll_terminal_later() {
  if (timer_) return;
  timer_ = loop_.after(poll_interval_, [this] {
    timer_.reset();
    poll_interval_ = std::min(poll_interval_ * 2, kMaxPollInterval);
    type_pending();
  });
}

}  // namespace relay::tmux
