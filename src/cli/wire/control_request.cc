#include "cli/wire/control_request.h"

#include "base/format.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "cli/wire/names.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kTimeout{30};  // everything that is dead may be many

}  // namespace

Result<ControlResponse> send_control(DaemonConnection& connection, const json::object& order) {
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::Control, json::serialize(order), kTimeout));
  ControlResponse done{RELAY_TRY(parse_json_object(payload)), std::nullopt};
  if (bool_member(done.result, "success").value_or(false)) return done;
  auto& refusal = done.refusal.emplace();
  refusal.message = string_member(done.result, "error").value_or("");
  refusal.code = string_member(done.result, "code").value_or("");
  if (!refusal.code.empty()) return done;
  const auto agent = string_member(order, "agent").value_or("");
  const bool stranger = !agent.empty() && !RELAY_TRY(unknown_agent_error(connection, agent)).empty();
  refusal.code = name_of(stranger ? protocol::NackCode::UnknownRecipient : protocol::NackCode::Refused);
  return done;
}

Result<std::vector<std::string>> resolve_deliveries(DaemonConnection& connection, const std::string& id,
                                                    WantedState wanted, std::string_view what) {
  if (id.starts_with("d-")) return std::vector{id};
  RELAY_TRY(check_id_given(id));
  const auto payload =
      RELAY_TRY(connection.request(protocol::MessageType::Trace, json::serialize(json::object{{"id", id}})));
  const auto trace = RELAY_TRY(parse_json_object(payload));
  if (const auto error = string_member(trace, "error")) return fail(*error);
  std::vector<std::string> found;
  for (const auto* delivery : objects_in(trace, "deliveries"))
    if (wanted(string_member(*delivery, "state").value_or("")))
      found.push_back(string_member(*delivery, "deliveryId").value_or(""));
  if (found.empty())
    return fail(relay::format("no delivery of {} {}; see how it fares: agent-relay trace {}", id, what, id));
  return found;
}

std::string messages_in_words(std::int64_t count) {
  return count == 1 ? "1 message" : relay::format("{} messages", count);
}

}  // namespace relay::cli
