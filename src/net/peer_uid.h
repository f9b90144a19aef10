/// Whose program is at the other end of a TCP connection within this machine, by the kernel's word.
///
/// Why: loopback is open to every user of the machine, and TCP carries no credentials. The kernel knows the other end as
///   a socket of its own, by the same two addresses the other way round.
/// Invariants: an answer is about that very connection. A socket that its program has closed already belongs to nobody
///   (the kernel then writes 0, which is root's number): no answer.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace relay::net {

/// One end of a connection; version 4 addresses are written as version 6 ("::ffff:127.0.0.1").
struct TcpEnd {
  in6_addr address{};
  std::uint16_t port = 0;  // in the byte order of the network
};

/// A connection as the other side's socket sees it. It names that socket after ours was handed on.
struct TcpEnds {
  bool is_v4 = false;
  TcpEnd own, other;
};
std::optional<TcpEnds> ends_seen_by_peer(int connected_socket);

/// Who has the socket at the other end.
struct SocketOwner {
  uid_t uid = 0;
  std::uint32_t inode = 0;  // of the socket: `socket:[inode]` in /proc/PID/fd
};
/// None when that socket is not on this machine, is closed by now, or the kernel does not tell.
std::optional<SocketOwner> socket_owner(const TcpEnds& seen);

/// None when the other end is not on this machine, is gone, or the kernel does not tell.
std::optional<uid_t> peer_uid(int connected_socket);

/// The two ways to ask: one exact question to the kernel (7 µs), and, where that cannot be asked, a look through the list
/// of all connections (milliseconds).
struct OwnerLookup {
  bool asked = false;  // the question was understood; without an owner the answer then is "nobody"
  std::optional<uid_t> uid = {};
};
OwnerLookup peer_uid_by_netlink(int connected_socket);
std::optional<uid_t> peer_uid_by_proc(int connected_socket);

}  // namespace relay::net
