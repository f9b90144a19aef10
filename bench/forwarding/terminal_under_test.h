/// A terminal with a candidate in it, driven from outside as a person would, only faster.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pty/pseudo_terminal.h"
#include "pty/spawn.h"

namespace relay::bench {

class SeatUnderTest {
 public:
  static Result<SeatUnderTest> start(const pty::Command& command);
  SeatUnderTest(SeatUnderTest&&) = default;
  SeatUnderTest& operator=(SeatUnderTest&&) = delete;
  ~SeatUnderTest();

  /// Types one key and waits for its echo: microseconds.
  Result<double> keystroke();
  /// Reads so many bytes: seconds.
  Result<double> read_all(std::size_t bytes);
  /// Reads until that was said.
  Result<void> read_until(std::string_view words);
  Result<void> type(std::string_view text);

  /// Processor seconds the candidate used so far.
  [[nodiscard]] double cpu_seconds() const;

 private:
  SeatUnderTest(pty::PseudoTerminal terminal, pty::Spawned process)
      : terminal_{std::move(terminal)}, process_{std::move(process)} {}
  Result<std::string_view> read_some();

  pty::PseudoTerminal terminal_;
  pty::Spawned process_;
};

}  // namespace relay::bench
