/// The frames HELLO, SESSION_STATE and BYE of a host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/control/host_protocol.h"
#include "host/control/host_record.h"
#include "profiles/state_classifier.h"
#include "protocol/bye.h"
#include "protocol/hello.h"
#include "pty/exit_status.h"

namespace relay::host {

inline constexpr std::uint32_t kMaxDeliveries = 2'048;  // including those held until a fetch

/// A host accepts all deliveries of its modes and chooses their time.
protocol::Hello make_hello(const HostRecord& record, const std::string& claim_token, protocol::DeliveryModes modes);

/// The name of a state for users: an unknown state of a starting agent is `starting`.
std::string_view displayed_state_name(profiles::State state, bool starting);

/// SESSION_STATE. `reason`: why deliveries are pending, or empty. `modes`: only when they have changed.
std::string session_state(profiles::State state, bool starting, std::string_view reason, std::string_view capabilities,
                          std::optional<protocol::DeliveryModes> modes);

/// BYE: the agent has exited or was released.
protocol::Bye make_bye(const pty::ExitStatus& status, const std::optional<ReleaseAgent>& released);

/// Why no text can be submitted in that state; empty when it can.
std::string input_blocked_reason(profiles::State state, std::string_view name);

}  // namespace relay::host
