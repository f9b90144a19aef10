/// The owner of the program that listens at a port of this machine, as the kernel reports it.
///
/// Why: any program may take a port, even in the moment before the intended server does. A client checks the owner
///   before it sends a password.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace relay::net {

/// The owner of the listener at 127.0.0.1 (or all addresses) and this port; none without a listener, or if the kernel
/// does not report it.
std::optional<uid_t> listener_owner(std::uint16_t port);

}  // namespace relay::net
