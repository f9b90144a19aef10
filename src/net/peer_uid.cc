#include "net/peer_uid.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "base/unique_fd.h"

namespace relay::net {
namespace {

constexpr unsigned kEstablished = 1, kTimeWait = 6, kListen = 10;  // of the kernel's tcp_states.h

TcpEnd end_of(const sockaddr_storage& storage) {
  TcpEnd end;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    end.address.s6_addr[10] = end.address.s6_addr[11] = 0xff;
    std::memcpy(&end.address.s6_addr[12], &v4.sin_addr, sizeof v4.sin_addr);
    end.port = v4.sin_port;
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    end.address = v6.sin6_addr;
    end.port = v6.sin6_port;
  }
  return end;
}

bool same(const TcpEnd& end, const in6_addr& address, std::uint16_t port) {
  return end.port == port && std::memcmp(&end.address, &address, sizeof address) == 0;
}

bool has_owner(unsigned state, unsigned inode) {
  return inode != 0 && state >= kEstablished && state != kTimeWait && state != kListen;
}

struct DiagRequest {
  nlmsghdr header;
  inet_diag_req_v2 request;
};

void write_address(const TcpEnds& ends, const TcpEnd& end, std::uint32_t (&out)[4]) {
  std::memcpy(out, &end.address.s6_addr[ends.is_v4 ? 12 : 0], ends.is_v4 ? 4 : 16);
}

DiagRequest make_request(const TcpEnds& ends) {
  DiagRequest message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST;
  message.request.sdiag_family = ends.is_v4 ? AF_INET : AF_INET6;
  message.request.sdiag_protocol = IPPROTO_TCP;
  message.request.idiag_states = ~0U;
  auto& id = message.request.id;
  write_address(ends, ends.own, id.idiag_src);
  write_address(ends, ends.other, id.idiag_dst);
  id.idiag_sport = ends.own.port;
  id.idiag_dport = ends.other.port;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return message;
}

in6_addr read_address(unsigned family, const std::uint32_t (&words)[4]) {
  in6_addr address{};
  if (family == AF_INET) {
    address.s6_addr[10] = address.s6_addr[11] = 0xff;
    std::memcpy(&address.s6_addr[12], words, 4);
  } else {
    std::memcpy(&address, words, 16);
  }
  return address;
}

/// /proc writes addresses as 32-bit words, each in the byte order of the machine.
std::optional<in6_addr> read_hex_address(const char* text) {
  const std::size_t words = std::strlen(text) / 8;
  std::uint32_t out[4] = {};
  if (words != 1 && words != 4) return std::nullopt;
  for (std::size_t i = 0; i < words; ++i)
    if (std::sscanf(text + 8 * i, "%8X", &out[i]) != 1) return std::nullopt;
  return read_address(words == 1 ? AF_INET : AF_INET6, out);
}

std::optional<SocketOwner> find_in_table(const char* path, const TcpEnds& ends) {
  std::ifstream table{path};
  for (std::string line; std::getline(table, line);) {
    char own[33], other[33];
    unsigned own_port = 0, other_port = 0, state = 0, uid = 0, inode = 0;
    if (std::sscanf(line.c_str(), " %*u: %32[0-9A-F]:%4X %32[0-9A-F]:%4X %2X %*X:%*X %*X:%*X %*X %u %*u %u", own,
                    &own_port, other, &other_port, &state, &uid, &inode) != 7)
      continue;
    if (htons(static_cast<std::uint16_t>(own_port)) != ends.own.port) continue;
    const auto own_address = read_hex_address(own), other_address = read_hex_address(other);
    if (!own_address || !other_address || !same(ends.own, *own_address, ends.own.port) ||
        !same(ends.other, *other_address, htons(static_cast<std::uint16_t>(other_port))))
      continue;
    if (has_owner(state, inode)) return SocketOwner{uid, inode};
  }
  return std::nullopt;
}

struct KernelReply {
  bool answered = false;
  std::optional<SocketOwner> owner = {};
};

KernelReply query_kernel(const TcpEnds& ends) {
  const UniqueFd link{::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG)};
  const auto message = make_request(ends);
  if (!link || ::send(link.get(), &message, sizeof message, MSG_NOSIGNAL) != sizeof message) return {};

  // The kernel answers within `send`; `recv` does not wait.
  std::array<char, 4096> buffer{};
  const ssize_t size = ::recv(link.get(), buffer.data(), buffer.size(), 0);
  nlmsghdr header{};
  if (size < static_cast<ssize_t>(sizeof header)) return {};
  std::memcpy(&header, buffer.data(), sizeof header);
  if (header.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    std::memcpy(&error, buffer.data() + NLMSG_HDRLEN, sizeof error);
    return {.answered = error.error == -ENOENT};
  }
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return {};
  inet_diag_msg found{};
  std::memcpy(&found, buffer.data() + NLMSG_HDRLEN, sizeof found);
  // Without such a connection the kernel may answer with the listener.
  const bool exact = same(ends.own, read_address(found.idiag_family, found.id.idiag_src), found.id.idiag_sport) &&
                     same(ends.other, read_address(found.idiag_family, found.id.idiag_dst), found.id.idiag_dport);
  if (!exact || !has_owner(found.idiag_state, found.idiag_inode)) return {.answered = true};
  return {.answered = true, .owner = SocketOwner{found.idiag_uid, found.idiag_inode}};
}

std::optional<SocketOwner> find_in_tables(const TcpEnds& ends) {
  if (ends.is_v4) {
    if (const auto owner = find_in_table("/proc/net/tcp", ends)) return owner;
  }
  return find_in_table("/proc/net/tcp6", ends);  // a program may use IPv4 through an IPv6 socket
}

std::optional<uid_t> uid_of(const std::optional<SocketOwner>& owner) {
  return owner ? std::optional{owner->uid} : std::nullopt;
}

}  // namespace

std::optional<TcpEnds> ends_seen_by_peer(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0)
    return std::nullopt;
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return std::nullopt;
  TcpEnds ends{.own = end_of(peer), .other = end_of(own)};
  ends.is_v4 = IN6_IS_ADDR_V4MAPPED(&ends.own.address) != 0;
  return ends;
}

std::optional<SocketOwner> socket_owner(const TcpEnds& ends) {
  const auto reply = query_kernel(ends);
  return reply.answered ? reply.owner : find_in_tables(ends);
}

OwnerLookup peer_uid_by_netlink(int connected_socket) {
  const auto ends = ends_seen_by_peer(connected_socket);
  if (!ends) return {.answered = true};
  const auto reply = query_kernel(*ends);
  return {.answered = reply.answered, .uid = uid_of(reply.owner)};
}

std::optional<uid_t> peer_uid_by_proc(int connected_socket) {
  const auto ends = ends_seen_by_peer(connected_socket);
  return ends ? uid_of(find_in_tables(*ends)) : std::nullopt;
}

std::optional<uid_t> peer_uid(int connected_socket) {
  const auto ends = ends_seen_by_peer(connected_socket);
  return ends ? uid_of(socket_owner(*ends)) : std::nullopt;
}

}  // namespace relay::net
