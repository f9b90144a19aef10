/// The terminal of a user who types by calling `type`.
///
/// Ownership: borrows the listener, which outlives it. Threading: one thread.
#pragma once

#include <string>
#include <string_view>

#include "pty/user_terminal.h"

namespace relay::host::testing {

class FakeUserTerminal final : public pty::UserTerminal {
 public:
  explicit FakeUserTerminal(pty::UserTerminalListener& listener) : listener_{listener} {}

  void type(std::string_view keys) { listener_.on_typed(keys); }
  /// A slow terminal reads no output; `false`: it has read everything.
  void set_slow(bool slow) {
    slow_ = slow;
    if (slow) return;
    pending_ = 0;
    listener_.on_written(0);
  }
  [[nodiscard]] bool is_raw() const { return raw_; }
  [[nodiscard]] const std::string& output() const { return output_; }

  Result<void> enter_raw() override { return raw_ = true, Result<void>{}; }
  void leave_raw() override { raw_ = false; }
  Result<void> set_restore_bytes(std::string_view) override { return {}; }
  [[nodiscard]] pty::WindowSize size() const override { return {}; }
  std::size_t write(std::string_view bytes) override {
    output_ += bytes;
    if (slow_) pending_ += bytes.size();
    return bytes.size();
  }
  [[nodiscard]] std::size_t output_waiting() const override { return slow_ ? pty::kSlowTerminalBytes + pending_ : 0; }
  void pause_typing() override {}
  void resume_typing() override {}
  void suspend() override {}

 private:
  pty::UserTerminalListener& listener_;
  std::string output_;
  std::size_t pending_ = 0;
  bool raw_ = false, slow_ = false;
};

}  // namespace relay::host::testing
