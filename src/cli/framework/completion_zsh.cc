/// Completion for zsh, by its own _arguments; compadd quotes what it inserts.
#include "base/format.h"
#include "cli/framework/completion_facts.h"

namespace relay::cli {
namespace {

std::string action(const Offer& offer) {
  if (!offer.words.empty()) return relay::format("({})", offer.words);
  if (!offer.kind.empty()) return relay::format("_agent_relay_names {}", offer.kind);
  return offer.files ? "_files" : " ";
}

/// Text inside a specification of _arguments: brackets and colons have a meaning there.
std::string spec_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return single_quoted(out);
}

std::string case_of(const Command& command) {
  std::string text = relay::format("    {}) _arguments '--help[show help]'", command.name);
  for (const auto& option : command.options) {
    if (option.hidden) continue;
    text += relay::format(" \\\n      '{}[{}]", option.name, spec_text(option.description));
    if (!option.value.empty()) text += relay::format(":{}:{}", spec_text(option.value), action(offer_for(option)));
    text += "'";
  }
  int position = 1;
  for (const auto& argument : command.arguments) {
    const auto where = argument.arity == Arity::Many || argument.arity == Arity::Any ? std::string{"*"}
                                                                                     : relay::format("{}", position++);
    text += relay::format(" \\\n      '{}:{}{}:{}'", where, argument.arity == Arity::Optional ? ":" : "",
                          spec_text(argument.name), action(offer_for(argument)));
  }
  return text + " ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string text =
      "#compdef agent-relay relay\n# zsh completion for agent-relay; load with: source <(agent-relay completion zsh)\n"
      "_agent_relay_names() {\n  local kind=$argv[-1]  # _arguments puts its own words before it\n  argv[-1]=()\n";
  text += relay::format("  compadd \"$@\" -- ${{(f)\"$({} $kind 2>/dev/null)\"}}\n}}\n", kListNames);
  text += "_agent_relay() {\n  local -a commands\n  commands=(\n";
  for (const auto* command : command_table())
    text += relay::format("    '{}:{}'\n", command->name, single_quoted(command->summary));
  for (const auto& program : program_names()) text += relay::format("    '{}:run {}'\n", program, program);
  text += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n";
  text += "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n";
  for (const auto* command : command_table()) text += case_of(*command);
  return text + "  esac\n}\ncompdef _agent_relay agent-relay relay\n";
}

}  // namespace relay::cli
