/// Whose program is at the other end of a TCP connection within this machine, by the kernel's word.
///
/// Why: loopback is open to every user of the machine, and TCP carries no credentials. The kernel knows the other end as
///   a socket of its own, by the same two addresses the other way round.
/// Invariants: an answer is about that very connection. A socket that its program has closed already belongs to nobody
///   (the kernel then writes 0, which is root's number): no answer.
#pragma once

#include <sys/types.h>

#include <optional>

namespace relay::net {

/// None when the other end is not on this machine, is gone, or the kernel does not tell.
std::optional<uid_t> peer_uid(int connected_socket);

/// The two ways to ask: one exact question to the kernel (7 µs), and, where that cannot be asked, a look through the list
/// of all connections (milliseconds).
struct OwnerAnswer {
  bool asked = false;  // the question was understood; without an owner the answer then is "nobody"
  std::optional<uid_t> uid = {};
};
OwnerAnswer peer_uid_by_netlink(int connected_socket);
std::optional<uid_t> peer_uid_by_proc(int connected_socket);

}  // namespace relay::net
