/// A program in a terminal that we read and type into, wherever that terminal is.
///
/// Why: the code that reads an agent and types to it works the same whether the terminal is ours (child.h) or inside a
///   multiplexer. The guarantees of `Child` about order and bounds hold for every implementation.
/// Threading: loop thread only; may be destroyed inside any callback.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "pty/exit_status.h"
#include "pty/window_size.h"

namespace relay::pty {

class ProgramListener {
 public:
  virtual ~ProgramListener() = default;
  /// The bytes are valid until this returns.
  virtual void on_output(std::string_view bytes) = 0;
  /// Pending input was written; `bytes_left` are still pending.
  virtual void on_input_written(std::size_t bytes_left) = 0;
  /// The terminal was resized from outside; not called for a size that we requested and got. Never called where the
  /// terminal is ours alone.
  virtual void on_program_resized(WindowSize /*size*/) {}
  /// Last call, after the last output.
  virtual void on_exit(const ExitStatus& status) = 0;
};

class Program {
 public:
  virtual ~Program() = default;

  [[nodiscard]] virtual pid_t pid() const = 0;

  /// Types the bytes; returns how many were taken. Write the rest after `on_input_written`.
  virtual std::size_t write(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::size_t input_waiting() const = 0;

  virtual void pause_output() = 0;
  virtual void resume_output() = 0;

  virtual Result<void> resize(WindowSize size) = 0;

  /// True when its terminal replies to the program's queries (cursor position, device attributes): the reader of its
  /// output must then not reply too.
  [[nodiscard]] virtual bool answers_queries() const { return false; }

  /// False only if its terminal is known not to echo; with echo, typed text appears in the output, line by line.
  [[nodiscard]] virtual bool may_echo() const { return true; }

  /// Ends it and everything it started: requests termination, and kills after the grace.
  virtual void end(Millis grace) = 0;
};

}  // namespace relay::pty
