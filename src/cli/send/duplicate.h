/// A message sent before under the same id. The daemon stores it once and sends no more receipts to its sender, so its
/// result comes from the delivery history.
#pragma once

#include <functional>

#include "base/json.h"
#include "cli/framework/context.h"
#include "cli/send/send_request.h"

namespace relay::cli {

/// `result` is from the ACK of the duplicate. Returns at once when the history has the requested proof; else follows it
/// until the timeout of the request, or until `interrupts` is readable. Refused when the id belongs to another message.
Result<SendResult> result_of_duplicate(const Context& context, const SendRequest& request, SendResult result,
                                       const std::function<void(const SendResult&)>& on_progress, int interrupts = -1);

/// Adds the history of one delivery to `result`. True when it has the requested proof, or is final. Only its current
/// state counts: a delivery that failed earlier may have been delivered since.
bool apply_history(SendResult& result, WaitFor until, const json::object& delivery);

}  // namespace relay::cli
