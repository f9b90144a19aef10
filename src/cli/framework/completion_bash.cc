/// Completion for bash, including 3.2 of macOS.
///
/// Why not `compgen -W`: it expands its words, so a name with `$(…)` would run. The script compares words one by one.
#include "base/format.h"
#include "cli/framework/completion_facts.h"

namespace relay::cli {
namespace {

constexpr std::string_view kHelpers = R"bash(
# Sets plain to the typed word without quotes, and quote to the quote that is still open.
_agent_relay_plain() {
  local text=$1 c
  plain="" quote=""
  while [[ -n $text ]]; do
    c=${text:0:1} text=${text:1}
    if [[ $c == \\ && $quote != \' ]]; then
      plain+=${text:0:1} text=${text:1}
    elif [[ -z $quote && ( $c == \' || $c == \" ) ]]; then
      quote=$c
    elif [[ -n $quote && $c == "$quote" ]]; then
      quote=""
    else
      plain+=$c
    fi
  done
}
# Adds a candidate, quoted so that the shell takes it literally.
_agent_relay_offer() {
  local name=$1 c out=""
  [[ -n $name && $name == "$plain"* ]] || return
  if [[ $quote == \' ]]; then
    name=${name//\'/\'\\\'\'}
  elif [[ $quote == \" ]]; then
    while [[ -n $name ]]; do
      c=${name:0:1} name=${name:1}
      case $c in
        \$ | \` | \" | \\) out+=\\$c ;;
        !) out+="\"'!'\"" ;;
        *) out+=$c ;;
      esac
    done
    name=$out
  else
    printf -v name %q "$name"
    # readline starts a new word at these
    name=${name//:/\\:} name=${name//@/\\@} name=${name//=/\\=}
  fi
  COMPREPLY+=("$name")
}
_agent_relay_words() {
  local plain quote name
  _agent_relay_plain "$word"
  for name in "$@"; do _agent_relay_offer "$name"; done
}
_agent_relay_names() {
  local plain quote name
  _agent_relay_plain "$word"
  while IFS= read -r name; do _agent_relay_offer "$name"; done < <(agent-relay completion --names "$1" 2>/dev/null)
}
_agent_relay_files() {
  local plain quote name
  _agent_relay_plain "$word"
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$plain")
}
# Sets position to the argument being typed, from 1; the given options take a value.
_agent_relay_position() {
  local i
  position=1
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      ((position++))
    elif [[ " $* " == *" ${COMP_WORDS[i]} "* ]]; then
      [[ ${COMP_WORDS[i+1]} == = ]] && ((i++))
      ((i++))
    fi
  done
}
)bash";

std::string action(const Offer& offer) {
  if (!offer.words.empty()) return relay::format("_agent_relay_words {}", offer.words);
  if (!offer.kind.empty()) return relay::format("_agent_relay_names {}", offer.kind);
  return offer.files ? "_agent_relay_files" : ":";
}

std::string case_of(const Command& command) {
  auto text = relay::format("    {})\n", command.name);
  std::string valued;
  const auto options = options_with_value(command);
  if (!options.empty()) text += "      case $previous in\n";
  for (const auto* option : options) {
    valued += " " + std::string{option->name};
    text += relay::format("        {}) {}; return ;;\n", option->name, action(offer_for(*option)));
  }
  if (!options.empty()) text += "      esac\n";
  text += relay::format("      if [[ $word == -* ]]; then _agent_relay_words {}; return; fi\n", option_names(command));
  text += relay::format("      _agent_relay_position{}\n      case $position in\n", valued);
  int position = 1;
  for (const auto& argument : command.arguments) {
    const bool many = argument.arity == Arity::Many || argument.arity == Arity::Any;
    text += relay::format("        {}) {} ;;\n", many ? std::string{"*"} : relay::format("{}", position++),
                          action(offer_for(argument)));
    if (many) break;
  }
  return text + "      esac\n      ;;\n";
}

}  // namespace

std::string bash_completion() {
  std::string text =
      "# bash completion for agent-relay; load with: source <(agent-relay completion bash)\n"
      "# Names are data: they are read line by line, compared and quoted, never expanded.";
  text += kHelpers;
  text +=
      "_agent_relay() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} position\n"
      "  COMPREPLY=()\n";
  text += relay::format("  if ((COMP_CWORD == 1)); then _agent_relay_words {} {} --help --version; return; fi\n",
                        command_names(), offer_for(CompletionKind::Programs, {}).words);
  text +=
      "  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi  # --option=value is three words\n"
      "  if [[ $word == = ]]; then word=\"\"; fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const auto* command : command_table()) text += case_of(*command);
  return text + "  esac\n}\ncomplete -F _agent_relay agent-relay relay\n";
}

}  // namespace relay::cli
