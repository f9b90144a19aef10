/// How a host presents itself to the daemon: who it is, what it does, what it can take.
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

inline constexpr std::uint32_t kMaxDeliveries = 2'048;  // those that are held until somebody asks count too

/// A host takes everything of a mode it can do, and finds the moment itself.
protocol::Hello hello_of(const HostRecord& record, const std::string& claim_token, protocol::DeliveryModes modes);

/// The name of a state for users. `starting`: the agent has not been ready yet, so a state that is not known is `starting`.
std::string_view shown_state_name(profiles::State state, bool starting);

/// SESSION_STATE. `reason`: why mail waits; empty: it does not. `modes`: when they have changed.
std::string session_state(profiles::State state, bool starting, std::string_view reason, std::string_view capabilities,
                          std::optional<protocol::DeliveryModes> modes);

/// How the session of an agent ended: by its exit, or by whoever released it.
protocol::Bye goodbye_of(const pty::ExitStatus& status, const std::optional<ReleaseAgent>& released);

/// Why words with Enter cannot be typed into that agent in that state; empty when they can.
std::string input_blocked_reason(profiles::State state, std::string_view name);

}  // namespace relay::host
