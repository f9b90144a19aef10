#include "cli/wire/names.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "base/nearest.h"
#include "protocol/names.h"

namespace relay::cli {

Result<std::string> sender_name(const Invocation& invocation, std::string_view option, const Context& context) {
  auto name = invocation.value(option).value_or(context.own_name());
  if (name.empty()) return fail(relay::format("{} needs a name, for example: {} Alice", option, option));
  if (const auto valid = protocol::check_agent_name(name); !valid)
    return fail(relay::format("\"{}\" is not a valid name: {}, or choose another, for example: {} Alice", name,
                              valid.error().message(), option));
  return name;
}

Result<void> check_recipient(std::string_view name) {
  for (const auto address : {protocol::kEveryone, protocol::kAllUsers, protocol::kConsensus, protocol::kRouter})
    if (name == address) return {};
  if (name == "#") return fail("give the name of the channel too, for example: #general");
  if (name.empty()) return fail("give the name of a recipient, or '*' for every agent");
  const auto valid = name.starts_with('#') ? protocol::check_channel_name(name) : protocol::check_agent_name(name);
  if (valid) return {};
  return fail(relay::format("\"{}\" is not a valid name: {}", name, valid.error().message()));
}

Result<std::string> unknown_agent_error(DaemonConnection& connection, const std::string& name) {
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::ListAgents, R"({"includeIdle":true})"));
  const auto answer = RELAY_TRY(parse_json_object(payload));
  std::vector<std::string> names;
  if (const auto* agents = array_member(answer, "agents"))
    for (const auto& value : *agents)
      if (const auto* agent = value.if_object()) names.push_back(string_member(*agent, "name").value_or(""));
  if (std::find(names.begin(), names.end(), name) != names.end()) return std::string{};
  const auto nearest = nearest_names(name, {names.begin(), names.end()});
  std::string error = relay::format("no agent is named '{}'", name);
  for (std::size_t i = 0; i < nearest.size(); ++i)
    error += relay::format("{}{}", i == 0 ? "; did you mean " : i + 1 == nearest.size() ? " or " : ", ", nearest[i]);
  return error + (nearest.empty() ? "; " : "? ") + "agent-relay agents --all lists all agents";
}

}  // namespace relay::cli
