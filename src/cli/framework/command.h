/// A command is one file and one row of the table: all that help, parsing, completion and the manual need, and its
/// function.
///
/// Invariants: a row is constant data; names are unique; every option has a description; a read command has `--json`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/framework/exit_code.h"

namespace relay::cli {

class Invocation;
struct Context;

enum class Group : std::uint8_t { Everyday, Agents, Control, Inspect, Together, Plumbing };
inline constexpr Group kGroups[] = {Group::Everyday, Group::Agents,   Group::Control,
                                    Group::Inspect,  Group::Together, Group::Plumbing};
std::string_view title_of(Group group);
/// The overview lists only the names of these commands, on one line.
constexpr bool is_only_named(Group group) { return group == Group::Together || group == Group::Plumbing; }

enum class Arity : std::uint8_t { One, Optional, Many, Any };  // Many: one or more; Any: none or more

/// What a shell offers as completions of an argument or of an option's value.
enum class CompletionKind : std::uint8_t {
  Nothing,
  Agents,
  Channels,
  Recipients,
  Permissions,  // agents with a pending permission request
  Questions,    // agents with a pending question
  Hosts,        // agents to whose screen a terminal can attach
  Messages,     // ids of the newest messages
  Shells,
  Files,
  Commands,
  Programs
};

struct Argument {
  std::string_view name;  // as in the help: `TO`
  Arity arity = Arity::One;
  std::string_view description;
  CompletionKind completes = CompletionKind::Nothing;
  std::string_view choices = {};  // `join|leave`: completed; the command itself checks the value
  bool is_text = false;           // its words form one text, which no option may split
};

struct Option {
  std::string_view name;        // `--limit`
  std::string_view value = {};  // as in the help: `N`; empty: a switch
  std::string_view description;
  std::string_view choices = {};         // `sqlite|memory`: checked and completed
  std::string_view implicit_value = {};  // one of the choices: the value when none follows the option
  std::string_view wrong_values =
      {};                // `read|written`: with `implicit_value`, words that are neither value nor argument
  bool repeats = false;  // may be given several times; every value counts
  CompletionKind completes = CompletionKind::Nothing;
  bool hidden = false;  // for compatibility or internal use; not in the help
};

struct Command {
  std::string_view name;
  Group group;
  std::string_view usage;      // in the overview: `send TO TEXT`
  std::string_view summary;    // one line, imperative, no full stop
  std::string_view hint = {};  // in the overview, at the end of the line: `[--json]`
  std::span<const Argument> arguments = {};
  std::span<const Option> options = {};
  bool listed = true;  // false: the overview has only its name, in the last line of its group
  std::string_view example;
  std::string_view details = {};  // a short paragraph for `COMMAND --help`
  bool needs_daemon = false;      // starts it and opens this project's workspace, unless `--no-start` is given
  bool takes_rest = false;        // the words from the first argument on belong to another program
  ExitCode (*run)(const Invocation& invocation, Context& context);
};
/// The overview has a line for it.
constexpr bool is_listed(const Command& command) { return command.listed && !is_only_named(command.group); }

inline constexpr Option kJsonOption{.name = "--json", .description = "print JSON"};

/// Every command, in the order of the help.
std::span<const Command* const> command_table();
const Command* find_command(std::string_view name);

}  // namespace relay::cli
