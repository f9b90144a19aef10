#include "protocol/delivery_mode.h"

#include <utility>

namespace relay::protocol {
namespace {

/// In the order of lane codes.
constexpr DeliveryMode kByCode[] = {DeliveryMode::OnIdle, DeliveryMode::Immediate, DeliveryMode::NextMessage,
                                    DeliveryMode::NextToolCall, DeliveryMode::Manual};
static_assert(kLanes == 2 * std::size(kByCode));

}  // namespace

std::string_view name_of(DeliveryMode mode) {
  switch (mode) {
    case DeliveryMode::Immediate: return "immediate";
    case DeliveryMode::NextMessage: return "next-message";
    case DeliveryMode::NextToolCall: return "next-tool-call";
    case DeliveryMode::OnIdle: return "on-idle";
    case DeliveryMode::Manual: return "manual";
  }
  std::unreachable();
}

std::optional<DeliveryMode> parse_delivery_mode(std::string_view name) {
  for (const DeliveryMode mode : kDeliveryModes) {
    if (name_of(mode) == name) return mode;
  }
  return std::nullopt;
}

std::string_view name_of(DeliveryReason reason) {
  switch (reason) {
    case DeliveryReason::Message: return "message";
    case DeliveryReason::Mention: return "mention";
    case DeliveryReason::Dm: return "dm";
    case DeliveryReason::ThreadReply: return "thread-reply";
    case DeliveryReason::ActionResult: return "action-result";
    case DeliveryReason::Notification: return "notification";
  }
  std::unreachable();
}

std::optional<DeliveryReason> parse_delivery_reason(std::string_view name) {
  for (const auto reason : {DeliveryReason::Message, DeliveryReason::Mention, DeliveryReason::Dm,
                            DeliveryReason::ThreadReply, DeliveryReason::ActionResult, DeliveryReason::Notification}) {
    if (name_of(reason) == name) return reason;
  }
  return std::nullopt;
}

std::string_view name_of(Priority priority) { return priority == Priority::Urgent ? "urgent" : "normal"; }

std::uint8_t lane_code(Lane lane) {
  std::uint8_t index = 0;
  while (kByCode[index] != lane.mode) ++index;
  return static_cast<std::uint8_t>(2 * index + (lane.priority == Priority::Urgent ? 1 : 0));
}

std::optional<Lane> lane_from_code(std::uint64_t code) {
  if (code >= kLanes) return std::nullopt;
  return Lane{kByCode[code / 2], code % 2 == 1 ? Priority::Urgent : Priority::Normal};
}

}  // namespace relay::protocol
