/// CONTROL, DEAD, CHANNELS, PAUSE, CANCEL: how the user controls deliveries. Off the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/delivery_mode.h"

namespace relay::protocol {

/// The reason in the history of a delivery that was finished by ControlAction::Read.
inline constexpr std::string_view kReadInInbox = "read in the inbox";

enum class ControlAction : std::uint8_t {
  Flush,      // release deliveries held for a decision
  Retry,      // retry a deferred delivery now
  Cancel,     // end a delivery
  Redeliver,  // deliver undelivered messages again
  Pause,      // deliver nothing to the agent
  Unpause,
  Policy,     // set whose messages the agent accepts
  ResetLoop,  // allow agents that the loop breaker stopped to exchange messages again
  Read,       // the recipient has read it in the inbox
};
std::string_view name_of(ControlAction action);

/// What happens to a message before it is stored, depending on its sender.
enum class DeliveryPolicyAction : std::uint8_t { Accept, Hold, Refuse };
std::string_view name_of(DeliveryPolicyAction action);
struct DeliveryPolicyRule {
  std::string from;  // a name, or `*`
  DeliveryPolicyAction action = DeliveryPolicyAction::Accept;

  friend bool operator==(const DeliveryPolicyRule&, const DeliveryPolicyRule&) = default;
};
/// The first matching rule decides; without one the message is accepted.
DeliveryPolicyAction decide(const std::vector<DeliveryPolicyRule>& rules, std::string_view from);
/// As JSON: `[{"from":…,"action":…}]`, and back.
std::string write_policy(const std::vector<DeliveryPolicyRule>& rules);
Result<std::vector<DeliveryPolicyRule>> parse_policy(std::string_view array);

struct ControlRequest {
  ControlAction action = ControlAction::Flush;
  std::string agent = {};                 // flush, pause, unpause, policy: required; redeliver all: may be empty
  std::optional<DeliveryMode> mode = {};  // flush: only this one
  std::string delivery_id = {};           // retry, cancel, redeliver, flush
  std::string reason = {};                // given by the user
  bool all = false;                       // redeliver
  std::vector<std::string> states = {};   // redeliver all: dead, failed, expired, in_doubt
  std::optional<std::vector<DeliveryPolicyRule>> rules = {};  // policy: the new rules; absent: only report them
  std::string from = {}, to = {};                             // reset-loop; empty: any
};
Result<ControlRequest> parse_control(std::string_view payload);

struct DeadLetterRequest {
  std::string agent = {}, from = {};     // empty: any
  std::vector<std::string> states = {};  // empty: dead, failed, expired, in_doubt
  std::size_t limit = 0;                 // 0: the default
  std::int64_t before_key = 0;           // only older deliveries; 0: all
};
Result<DeadLetterRequest> parse_dead(std::string_view payload);

/// CHANNELS: the requested channel, or empty for all.
Result<std::string> parse_channels(std::string_view payload);

/// PAUSE, to a session.
struct PauseCommand {
  bool paused = false;
  std::string reason = {};
};
Result<PauseCommand> parse_pause(std::string_view payload);
std::string write_pause(const PauseCommand& command);
/// The pause as the reason of a pending message: `paused by the user: lunch`.
std::string describe_pause(std::string_view reason);

/// CANCEL, to a session.
struct CancelCommand {
  std::string delivery_id = {};
  std::string reason = {};
};
Result<CancelCommand> parse_cancel(std::string_view payload);
std::string write_cancel(const CancelCommand& command);
/// The code of the receipt of a session that dropped a cancelled delivery.
inline constexpr std::string_view kCancelled = "CANCELLED";

}  // namespace relay::protocol
