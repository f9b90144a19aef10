/// CONTROL, DEAD, CHANNELS, PAUSE, CANCEL: a person's hand on deliveries. Off the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/delivery_mode.h"

namespace relay::protocol {

/// The reason in the history of a delivery that ControlAction::Read ended.
inline constexpr std::string_view kReadInInbox = "read in the inbox";

enum class ControlAction : std::uint8_t {
  Flush,      // what is kept for a word of somebody's goes now
  Retry,      // what waits for another try goes now
  Cancel,     // is not wanted any more
  Redeliver,  // what ended without being delivered begins anew
  Pause,      // nothing reaches the agent
  Unpause,
  Policy,     // whose messages the agent takes
  ResetLoop,  // agents that were stopped may talk again
  Read,       // its recipient has read it in the inbox
};
std::string_view name_of(ControlAction action);

/// What happens to a message before it is stored, by who sent it.
enum class DeliveryPolicyAction : std::uint8_t { Accept, Hold, Refuse };
std::string_view name_of(DeliveryPolicyAction action);
struct DeliveryPolicyRule {
  std::string from;  // a name, or `*`
  DeliveryPolicyAction action = DeliveryPolicyAction::Accept;

  friend bool operator==(const DeliveryPolicyRule&, const DeliveryPolicyRule&) = default;
};
/// The first rule that fits decides; none does: accept.
DeliveryPolicyAction decide(const std::vector<DeliveryPolicyRule>& rules, std::string_view from);
/// As JSON: `[{"from":…,"action":…}]`, and back.
std::string write_policy(const std::vector<DeliveryPolicyRule>& rules);
Result<std::vector<DeliveryPolicyRule>> parse_policy(std::string_view array);

struct ControlRequest {
  ControlAction action = ControlAction::Flush;
  std::string agent = {};                 // flush, pause, unpause, policy: required; redeliver all: may be empty
  std::optional<DeliveryMode> mode = {};  // flush: only this one
  std::string delivery_id = {};           // retry, cancel, redeliver, flush
  std::string reason = {};                // of a person's
  bool all = false;                       // redeliver
  std::vector<std::string> states = {};   // redeliver all: dead, failed, expired, in_doubt
  std::optional<std::vector<DeliveryPolicyRule>> rules = {};  // policy: these from now on; absent: only tell
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

/// CHANNELS: the channel asked about, or empty for all of them.
Result<std::string> parse_channels(std::string_view payload);

/// PAUSE, to a session.
struct PauseCommand {
  bool paused = false;
  std::string reason = {};
};
Result<PauseCommand> parse_pause(std::string_view payload);
std::string write_pause(const PauseCommand& order);

/// CANCEL, to a session.
struct CancelCommand {
  std::string delivery_id = {};
  std::string reason = {};
};
Result<CancelCommand> parse_cancel(std::string_view payload);
std::string write_cancel(const CancelCommand& order);
/// The code of the receipt of a session that dropped what was cancelled.
inline constexpr std::string_view kCancelled = "CANCELLED";

}  // namespace relay::protocol
