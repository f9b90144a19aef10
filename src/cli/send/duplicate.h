/// A message that was sent before under the same id: the daemon stores it once and tells its sender nothing more of it, so
/// its ledger is asked instead.
#pragma once

#include <functional>

#include "base/json.h"
#include "cli/framework/context.h"
#include "cli/send/send_request.h"

namespace relay::cli {

/// `fate` is what the daemon's answer to the repetition said. At once when the ledger shows that it came where its sender
/// wants it; else it is watched as long as that one's patience lasts and until `interrupts` is readable. Refused, when the id stands for another message.
Result<SendResult> result_of_duplicate(const Context& context, const SendRequest& letter, SendResult fate,
                                       const std::function<void(const SendResult&)>& on_news, int interrupts = -1);

/// Adds what the ledger tells of one delivery to `fate`. True when it stands where its sender wants it, or has ended. Only
/// how it stands now counts: what seemed to have ended may have been delivered after all.
bool settles_by_ledger(SendResult& fate, WaitFor until, const json::object& delivery);

}  // namespace relay::cli
