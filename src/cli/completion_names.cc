#include "cli/completion_names.h"

#include "base/json.h"
#include "cli/answers.h"
#include "cli/text.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

constexpr std::chrono::milliseconds kCompletionTimeout{1'000};  // a user has pressed Tab

Result<void> add_names(Connection& connection, MessageType type, const json::object& query, std::string_view list,
                       std::vector<std::string>& names) {
  const auto payload = RELAY_TRY(connection.ask(type, json::serialize(query), kCompletionTimeout));
  for (auto& name : names_in(RELAY_TRY(parse_json_object(payload)), list)) names.push_back(std::move(name));
  return {};
}

}  // namespace

std::vector<std::string> names_in(const json::object& answer, std::string_view list) {
  std::vector<std::string> names;
  for (const auto* row : objects_in(answer, list)) {
    auto name = string_member(*row, "name").value_or("");
    if (!name.empty() && sanitised(name, Lines::Join) == name) names.push_back(std::move(name));
  }
  return names;
}

Result<std::vector<std::string>> names_of_kind(Connection& connection, std::string_view kind) {
  std::vector<std::string> names;
  const bool both = kind == "recipients";
  if (both || kind == "agents")
    RELAY_TRY(add_names(connection, MessageType::ListAgents, {{"includeIdle", true}}, "agents", names));
  if (both || kind == "channels") RELAY_TRY(add_names(connection, MessageType::Channels, {}, "channels", names));
  return names;
}

}  // namespace relay::cli
