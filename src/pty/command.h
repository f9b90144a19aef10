/// A command: what to run, with which descriptors, and how its program is found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::pty {

/// Which of the child's standard descriptors are the pseudo-terminal; the others are inherited from us.
enum class Streams : std::uint8_t {
  Terminal,        // all three
  ErrorInherited,  // input and output; standard error is inherited
  Inherited,       // none: no pseudo-terminal, and the child stays in our session and process group
};

struct Command {
  /// The program and its arguments, passed without a shell. Every user of the machine can read them, so they must not
  /// contain secrets.
  std::vector<std::string> argv;
  /// The whole environment, as NAME=value.
  std::vector<std::string> environment;
  /// Empty: our working directory.
  std::string directory;
  Streams streams = Streams::Terminal;
  /// Descriptors beyond the standard three that stay open in the child, in ascending order.
  std::vector<int> kept_descriptors = {};
  /// Signals that the child ignores from its start, as `nohup` and background jobs require.
  std::vector<int> ignored_signals = {};
};

/// The environment of this process.
std::vector<std::string> inherited_environment();

/// Value of a variable in a list of NAME=value; empty if it is absent.
std::string_view variable(const std::vector<std::string>& environment, std::string_view name);

/// Replaces the variable, or adds it.
void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value);

void remove_variable(std::vector<std::string>& environment, std::string_view name);

/// The file to execute for argv[0], by the rules of a shell: with a slash it is a path (relative to the command's
/// directory), else it is searched along the PATH of the command's environment.
Result<std::string> find_program(const Command& command);

}  // namespace relay::pty
