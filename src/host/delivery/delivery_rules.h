/// Rules of the scheduler that depend only on their arguments: which mode can be typed, which lane is first, why a native
/// delivery is not possible. Pure.
#pragma once

#include <string_view>

#include "adapters/adapter.h"
#include "host/delivery/delivery.h"
#include "profiles/state_classifier.h"
#include "protocol/delivery_mode.h"

namespace relay::host {

[[nodiscard]] bool can_be_typed(protocol::DeliveryMode mode);

/// The native interface rejected it, or would present a message of the user as a peer's.
[[nodiscard]] bool must_be_typed(const Delivery& delivery, const adapters::ModeSupport& by);

/// A working agent can only be interrupted, so a mode that interrupts comes before one that needs an idle agent.
[[nodiscard]] bool precedes(protocol::Lane one, protocol::Lane other, profiles::State state);

/// Why a native delivery is not possible now; empty when it is.
[[nodiscard]] std::string_view native_block_reason(adapters::DeliveryTiming timing, profiles::State state,
                                                   profiles::Blocker blocker);

/// The daemon holds messages of unsupported modes; this one was sent before the modes changed.
[[nodiscard]] std::string_view unsupported_reason(protocol::DeliveryMode mode);

}  // namespace relay::host
