/// The ledger of one message, looked at again whenever a delivery has changed: events say when to look, the ledger says
/// what is so. Nothing that happens between two looks is missed.
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

/// Given an answer to TRACE. True: it says enough.
using OnTrace = std::function<bool(const json::object& trace)>;

/// What is a reason to look again: a delivery of this message, or any.
enum class TraceScope { Itself, Everything };

/// By a message's id, its sender's own or a delivery's. An error TimedOut when the ledger did not say enough by then. The
/// connection is introduced, and serves for nothing else.
Result<void> watch_trace(DaemonConnection& connection, const std::string& id, Deadline deadline, const OnTrace& look,
                         TraceScope concern = TraceScope::Itself);

/// What a sender who listened would have been told of a delivery, step by step.
std::vector<protocol::Receipt> receipts_of(const json::object& delivery);

}  // namespace relay::cli
