/// What to run, with which descriptors, and how its program is found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::pty {

/// Which of the child's standard descriptors are the pseudo-terminal; the others are ours, as they are.
enum class Streams : std::uint8_t {
  Terminal,        // all three
  ErrorInherited,  // input and output; the errors go where ours go
  Inherited,       // none: no pseudo-terminal is made, and the child stays in our session and process group
};

struct Command {
  /// The program and its arguments, as they are: no shell looks at them. Everybody on the machine can read them, so
  /// they hold no secrets.
  std::vector<std::string> argv;
  /// All of it, as NAME=value.
  std::vector<std::string> environment;
  /// Empty: ours.
  std::string directory;
  Streams streams = Streams::Terminal;
  /// Descriptors beyond the standard three that stay open in the child, in ascending order.
  std::vector<int> kept_descriptors = {};
  /// Signals that the child ignores from its start, as `nohup` and background jobs want it.
  std::vector<int> ignored_signals = {};
};

/// Our own environment, to build on.
std::vector<std::string> inherited_environment();

/// Value of a variable in a list of NAME=value; empty when it is not there.
std::string_view variable(const std::vector<std::string>& environment, std::string_view name);

/// Replaces the variable, or adds it.
void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value);

void remove_variable(std::vector<std::string>& environment, std::string_view name);

/// The file to execute for argv[0], searched as a shell would: with a slash it is a path (from the command's own
/// directory), else it is looked for along the PATH of the command's environment.
Result<std::string> find_program(const Command& command);

}  // namespace relay::pty
