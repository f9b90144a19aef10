/// A command is one file and one row: everything help, parsing, completion and the manual need, and its function.
///
/// Invariants: a row is constant data; names are unique; every option has a description; a command that only reads
///   has `--json`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/framework/exit_code.h"

namespace relay::cli {

class Invocation;
struct Context;

enum class Group : std::uint8_t { Everyday, Agents, Steering, Knowing, More, Plumbing };
inline constexpr Group kGroups[] = {Group::Everyday, Group::Agents, Group::Steering,
                                    Group::Knowing,  Group::More,   Group::Plumbing};
std::string_view title_of(Group group);
/// Whether the overview has no room for more than the names of its commands.
constexpr bool is_only_named(Group group) { return group == Group::More || group == Group::Plumbing; }

enum class Arity : std::uint8_t { One, Optional, Many, Any };  // Many: one or more; Any: none or more

/// What a shell may offer in this place.
enum class CompletionKind : std::uint8_t {
  Nothing,
  Agents,
  Channels,
  Recipients,
  Permissions,  // agents that wait for a permission
  Questions,    // agents that ask a question
  Hosts,        // agents whose screen can be attached to
  Messages,     // ids of the newest messages
  Shells,
  Files,
  Commands,
  Programs
};

struct Argument {
  std::string_view name;  // as shown: `TO`
  Arity arity = Arity::One;
  std::string_view description;
  CompletionKind completes = CompletionKind::Nothing;
  std::string_view choices = {};  // `join|leave`: completed; the command itself checks what was typed
  bool is_text = false;           // its words are one text, which no option may cut in two
};

struct Option {
  std::string_view name;        // `--limit`
  std::string_view value = {};  // as shown: `N`; empty: a switch
  std::string_view description;
  std::string_view choices = {};    // `sqlite|memory`: checked and completed
  std::string_view otherwise = {};  // one of the choices: what the option means when no value follows it
  std::string_view mistaken = {};   // `read|written`: with `otherwise`, words that are no choices and never arguments
  bool repeats = false;             // may be given several times, and every value counts
  CompletionKind completes = CompletionKind::Nothing;
  bool hidden = false;  // accepted for compatibility or for ourselves, not shown
};

struct Command {
  std::string_view name;
  Group group;
  std::string_view usage;      // in the overview: `send TO TEXT`
  std::string_view summary;    // one line, no full stop
  std::string_view hint = {};  // in the overview, at the end of the line: `[--json]`
  std::span<const Argument> arguments = {};
  std::span<const Option> options = {};
  std::string_view example;
  std::string_view details = {};  // a short paragraph for `COMMAND --help`
  bool needs_daemon = false;      // it is started, and this project's workspace opened, unless `--no-start` was given
  bool takes_rest = false;        // the words from the first argument on are not ours to read
  ExitCode (*run)(const Invocation& invocation, Context& context);
};

inline constexpr Option kJsonOption{.name = "--json", .description = "print JSON"};

/// Every command, in the order of the help.
std::span<const Command* const> command_table();
const Command* find_command(std::string_view name);

}  // namespace relay::cli
