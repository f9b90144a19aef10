/// What waits to be typed into a pane, and the typing.
///
/// Why whole pieces: a person at the same pane types into the same terminal. What came by one `write` is pasted by one
///   command, so their keys stand before it or behind it and never inside. Only what exceeds kMaxPieceBytes is cut, and
///   around a zero byte (wording.h).
/// Invariants: waiting() never exceeds pty::kMaxInputBytes. The next piece goes out only while the program's terminal has
///   room and tmux owes answers for less than a piece; otherwise tmux would take all we have into memory of its own.
/// Ownership: borrows the loop and the terminal, which outlive it; `say` and `on_typed` are called only inside a call of
///   ours, an answer of tmux's, or a timer.
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

inline constexpr std::size_t kMaxPieceBytes = 64 * 1024;

class PaneInput {
 public:
  using Say = std::function<void(std::string_view line, ControlClient::OnResponse on_answer)>;

  PaneInput(net::AsioLoop& loop, int terminal, PasteTarget keyboard, Say say, std::function<void()> on_typed);
  ~PaneInput();
  PaneInput(const PaneInput&) = delete;
  PaneInput& operator=(const PaneInput&) = delete;

  /// How many of the bytes were taken. They are typed when that is allowed.
  std::size_t write(std::string_view bytes);
  /// Everything that tmux has not typed yet, as far as we know.
  [[nodiscard]] std::size_t waiting() const { return untyped_bytes_ + unanswered_bytes_; }

  void allow();
  /// Nothing is typed until it is allowed again. What was on its way is not: its answers will not come.
  void forbid();
  /// For good, with all that waits.
  void stop();

 private:
  void type_some();
  void typed(std::size_t size);
  [[nodiscard]] bool terminal_has_room() const;
  void look_at_terminal_later();

  net::AsioLoop& loop_;
  int terminal_;
  PasteTarget keyboard_;
  Say say_;
  std::function<void()> on_typed_;

  bool allowed_ = true;
  bool stopped_ = false;
  std::deque<std::string> pieces_;  // none is empty; two that follow each other are together more than one may hold
  std::size_t untyped_bytes_ = 0;
  std::size_t unanswered_bytes_ = 0;
  Millis next_look_;
  std::unique_ptr<net::Timer> timer_;
};

}  // namespace relay::tmux
