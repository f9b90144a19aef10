#include "cli/framework/completion_facts.h"

#include <algorithm>

#include "profiles/user_profiles.h"

namespace relay::cli {

std::string command_names() {
  std::string names;
  for (const auto* command : command_table()) names += (names.empty() ? "" : " ") + std::string{command->name};
  return names;
}

std::vector<std::string> program_names() {
  auto programs = profiles::programs_with_profile({});
  std::ranges::sort(programs);
  return programs;
}

Offer offer_for(CompletionKind completes, std::string_view choices) {
  if (!choices.empty()) {
    std::string words{choices};
    std::ranges::replace(words, '|', ' ');
    return {.words = std::move(words)};
  }
  switch (completes) {
    case CompletionKind::Nothing: return {};
    case CompletionKind::Agents: return {.kind = "agents"};
    case CompletionKind::Channels: return {.kind = "channels"};
    case CompletionKind::Recipients: return {.kind = "recipients"};
    case CompletionKind::Permissions: return {.kind = "permissions"};
    case CompletionKind::Questions: return {.kind = "questions"};
    case CompletionKind::Hosts: return {.kind = "hosts"};
    case CompletionKind::Messages: return {.kind = "messages"};
    case CompletionKind::Shells: return {.words = std::string{kShells}};
    case CompletionKind::Programs: {
      std::string words;
      for (const auto& program : program_names()) words += (words.empty() ? "" : " ") + program;
      return {.words = std::move(words)};
    }
    case CompletionKind::Commands: return {.words = command_names()};
    case CompletionKind::Files: return {.files = true};
  }
  return {};
}

Offer offer_for(const Argument& argument) { return offer_for(argument.completes, argument.choices); }
Offer offer_for(const Option& option) { return offer_for(option.completes, option.choices); }

std::vector<const Option*> options_with_value(const Command& command) {
  std::vector<const Option*> found;
  for (const auto& option : command.options)
    if (!option.hidden && !option.value.empty()) found.push_back(&option);
  return found;
}

std::string option_names(const Command& command) {
  std::string names = "--help";
  for (const auto& option : command.options)
    if (!option.hidden) names += " " + std::string{option.name};
  return names;
}

std::string escape_single_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out;
}

}  // namespace relay::cli
