/// The output of commands: results to stdout, diagnostics to stderr.
///
/// A failure is reported once, here: its message on stderr and, with `--json`, also
///   {"error": {"code": "NO_DAEMON", "message": "…"}}
/// on stdout, so that a program that reads stdout always gets JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "cli/framework/exit_code.h"

namespace relay::cli {

/// Prints to stdout. A closed reader (`| head`) ends the program silently.
void print(std::string_view text);

/// Prints a text of the program; on a terminal it is wrapped at spaces.
void print_wrapped(std::string_view text);

/// Prints one line to stderr without effect on the exit code; on a terminal it is wrapped at spaces.
void print_notice(std::string_view message);

/// The width of the terminal at that descriptor; 0 when it is not a terminal.
std::size_t terminal_columns(int fd);

/// Prints to stderr as it is, for a line that is overwritten.
void print_stderr(std::string_view text);

/// Reports a failure and returns the exit code. `name` is the error code of the daemon, if it sent one.
ExitCode report_error(std::string_view message, ExitCode code, std::string_view name = {});

/// While the user edits a line, this writes terminal output above that line. An empty function ends this. Set only by
/// line_terminal.cc.
using TerminalWriter = std::function<void(std::string_view text)>;
void set_terminal_writer(TerminalWriter writer);

/// Writes all bytes, however slow the reader is; false when it has closed.
bool write_fully(int fd, std::string_view bytes);

/// Makes report_error print JSON too. Called once, before the command runs.
void enable_json_errors();

}  // namespace relay::cli
