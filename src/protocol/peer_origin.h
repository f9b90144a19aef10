/// The origin of a connection, as its acceptor classified it: the user's own shell, or a process inside an agent.
///
/// Why: every process of a user passes the kernel's check of the uid, an agent's tools included. Decisions that belong
///   to the user (answering permissions, sending as the user) need more than the uid. docs/security.md states what this
///   classification enforces and what it does not.
/// Invariants: `agent` and `host_socket` are empty unless `kind` is Agent. Unknown never counts as the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace relay::protocol {

enum class OriginKind : std::uint8_t {
  Unknown,  // the process had ended or was hidden before it could be classified
  User,     // no agent is among its ancestors
  Agent,    // a host, an agent, or a process below one
};

struct PeerOrigin {
  OriginKind kind = OriginKind::Unknown;
  std::string agent = {};        // the name of the agent; may be empty
  std::string host_socket = {};  // the socket of its host, which distinguishes agents of the same name
  bool daemon = false;           // the daemon, which has checked its callers: its HTTP API, or at a host

  [[nodiscard]] bool is_user() const { return kind == OriginKind::User; }
  [[nodiscard]] bool is_agent() const { return kind == OriginKind::Agent; }
  bool operator==(const PeerOrigin&) const = default;
};

inline PeerOrigin user_origin() { return {.kind = OriginKind::User}; }
inline PeerOrigin daemon_origin() { return {.kind = OriginKind::User, .daemon = true}; }
inline PeerOrigin agent_origin(std::string name, std::string host_socket = {}) {
  return {.kind = OriginKind::Agent, .agent = std::move(name), .host_socket = std::move(host_socket)};
}

/// The reason to refuse a request that only the user may make; empty for the user. `action`
/// completes "only the user may".
std::string user_only_reason(std::string_view action, const PeerOrigin& origin);

}  // namespace relay::protocol
