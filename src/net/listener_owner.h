/// Whose program listens at a port of this machine, by the kernel's word.
///
/// Why: a port is anybody's to take, also in the moment before the program it was meant for does. Who says a password
///   there must know to whom.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace relay::net {

/// Of the listener at 127.0.0.1 (or every address) and that port; none when nobody listens, or the kernel does not tell.
std::optional<uid_t> listener_owner(std::uint16_t port);

}  // namespace relay::net
