/// The host in frames to the daemon: HELLO, SESSION_STATE, BYE.
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

inline constexpr std::uint32_t kMaxDeliveries = 2'048;  // those that are held until they are fetched count too

/// A host takes all deliveries of the modes it supports and times them itself.
protocol::Hello hello_of(const HostRecord& record, const std::string& claim_token, protocol::DeliveryModes modes);

/// The name of a state for users. `starting`: the agent has not been ready yet, so a state that is not known is
/// `starting`.
std::string_view shown_state_name(profiles::State state, bool starting);

/// SESSION_STATE. `reason`: why deliveries are pending; empty: none are. `modes`: when they have changed.
std::string session_state(profiles::State state, bool starting, std::string_view reason, std::string_view capabilities,
                          std::optional<protocol::DeliveryModes> modes);

/// How the session ended: by the exit of the agent, or by a release.
protocol::Bye goodbye_of(const pty::ExitStatus& status, const std::optional<ReleaseAgent>& released);

/// Why no text can be submitted to that agent in that state; empty when it can.
std::string input_blocked_reason(profiles::State state, std::string_view name);

}  // namespace relay::host
