#include "cli/completion_facts.h"

#include <algorithm>

#include "profiles/own_profiles.h"

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

Offer offer_for(Completes completes, std::string_view choices) {
  if (!choices.empty()) {
    std::string words{choices};
    std::ranges::replace(words, '|', ' ');
    return {.words = std::move(words)};
  }
  switch (completes) {
    case Completes::Nothing: return {};
    case Completes::Agents: return {.kind = "agents"};
    case Completes::Channels: return {.kind = "channels"};
    case Completes::Recipients: return {.kind = "recipients"};
    case Completes::Permissions: return {.kind = "permissions"};
    case Completes::Questions: return {.kind = "questions"};
    case Completes::Hosts: return {.kind = "hosts"};
    case Completes::Messages: return {.kind = "messages"};
    case Completes::Shells: return {.words = std::string{kShells}};
    case Completes::Programs: {
      std::string words;
      for (const auto& program : program_names()) words += (words.empty() ? "" : " ") + program;
      return {.words = std::move(words)};
    }
    case Completes::Commands: return {.words = command_names()};
    case Completes::Files: return {.files = true};
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

std::string single_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out;
}

}  // namespace relay::cli
