/// Authority: which connections act for the user, and which actions are reserved to them. docs/security.md gives the
/// reasons.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/agents.h"
#include "broker/connection_state.h"
#include "broker/rejection.h"
#include "protocol/worker_requests.h"

namespace relay::broker {

/// Why this connection may not perform an action that is reserved to the user; `action` follows "only the user may".
/// None: it may.
std::optional<Rejection> require_user(const ConnectionState& connection, std::string_view action);
/// The connection is a session of that agent, or belongs to a process inside it.
bool is_same_agent(const ConnectionState& connection, std::string_view agent);
/// An agent joins and leaves channels itself; the user decides for others.
std::optional<Rejection> check_member(const ConnectionState& connection, const AgentName& member);
/// Pending messages are read by the user and by their recipient.
std::optional<Rejection> check_reader(const ConnectionState& connection, const AgentName& recipient);
/// True if a message from this connection under this name has the user's authority.
bool sends_as_user(const ConnectionState& connection, std::string_view from);
/// Whether the name is the user: the user's own name, a session of the user, or a name without a session under which
/// the user sent last. The user never answers automatically, so the loop breaker does not count these messages.
bool represents_user(const AgentState& agent);

/// The checks that need the system token or the table of agents.
class Authority {
 public:
  Authority(std::string system_token, const Agents& agents) : system_token_{std::move(system_token)}, agents_{agents} {}

  [[nodiscard]] bool is_system_token(std::string_view token) const;
  /// Marks the connection as trusted if it belongs to one of the daemon's own programs.
  void check_system_token(ConnectionState& connection, std::string_view token) const;
  /// The agent has the authority of this connection from now on.
  static void set_user_authority(AgentState& agent, const ConnectionState& connection, std::string_view from) {
    agent.has_user_authority.write() = sends_as_user(connection, from);
  }
  /// Why the connection may not use this name, regardless of its present owner; none: it may.
  [[nodiscard]] std::optional<Rejection> check_name_use(const ConnectionState& connection, std::string_view name) const;
  [[nodiscard]] std::optional<Rejection> check_hello_name(const ConnectionState& connection,
                                                          const protocol::Hello& hello) const;
  /// True if the task of a SPAWN has the user's authority. The command line sends the token when the user spawns under
  /// their own name.
  [[nodiscard]] bool gives_task_as_user(const ConnectionState& connection, const protocol::SpawnRequest& spawn,
                                        std::string_view token) const;

 private:
  std::string system_token_;
  const Agents& agents_;
};

}  // namespace relay::broker
