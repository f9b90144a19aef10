/// The smallest host: forwards the user's input to the child and the child's output to the user.
///
/// The two directions slow each other down: no side loses a byte or exceeds its bound.
#pragma once

#include <optional>

#include "net/asio_loop.h"
#include "pty/child.h"
#include "pty/user_terminal.h"

namespace relay::pty::testing {

class Forwarder final : public ProgramListener, public UserTerminalListener {
 public:
  explicit Forwarder(net::AsioLoop& loop) : loop_{loop} {}

  Result<void> start(Command command) {
    terminal = RELAY_TRY(UserTerminal::open(loop_, *this));
    child = RELAY_TRY(Child::spawn(loop_, std::move(command), terminal->size(), *this));
    return terminal->enter_raw();
  }

  void on_output(std::string_view bytes) override {
    RELAY_ASSERT(terminal->write(bytes) == bytes.size());  // a turn fits the room above kSlowTerminalBytes
    if (terminal->wants_pause()) child->pause_output();
  }
  void on_written(std::size_t bytes_left) override {
    if (bytes_left == 0) child->resume_output();
  }

  void on_typed(std::string_view bytes) override {
    const auto taken = child->write(bytes);
    if (taken == bytes.size()) return;
    rest_ = bytes.substr(taken);
    terminal->pause_typing();
  }
  void on_input_written(std::size_t) override {
    if (rest_.empty()) return;
    rest_.erase(0, child->write(rest_));
    if (rest_.empty()) terminal->resume_typing();
  }

  void on_resized(WindowSize size) override { static_cast<void>(child->resize(size)); }
  void on_continued() override {}
  void on_closed(const std::string&) override { child->end(Millis{0}); }
  void on_exit(const ExitStatus& ended) override {
    status = ended;
    loop_.stop();
  }

  std::unique_ptr<UserTerminal> terminal;
  std::unique_ptr<Child> child;
  std::optional<ExitStatus> status;

 private:
  net::AsioLoop& loop_;
  std::string rest_;  // typed, not yet taken
};

}  // namespace relay::pty::testing
