#include "cli/wire/control_request.h"

#include "base/format.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "cli/wire/names.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kTimeout{30};  // redelivers all dead deliveries

}  // namespace

Result<ControlResponse> send_control(DaemonConnection& connection, const json::object& request) {
  const auto payload =
      RELAY_TRY(connection.request(protocol::MessageType::Control, json::serialize(request), kTimeout));
  ControlResponse response{RELAY_TRY(parse_json_object(payload)), std::nullopt};
  if (bool_member(response.result, "success").value_or(false)) return response;
  auto& refusal = response.refusal.emplace();
  refusal.message = string_member(response.result, "error").value_or("");
  refusal.code = string_member(response.result, "code").value_or("");
  if (!refusal.code.empty()) return response;
  const auto agent = string_member(request, "agent").value_or("");
  const bool is_unknown = !agent.empty() && !RELAY_TRY(unknown_agent_error(connection, agent)).empty();
  refusal.code = name_of(is_unknown ? protocol::NackCode::UnknownRecipient : protocol::NackCode::Refused);
  return response;
}

Result<std::vector<std::string>> resolve_deliveries(DaemonConnection& connection, const std::string& id,
                                                    StatePredicate matches, std::string_view what) {
  if (id.starts_with("d-")) return std::vector{id};
  RELAY_TRY(check_message_id(id));
  const auto payload =
      RELAY_TRY(connection.request(protocol::MessageType::Trace, json::serialize(json::object{{"id", id}})));
  const auto trace = RELAY_TRY(parse_json_object(payload));
  if (const auto error = string_member(trace, "error")) return fail(*error);
  std::vector<std::string> found;
  for (const auto* delivery : objects_in(trace, "deliveries"))
    if (matches(string_member(*delivery, "state").value_or("")))
      found.push_back(string_member(*delivery, "deliveryId").value_or(""));
  if (found.empty()) return fail(relay::format("no delivery of {} {}; see: agent-relay trace {}", id, what, id));
  return found;
}

std::string message_count(std::int64_t count) { return count == 1 ? "1 message" : relay::format("{} messages", count); }

}  // namespace relay::cli
