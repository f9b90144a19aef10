/// A person's hand on deliveries: one CONTROL to the daemon, and its answer.
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
  std::optional<protocol::Nack> refusal;  // the daemon said no, and why
  [[nodiscard]] std::int64_t count() const { return integer_member(result, "count").value_or(0); }
};
Result<ControlResponse> send_control(DaemonConnection& connection, const json::object& order);

/// The deliveries somebody means by `id`: itself when it is one's (`d-…`), else those of the message that `wanted` says
/// yes to by their state. None is an error, and so is an id nobody knows.
using WantedState = bool (*)(std::string_view state);
Result<std::vector<std::string>> resolve_deliveries(DaemonConnection& connection, const std::string& id,
                                                    WantedState wanted, std::string_view what);

/// `1 message`, `3 messages`.
std::string messages_in_words(std::int64_t count);

}  // namespace relay::cli
