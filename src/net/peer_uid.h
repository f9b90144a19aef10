/// The owner of the program at the other end of a TCP connection within this machine, as the kernel reports it.
///
/// Why: loopback is open to every user of the machine, and TCP carries no credentials. The kernel knows the other end
///   as a local socket, by the same two addresses in reverse.
/// Invariants: a result is about that very connection. A socket that its program has already closed has no owner (the
///   kernel then reports 0, which is root's uid): no result.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace relay::net {

/// One end of a connection; IPv4 addresses are mapped to IPv6 ("::ffff:127.0.0.1").
struct TcpEnd {
  in6_addr address{};
  std::uint16_t port = 0;  // network byte order
};

/// A connection from the side of the peer's socket. It identifies that socket even after the own one is passed on.
struct TcpEnds {
  bool is_v4 = false;
  TcpEnd own, other;
};
std::optional<TcpEnds> ends_seen_by_peer(int connected_socket);

/// The owner of the socket at the other end.
struct SocketOwner {
  uid_t uid = 0;
  std::uint32_t inode = 0;  // of the socket: `socket:[inode]` in /proc/PID/fd
};
/// None if that socket is not on this machine, is closed, or the kernel does not report it.
std::optional<SocketOwner> socket_owner(const TcpEnds& ends);

/// None if the other end is not on this machine, is closed, or the kernel does not report it.
std::optional<uid_t> peer_uid(int connected_socket);

/// The two sources: one exact netlink query (7 µs), and, where netlink is unavailable, a scan of the list of all
///   connections (milliseconds).
struct OwnerLookup {
  bool answered = false;  // the kernel answered; without a uid the socket has no owner
  std::optional<uid_t> uid = {};
};
OwnerLookup peer_uid_by_netlink(int connected_socket);
std::optional<uid_t> peer_uid_by_proc(int connected_socket);

}  // namespace relay::net
