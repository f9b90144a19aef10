/// A program in a terminal that is ours to read and to type into, wherever that terminal is.
///
/// Why: whoever reads an agent and types to it need not know whether its terminal is our own (child.h) or lies inside a
///   multiplexer. What a `Child` promises of order and bounds holds for every one.
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
  /// The bytes are gone when this returns.
  virtual void on_output(std::string_view bytes) = 0;
  /// Some of the input that had to wait is gone, and how much is left.
  virtual void on_input_written(std::size_t bytes_left) = 0;
  /// Somebody else gave its terminal this size; never told of a size that was asked for and given. Where the terminal
  /// is ours alone nobody can.
  virtual void on_program_resized(WindowSize /*size*/) {}
  /// The last call, after the last output.
  virtual void on_exit(const ExitStatus& status) = 0;
};

class Program {
 public:
  virtual ~Program() = default;

  [[nodiscard]] virtual pid_t pid() const = 0;

  /// Types; how many of the bytes were taken. The rest is for later, when `on_input_written` says there is room.
  virtual std::size_t write(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::size_t input_waiting() const = 0;

  virtual void pause_output() = 0;
  virtual void resume_output() = 0;

  virtual Result<void> resize(WindowSize size) = 0;

  /// True when its terminal is one that answers what programs ask terminals (where is the cursor, what are you): whoever
  /// reads its output must then not answer as well.
  [[nodiscard]] virtual bool answers_queries() const { return false; }

  /// True unless its terminal is known not to echo: then what is typed appears in its output, line by line.
  [[nodiscard]] virtual bool may_echo() const { return true; }

  /// Ends it and all it started: asked first, killed after the grace.
  virtual void end(Millis grace) = 0;
};

}  // namespace relay::pty
