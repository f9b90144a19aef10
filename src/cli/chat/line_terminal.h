/// The user's terminal with an edited line at the bottom; all other output appears above it.
///
/// Why: the terminal's own line mode has no history and no completion, and messages break the line. The editor
///   (line_editor.h) and the drawing (line_view.h) are values; this class does raw mode, reading and writing.
/// Invariants: output of print(), print_notice() and report_error() appears above the line, which is then redrawn. The
///   terminal is restored on every exit (pty/user_terminal.h).
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
  /// The line became empty: it was entered, cleared or erased.
  virtual void on_emptied() = 0;
  /// Tab: see LineTerminal::complete.
  virtual void on_complete(std::string_view before_cursor) = 0;
  /// Ctrl-D in an empty line.
  virtual void on_end_of_input() = 0;
  /// Ctrl-C in an empty line, or the terminal was closed.
  virtual void on_leave() = 0;
  /// The text before the line.
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
  /// Redraws the line, after the prompt has changed.
  void draw();
  /// Completes the word of `length` bytes before the cursor, if the text there is still `before_cursor`. Appends `suffix` to
  /// a complete word; lists several choices above the line.
  void complete(std::string_view before_cursor, std::size_t length, const std::vector<std::string>& candidates,
                std::string_view suffix);

  void pause() { terminal_->pause_typing(); }
  void resume() { terminal_->resume_typing(); }

 private:
  LineTerminal(net::AsioLoop& loop, LineTerminalListener& listener) : loop_{loop}, listener_{listener} {}

  void on_typed(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_resized(pty::WindowSize size) override;
  void on_continued() override;
  void on_closed(const std::string& reason) override;

  void on_pieces(const std::vector<terminal::InputEvent>& pieces);
  EditResult take_one(const terminal::InputEvent& piece);
  void act_on(EditResult edited);
  void enter();
  void wait_for_key_end();
  void write_above(std::string_view text);
  [[nodiscard]] LineView::Prompt prompt() const;

  net::AsioLoop& loop_;
  LineTerminalListener& listener_;
  terminal::InputSplitter splitter_;
  std::unique_ptr<net::Timer> key_timer_;
  std::string paste_;
  LineEditor editor_;
  LineView view_;
  std::unique_ptr<pty::UserTerminal> terminal_;
};

}  // namespace relay::cli
