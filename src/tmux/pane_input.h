/// The bytes waiting to be typed into a pane, and their typing.
///
/// Why whole chunks: a user at the same pane types into the same terminal. The bytes of one `write` are pasted by one
///   command, so the user's keys come before or after them and never inside. Bytes are split only above kMaxPasteBytes,
///   and around a zero byte (commands.h).
/// Invariants: waiting() never exceeds pty::kMaxInputBytes. The next chunk is sent only while the program's terminal
///   has room and less than a chunk awaits tmux's reply; otherwise tmux would buffer all of it in its own memory.
/// Ownership: borrows the loop and the terminal, which outlive it; `send` and `on_typed` are called only inside a call
///   of this object, a reply of tmux, or a timer.
/// Threading: loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "tmux/commands.h"
#include "tmux/control_client.h"

namespace relay::net {
class AsioLoop;
class Timer;
}  // namespace relay::net

namespace relay::tmux {

inline constexpr std::size_t kMaxPasteBytes = 64 * 1024;

class PaneInput {
 public:
  using Send = std::function<void(std::string_view line, ControlClient::OnResponse on_reply)>;

  PaneInput(net::AsioLoop& loop, int terminal, PasteTarget target, Send send, std::function<void()> on_typed);
  ~PaneInput();
  PaneInput(const PaneInput&) = delete;
  PaneInput& operator=(const PaneInput&) = delete;

  /// Returns how many of the bytes were taken. They are typed once that is allowed.
  std::size_t write(std::string_view bytes);
  /// All bytes without confirmation that tmux typed them.
  [[nodiscard]] std::size_t waiting() const { return untyped_bytes_ + unconfirmed_bytes_; }

  void allow();
  /// Stops typing until `allow`. Bytes in transit no longer count: their replies will not come.
  void forbid();
  /// Stops for good and drops pending bytes.
  void stop();

 private:
  void type_pending();
  void on_chunk_typed(std::size_t size);
  [[nodiscard]] bool terminal_has_room() const;
  void poll_terminal_later();

  net::AsioLoop& loop_;
  int terminal_;
  PasteTarget target_;
  Send send_;
  std::function<void()> on_typed_;

  bool allowed_ = true;
  bool stopped_ = false;
  std::deque<std::string> chunks_;  // none is empty; two neighbors together exceed the size of one
  std::size_t untyped_bytes_ = 0;
  std::size_t unconfirmed_bytes_ = 0;
  Millis poll_interval_;
  std::unique_ptr<net::Timer> timer_;
};

}  // namespace relay::tmux
