/// When a message should reach the agent's model, and the lane in which it is queued.
///
/// Deliveries held for one condition must not block deliveries held for another, so each mode and priority has
/// its own lane: streams are numbered per lane, and order holds within one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::protocol {

enum class DeliveryMode : std::uint8_t { Immediate, NextMessage, NextToolCall, OnIdle, Manual };
inline constexpr DeliveryMode kDeliveryModes[] = {DeliveryMode::Immediate, DeliveryMode::NextMessage,
                                                  DeliveryMode::NextToolCall, DeliveryMode::OnIdle,
                                                  DeliveryMode::Manual};
std::string_view name_of(DeliveryMode mode);
std::optional<DeliveryMode> parse_delivery_mode(std::string_view name);

/// Why a message was sent to this agent.
enum class DeliveryReason : std::uint8_t { Message, Mention, Dm, ThreadReply, ActionResult, Notification };
std::string_view name_of(DeliveryReason reason);
std::optional<DeliveryReason> parse_delivery_reason(std::string_view name);

enum class Priority : std::uint8_t { Normal, Urgent };
std::string_view name_of(Priority priority);

struct Lane {
  DeliveryMode mode = DeliveryMode::OnIdle;
  Priority priority = Priority::Normal;

  friend auto operator<=>(const Lane&, const Lane&) = default;
};
/// The lane as a number, on the wire and on disk: 0 is the default (on-idle, normal), odd ones are urgent.
inline constexpr std::uint8_t kLanes = 10;
std::uint8_t lane_code(Lane lane);
std::optional<Lane> lane_from_code(std::uint64_t code);

/// A set of modes, such as those a session supports.
class DeliveryModes {
 public:
  constexpr DeliveryModes() = default;
  static constexpr DeliveryModes all() { return DeliveryModes{(1u << std::size(kDeliveryModes)) - 1}; }

  constexpr void add(DeliveryMode mode) { bits_ |= bit(mode); }
  [[nodiscard]] constexpr bool has(DeliveryMode mode) const { return (bits_ & bit(mode)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend bool operator==(DeliveryModes, DeliveryModes) = default;

 private:
  constexpr explicit DeliveryModes(unsigned bits) : bits_{bits} {}
  static constexpr unsigned bit(DeliveryMode mode) { return 1u << static_cast<unsigned>(mode); }
  unsigned bits_ = 0;
};

}  // namespace relay::protocol
