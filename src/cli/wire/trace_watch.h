/// Watches the delivery history of one message: requests TRACE again after each event of a changed delivery. No
/// change between two requests is missed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/send.h"

namespace relay::cli {

/// Gets a TRACE response. True ends the watch.
using OnTrace = std::function<bool(const json::object& trace)>;

/// Which events cause a new TRACE: those of this message, or all.
enum class TraceScope { Message, All };

/// `id` is of the message, chosen by its sender, or of a delivery. Fails with TimedOut when `on_trace` has not returned true
/// by the deadline. The connection must have sent HELLO and is used for nothing else.
Result<void> watch_trace(DaemonConnection& connection, const std::string& id, Deadline deadline,
                         const OnTrace& on_trace, TraceScope scope = TraceScope::Message);

/// The receipts that a connected sender would have got for a delivery.
std::vector<protocol::Receipt> receipts_of(const json::object& delivery);

}  // namespace relay::cli
