/// Completion for fish, which treats the output of a command as data and quotes the candidates.
#include "base/format.h"
#include "cli/framework/completion_facts.h"

namespace relay::cli {
namespace {

constexpr std::string_view kHelpers = R"fish(
# Succeeds when the line calls this command.
function __agent_relay_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]
end
# COMMAND FROM TO OPTION...: succeeds when one of these arguments is being typed; the options take a value.
function __agent_relay_at
    __agent_relay_in $argv[1]; or return 1
    set -l words (commandline -opc)
    set -l position 1
    set -l skips 0
    for word in $words[3..-1]
        if test $skips -eq 1
            set skips 0
        else if contains -- $word $argv[4..-1]
            set skips 1
        else if not string match -q -- '-*' $word
            set position (math $position + 1)
        end
    end
    test $position -ge $argv[2]; and test $position -le $argv[3]
end
)fish";

constexpr int kAnyPosition = 99;

std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// ` -a '…'`, or nothing.
std::string candidates(const Offer& offer) {
  if (!offer.words.empty()) return relay::format(" -a '{}'", offer.words);
  if (!offer.kind.empty()) return relay::format(" -a '({} {} 2>/dev/null)'", kListNames, offer.kind);
  return "";
}

std::string lines_for(std::string_view program, const Command& command) {
  auto text = relay::format("complete -c {} -n __fish_use_subcommand -a {} -d '{}'\n", program, command.name,
                            quoted(command.summary));
  for (const auto& option : command.options) {
    if (option.hidden) continue;
    text += relay::format("complete -c {} -n '__agent_relay_in {}' -l {} -d '{}'", program, command.name,
                          option.name.substr(2), quoted(option.description));
    const auto offer = offer_for(option);
    if (!option.value.empty()) text += offer.files ? " -r -F" : " -x";
    text += candidates(offer) + "\n";
  }
  std::string valued;
  for (const auto* option : options_with_value(command)) valued += " " + std::string{option->name};
  int position = 1;
  for (const auto& argument : command.arguments) {
    const bool many = argument.arity == Arity::Many || argument.arity == Arity::Any;
    const auto offer = offer_for(argument);
    if (!offer.empty())
      text += relay::format("complete -c {} -n '__agent_relay_at {} {} {}{}'{}\n", program, command.name, position,
                            many ? kAnyPosition : position, valued, offer.files ? " -F" : candidates(offer));
    ++position;
  }
  return text;
}

}  // namespace

std::string fish_completion() {
  std::string text = "# fish completion for agent-relay; load with: agent-relay completion fish | source";
  text += kHelpers;
  for (const std::string_view program : {"agent-relay", "relay"}) {
    text += relay::format("complete -c {} -f\n", program);
    for (const auto* command : command_table()) text += lines_for(program, *command);
    for (const auto& agent : program_names())
      text += relay::format("complete -c {} -n __fish_use_subcommand -a {} -d 'run {}'\n", program, agent, agent);
  }
  return text;
}

}  // namespace relay::cli
