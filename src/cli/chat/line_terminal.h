/// A person's terminal with one line at its foot that is edited, while everything else appears above it.
///
/// Why: lines of a terminal's own cannot be edited, recalled or completed, and what arrives tears them apart. The editor
///   (line_editor.h) and the drawing (line_view.h) are values; this is the edge: raw mode, reading, writing.
/// Invariants: while it lives, all that print(), remark() and complain() write to a terminal stands above the line, which
///   is then drawn again as it was. The terminal is given back as it was found on every way out (pty/user_terminal.h).
/// Ownership: borrows loop and listener, which outlive it; must not be destroyed inside a callback of it.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/chat/line_editor.h"
#include "cli/chat/line_view.h"
#include "net/asio_loop.h"
#include "pty/user_terminal.h"
#include "terminal/input_splitter.h"

namespace relay::cli {

class LineTerminalListener {
 public:
  virtual ~LineTerminalListener() = default;
  virtual void on_entered(std::string_view line) = 0;
  /// The line has no text any more: it was entered, cleared or erased.
  virtual void on_emptied() = 0;
  /// Tab: see LineTerminal::complete.
  virtual void on_complete(std::string_view before_cursor) = 0;
  /// Ctrl-D in an empty line.
  virtual void on_end_of_input() = 0;
  /// Ctrl-C in an empty line, or the terminal is gone.
  virtual void on_leave() = 0;
  /// What stands before the line.
  virtual LineView::Prompt prompt() = 0;
};

class LineTerminal final : private pty::UserTerminalListener {
 public:
  /// For the terminal at stdin and stdout.
  static Result<std::unique_ptr<LineTerminal>> open(net::AsioLoop& loop, LineTerminalListener& listener);
  ~LineTerminal() override;
  LineTerminal(const LineTerminal&) = delete;
  LineTerminal& operator=(const LineTerminal&) = delete;

  [[nodiscard]] bool empty() const { return editor_.empty(); }
  /// The prompt has changed.
  void draw();
  /// Completes the word of `length` bytes before the cursor, if `before_cursor` still stands there. A word that is complete
  /// is followed by `behind`; several choices are listed above the line.
  void complete(std::string_view before_cursor, std::size_t length, const std::vector<std::string>& candidates,
                std::string_view behind);

  void pause() { terminal_->pause_typing(); }
  void resume() { terminal_->resume_typing(); }

 private:
  LineTerminal(net::AsioLoop& loop, LineTerminalListener& listener) : loop_{loop}, listener_{listener} {}

  void on_typed(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_resized(pty::WindowSize size) override;
  void on_continued() override;
  void on_closed(const std::string& reason) override;

  void take(const std::vector<terminal::InputEvent>& pieces);
  Edited take_one(const terminal::InputEvent& piece);
  void act_on(Edited edited);
  void enter();
  void await_rest();
  void write_above(std::string_view text);
  [[nodiscard]] LineView::Prompt prompt() const;

  net::AsioLoop& loop_;
  LineTerminalListener& listener_;
  terminal::InputSplitter splitter_;
  std::unique_ptr<net::Timer> rest_timer_;
  std::string paste_;
  LineEditor editor_;
  LineView view_;
  std::unique_ptr<pty::UserTerminal> terminal_;
};

}  // namespace relay::cli
