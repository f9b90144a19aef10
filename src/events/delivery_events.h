/// The change of a delivery: one event for each entry of its history (`delivery.created` to `delivery.dead`).
///
/// Written by protocol/contract.h, which also adds the message; this is the table.
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
    "DeliveryChanged", "The state of a delivery changed, or its proof improved.",
    member<&events::DeliveryChanged::delivery_id>("deliveryId", "the id of the delivery"),
    member<&events::DeliveryChanged::message>("message",
                                              "`{id, target, from, text, thread?, createdAt, truncated?, ...}`"),
    member<&events::DeliveryChanged::agent>("agent", "the recipient: `{id, name, handle, kind}`"),
    member<&events::DeliveryChanged::at>("at", "when, in Unix milliseconds"),
    member<&events::DeliveryChanged::state>("state", "queued, accepted, delivered, deferred, failed, expired, ..."),
    member<&events::DeliveryChanged::proof>("proof", "the best so far: stored, accepted, written, submitted, seen"),
    member<&events::DeliveryChanged::reason>("reason", "why, in one sentence"),
    member<&events::DeliveryChanged::available_at>(
        "availableAt",
        "of a deferred delivery: not before, in Unix milliseconds; equal to `at` if it is held by a condition"),
    member<&events::DeliveryChanged::retryable>("retryable", "whether it is retried"),
    member<&events::DeliveryChanged::via>("via", "the interface it went through: inbox, queue, hook, pty, ..."),
    member<&events::DeliveryChanged::evidence>("evidence", "what the proof rests on"));

}  // namespace relay::schema
