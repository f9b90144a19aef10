#include "speech/utterance.h"

#include <array>
#include <utility>

namespace relay::speech {
namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 4> kKinds{{
    {Kind::Message, "message"},
    {Kind::Action, "action"},
    {Kind::State, "state"},
    {Kind::Thinking, "thinking"},
}};

}  // namespace

std::string_view name_of(Kind kind) {
  for (const auto& [each, name] : kKinds)
    if (each == kind) return name;
  return "message";
}

std::optional<Kind> kind_named(std::string_view name) {
  for (const auto& [kind, each] : kKinds)
    if (each == name) return kind;
  return std::nullopt;
}

const Place& place_of(const Utterance& utterance) {
  return std::visit([](const auto& each) -> const Place& { return each.place; }, utterance);
}

}  // namespace relay::speech
