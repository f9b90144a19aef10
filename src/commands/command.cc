#include "commands/command.h"

#include <array>
#include <utility>

namespace relay::commands {
namespace {

constexpr std::array<std::pair<MessageKind, std::string_view>, 4> kKinds{{
    {MessageKind::Message, "message"},
    {MessageKind::Action, "action"},
    {MessageKind::State, "state"},
    {MessageKind::Thinking, "thinking"},
}};

}  // namespace

std::string_view name_of(MessageKind kind) {
  for (const auto& [each, name] : kKinds)
    if (each == kind) return name;
  return "message";
}

std::optional<MessageKind> parse_kind(std::string_view name) {
  for (const auto& [kind, each] : kKinds)
    if (each == name) return kind;
  return std::nullopt;
}

const SourceLocation& location_of(const Command& command) {
  return std::visit([](const auto& each) -> const SourceLocation& { return each.location; }, command);
}

}  // namespace relay::commands
