#include "cli/completion.h"

#include <vector>

#include "base/format.h"
#include "cli/command.h"

namespace relay::cli {
namespace {

/// Agent names are asked of the daemon while completing; when there is none, nothing is offered.
constexpr std::string_view kListAgents = "agent-relay agents --all --names 2>/dev/null";
constexpr std::string_view kShells = "bash zsh fish";

std::string command_names() {
  std::string names;
  for (const auto* command : command_table()) names += (names.empty() ? "" : " ") + std::string{command->name};
  return names;
}

std::string words(std::string_view choices) {
  std::string text{choices};
  for (auto& c : text)
    if (c == '|') c = ' ';
  return text;
}

std::string option_names(const Command& command) {
  std::string names = "--help";
  for (const auto& option : command.options)
    if (!option.hidden) names += " " + std::string{option.name};
  return names;
}

Completes first_completion(const Command& command) {
  return command.arguments.empty() ? Completes::Nothing : command.arguments.front().completes;
}

std::string quoted(std::string_view text) {  // for single quotes in a POSIX shell
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out;
}

std::string bash_source(Completes completes) {
  switch (completes) {
    case Completes::Nothing: return "";
    case Completes::Agents: return relay::format("$({})", kListAgents);
    case Completes::Shells: return std::string{kShells};
    case Completes::Commands: return command_names();
    case Completes::Files: return "";
  }
  return "";
}

std::string bash_case(const Command& command) {
  std::string text = relay::format("    {})\n      case \"$previous\" in\n", command.name);
  for (const auto& option : command.options) {
    if (option.hidden || option.value.empty()) continue;
    if (option.completes == Completes::Files)
      text += relay::format("        {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", option.name);
    else
      text += relay::format("        {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", option.name,
                            option.choices.empty() ? bash_source(option.completes) : words(option.choices));
  }
  text += "      esac\n";
  text += relay::format("      choices=\"{}\"\n", option_names(command));
  if (const auto source = bash_source(first_completion(command)); !source.empty())
    text += relay::format("      [[ $word == -* ]] || choices=\"{}\"\n", source);
  return text + "      ;;\n";
}

std::string bash_script() {
  std::string text =
      "# bash completion for agent-relay; load with: source <(agent-relay completion bash)\n"
      "_agent_relay() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} choices=\"\"\n"
      "  if ((COMP_CWORD == 1)); then\n";
  text += relay::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n    return\n  fi\n",
                        command_names());
  text += "  case \"${COMP_WORDS[1]}\" in\n";
  for (const auto* command : command_table()) text += bash_case(*command);
  text += "  esac\n  COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n}\n";
  return text + "complete -F _agent_relay agent-relay relay\n";
}

std::string zsh_action(Completes completes, std::string_view choices) {
  if (!choices.empty()) return relay::format("({})", words(choices));
  switch (completes) {
    case Completes::Nothing: return " ";
    case Completes::Agents: return "_agent_relay_agents";
    case Completes::Shells: return relay::format("({})", kShells);
    case Completes::Commands: return relay::format("({})", command_names());
    case Completes::Files: return "_files";
  }
  return " ";
}

/// Text inside a specification of _arguments: brackets and colons have a meaning there.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return quoted(out);
}

std::string zsh_case(const Command& command) {
  std::string text = relay::format("      {}) _arguments '--help[show help]'", command.name);
  for (const auto& option : command.options) {
    if (option.hidden) continue;
    text += relay::format(" \\\n        '{}[{}]", option.name, zsh_text(option.description));
    if (!option.value.empty())
      text += relay::format(":{}:{}", zsh_text(option.value), zsh_action(option.completes, option.choices));
    text += "'";
  }
  int position = 1;
  for (const auto& argument : command.arguments) {
    const auto where = argument.arity == Arity::Many || argument.arity == Arity::Any ? std::string{"*"}
                                                                                     : relay::format("{}", position++);
    text += relay::format(" \\\n        '{}:{}{}:{}'", where, argument.arity == Arity::Optional ? ":" : "",
                          zsh_text(argument.name), zsh_action(argument.completes, {}));
  }
  return text + " ;;\n";
}

std::string zsh_script() {
  std::string text =
      "#compdef agent-relay relay\n# zsh completion for agent-relay; load with: source <(agent-relay completion zsh)\n";
  text += relay::format("_agent_relay_agents() {{ compadd -- ${{(f)\"$({})\"}} }}\n", kListAgents);
  text += "_agent_relay() {\n  local -a commands\n  commands=(\n";
  for (const auto* command : command_table())
    text += relay::format("    '{}:{}'\n", command->name, quoted(command->summary));
  text += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n";
  text += "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n";
  for (const auto* command : command_table()) text += zsh_case(*command);
  return text + "  esac\n}\ncompdef _agent_relay agent-relay relay\n";
}

std::string fish_source(Completes completes, std::string_view choices) {
  if (!choices.empty()) return words(choices);
  switch (completes) {
    case Completes::Nothing:
    case Completes::Files: return "";
    case Completes::Agents: return relay::format("({})", kListAgents);
    case Completes::Shells: return std::string{kShells};
    case Completes::Commands: return command_names();
  }
  return "";
}

std::string fish_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_script() {
  std::string text = "# fish completion for agent-relay; load with: agent-relay completion fish | source\n";
  for (const std::string_view program : {"agent-relay", "relay"}) {
    text += relay::format("complete -c {} -f\n", program);
    for (const auto* command : command_table()) {
      text += relay::format("complete -c {} -n __fish_use_subcommand -a {} -d '{}'\n", program, command->name,
                            fish_quoted(command->summary));
      const auto here = relay::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program, command->name);
      for (const auto& option : command->options) {
        if (option.hidden) continue;
        text += relay::format("{} -l {} -d '{}'", here, option.name.substr(2), fish_quoted(option.description));
        if (!option.value.empty()) text += option.completes == Completes::Files ? " -r -F" : " -x";
        if (const auto source = fish_source(option.completes, option.choices); !source.empty())
          text += relay::format(" -a '{}'", source);
        text += "\n";
      }
      if (const auto source = fish_source(first_completion(*command), {}); !source.empty())
        text += relay::format("{} -a '{}'\n", here, source);
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return std::nullopt;
}

}  // namespace relay::cli
