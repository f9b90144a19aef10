/// The agents whose hook systems we speak, by the names people type.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::hooks {

enum class Agent : std::uint8_t { Claude, Codex, Gemini };

std::string_view name_of(Agent agent);
std::optional<Agent> agent_named(std::string_view name);

}  // namespace relay::hooks
