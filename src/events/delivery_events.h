/// A message on its way, as it is told: one event for each line of its ledger (`delivery.created` to `delivery.dead`).
///
/// Written by protocol/contract.h, which also knows the message; this is its table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::events {

struct DeliveryChanged {
  std::string delivery_id = {};
  json::object message = {};
  json::object agent = {};
  WallMs at = 0;
  std::optional<std::string> state = {};
  std::optional<std::string> proof = {};
  std::optional<std::string> reason = {};
  std::optional<WallMs> available_at = {};
  std::optional<bool> retryable = {};
  std::optional<std::string> via = {};
  std::optional<std::string> evidence = {};
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kObject<events::DeliveryChanged> = object(
    "DeliveryChanged", "A delivery has another state, or better proof.",
    member<&events::DeliveryChanged::delivery_id>("deliveryId", "names the delivery"),
    member<&events::DeliveryChanged::message>("message",
                                              "`{id, target, from, text, thread?, createdAt, truncated?, ...}`"),
    member<&events::DeliveryChanged::agent>("agent", "for whom: `{id, name, handle, kind}`"),
    member<&events::DeliveryChanged::at>("at", "when, in Unix milliseconds"),
    member<&events::DeliveryChanged::state>("state", "queued, accepted, delivered, deferred, failed, expired, ..."),
    member<&events::DeliveryChanged::proof>("proof", "the best there is: stored, accepted, written, submitted, seen"),
    member<&events::DeliveryChanged::reason>("reason", "why, in words"),
    member<&events::DeliveryChanged::available_at>(
        "availableAt",
        "of one that is deferred: not before, in Unix milliseconds; equal to `at` where it waits for a condition"),
    member<&events::DeliveryChanged::retryable>("retryable", "it will be tried again"),
    member<&events::DeliveryChanged::via>("via", "by which it goes: inbox, queue, hook, pty, ..."),
    member<&events::DeliveryChanged::evidence>("evidence", "what shows the proof"));

}  // namespace relay::schema
