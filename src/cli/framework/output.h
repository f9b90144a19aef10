/// Where a command's words go: results to stdout, talk to stderr.
///
/// A failure is said once, here: its sentence on stderr and, when `--json` was given, also
///   {"error": {"code": "NO_DAEMON", "message": "…"}}
/// on stdout, so that a program that reads stdout always reads JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "cli/framework/exit_code.h"

namespace relay::cli {

/// To stdout. A reader that went away (`| head`) ends the program quietly.
void print(std::string_view text);

/// The same for sentences of ours: on a terminal they are broken at blanks.
void print_sentence(std::string_view text);

/// Talk: one sentence to stderr that changes nothing about how the command ends. On a terminal it is broken at blanks.
void print_notice(std::string_view sentence);

/// How wide the terminal at that descriptor is; 0 when it is none.
std::size_t terminal_columns(int fd);

/// The same without a line of its own, for what is written over: to stderr as it is.
void print_stderr(std::string_view text);

/// A failure, and how the command ends by it. `word` is the daemon's own code where it gave one.
ExitCode report_error(std::string_view sentence, ExitCode code, std::string_view word = {});

/// While somebody edits a line at the terminal's foot, what goes to a terminal is written by this, so that it stands above
/// the line; an empty one ends that. Set by line_terminal.cc alone.
using TerminalWriter = std::function<void(std::string_view text)>;
void write_to_terminal_by(TerminalWriter writer);

/// All of it, however slowly the other side takes it; false when it takes no more.
bool write_fully(int fd, std::string_view bytes);

/// From now on failures are also said in JSON. Set once, before the command runs.
void enable_json_errors();

}  // namespace relay::cli
