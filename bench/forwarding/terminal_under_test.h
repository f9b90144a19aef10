/// A terminal that runs a candidate, with keys typed and output read from outside.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pty/pseudo_terminal.h"
#include "pty/spawn.h"

namespace relay::bench {

class TerminalUnderTest {
 public:
  static Result<TerminalUnderTest> start(const pty::Command& command);
  TerminalUnderTest(TerminalUnderTest&&) = default;
  TerminalUnderTest& operator=(TerminalUnderTest&&) = delete;
  ~TerminalUnderTest();

  /// Types one key and waits for its echo; returns microseconds.
  Result<double> keystroke();
  /// Reads that many bytes; returns seconds.
  Result<double> read_all(std::size_t bytes);
  /// Reads until that text arrives.
  Result<void> read_until(std::string_view text);
  Result<void> type(std::string_view text);

  /// Processor seconds that the candidate has used.
  [[nodiscard]] double cpu_seconds() const;

 private:
  TerminalUnderTest(pty::PseudoTerminal terminal, pty::Spawned process)
      : terminal_{std::move(terminal)}, process_{std::move(process)} {}
  Result<std::string_view> read_some();

  pty::PseudoTerminal terminal_;
  pty::Spawned process_;
};

}  // namespace relay::bench
