/// CONTROL requests to the daemon, for deliveries and agents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/send.h"

namespace relay::cli {

struct ControlResponse {
  json::object result;
  std::optional<protocol::Nack> refusal;  // set when the daemon refused
  [[nodiscard]] std::int64_t count() const { return integer_member(result, "count").value_or(0); }
};
Result<ControlResponse> send_control(DaemonConnection& connection, const json::object& request);

/// The ids of deliveries: `id` itself when it names one (`d-…`), else the deliveries of the message `id` whose state
/// matches. Fails for an unknown id and when none matches; `what` completes that error.
using StatePredicate = bool (*)(std::string_view state);
Result<std::vector<std::string>> resolve_deliveries(DaemonConnection& connection, const std::string& id,
                                                    StatePredicate matches, std::string_view what);

/// `1 message`, `3 messages`.
std::string message_count(std::int64_t count);

}  // namespace relay::cli
