#include "cli/framework/completion_names.h"

#include <algorithm>

#include "base/json.h"
#include "cli/render/text.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "host/control/host_record.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

constexpr std::chrono::milliseconds kCompletionTimeout{1'000};  // the user has pressed Tab
constexpr int kMaxMessages = 20;                                // more would fill the screen

/// A completed name must be the displayed one.
bool is_displayable(const std::string& name) { return !name.empty() && sanitize(name, Lines::Join) == name; }

std::vector<std::string> distinct(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !is_displayable(name); });
  std::ranges::sort(names);
  const auto duplicates = std::ranges::unique(names);
  names.erase(duplicates.begin(), duplicates.end());
  return names;
}

Result<void> add_names(DaemonConnection& connection, MessageType type, const json::object& query, std::string_view list,
                       std::vector<std::string>& names) {
  const auto payload = RELAY_TRY(connection.request(type, json::serialize(query), kCompletionTimeout));
  for (auto& name : names_in(RELAY_TRY(parse_json_object(payload)), list)) names.push_back(std::move(name));
  return {};
}

}  // namespace

std::vector<std::string> names_in(const json::object& answer, std::string_view list) {
  std::vector<std::string> names;
  for (const auto* row : objects_in(answer, list)) {
    auto name = string_member(*row, "name").value_or("");
    if (is_displayable(name)) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> names_of_hosts(const std::string& directory) {
  std::vector<std::string> names;
  for (auto& host : host::reachable_hosts(directory))
    if (!host.headless) names.push_back(std::move(host.name));
  return distinct(std::move(names));
}

Result<std::vector<std::string>> names_of_kind(DaemonConnection& connection, std::string_view kind) {
  std::vector<std::string> names;
  const bool both = kind == "recipients";
  if (both || kind == "agents")
    RELAY_TRY(add_names(connection, MessageType::ListAgents, {{"includeIdle", true}}, "agents", names));
  if (kind == "permissions" || kind == "questions") {
    const auto payload = RELAY_TRY(connection.request(MessageType::Prompts, "{}", kCompletionTimeout));
    const auto answer = RELAY_TRY(parse_json_object(payload));
    for (const auto* prompt : objects_in(answer, kind))
      if (auto agent = string_member(*prompt, "agent")) names.push_back(*std::move(agent));
    return distinct(std::move(names));
  }
  if (kind == "messages") {
    const auto query = json::serialize(json::object{{"limit", kMaxMessages}, {"order", "desc"}});
    const auto payload = RELAY_TRY(connection.request(MessageType::MessagesQuery, query, kCompletionTimeout));
    const auto page = RELAY_TRY(parse_page(payload));
    for (const auto& message : page.messages)
      if (is_displayable(message.id)) names.push_back(message.id);
    return names;
  }
  if (both || kind == "channels") RELAY_TRY(add_names(connection, MessageType::Channels, {}, "channels", names));
  return names;
}

}  // namespace relay::cli
