/// Completion for zsh with _arguments; compadd quotes the candidates.
#include "base/format.h"
#include "cli/framework/completion_facts.h"

namespace relay::cli {
namespace {

std::string action(const Offer& offer) {
  if (!offer.words.empty()) return relay::format("({})", offer.words);
  if (!offer.kind.empty()) return relay::format("_agent_relay_names {}", offer.kind);
  return offer.files ? "_files" : " ";
}

/// Escapes brackets and colons for a specification of _arguments.
std::string escape_spec(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return escape_single_quotes(out);
}

std::string case_of(const Command& command) {
  std::string text = relay::format("    {}) _arguments '--help[show help]'", command.name);
  for (const auto& option : command.options) {
    if (option.hidden) continue;
    text += relay::format(" \\\n      '{}[{}]", option.name, escape_spec(option.description));
    if (!option.value.empty()) text += relay::format(":{}:{}", escape_spec(option.value), action(offer_for(option)));
    text += "'";
  }
  int position = 1;
  for (const auto& argument : command.arguments) {
    const auto where = argument.arity == Arity::Many || argument.arity == Arity::Any ? std::string{"*"}
                                                                                     : relay::format("{}", position++);
    text += relay::format(" \\\n      '{}:{}{}:{}'", where, argument.arity == Arity::Optional ? ":" : "",
                          escape_spec(argument.name), action(offer_for(argument)));
  }
  return text + " ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string text =
      "#compdef agent-relay relay\n# zsh completion for agent-relay; load with: source <(agent-relay completion zsh)\n"
      "_agent_relay_names() {\n  local kind=$argv[-1]  # _arguments passes its own words first\n  argv[-1]=()\n";
  text += relay::format("  compadd \"$@\" -- ${{(f)\"$({} $kind 2>/dev/null)\"}}\n}}\n", kListNames);
  text += "_agent_relay() {\n  local -a commands\n  commands=(\n";
  for (const auto* command : command_table())
    text += relay::format("    '{}:{}'\n", command->name, escape_single_quotes(command->summary));
  for (const auto& program : program_names()) text += relay::format("    '{}:run {}'\n", program, program);
  text += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n";
  text += "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n";
  for (const auto* command : command_table()) text += case_of(*command);
  return text + "  esac\n}\ncompdef _agent_relay agent-relay relay\n";
}

}  // namespace relay::cli
