/// Authority: which connections act for the user, and what only those may do. docs/security.md gives the reasons.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/agents.h"
#include "broker/connection_state.h"
#include "broker/rejection.h"
#include "protocol/worker_requests.h"

namespace relay::broker {

/// Why this connection may not do what only the user may; `action` follows "only the user may". None: it may.
std::optional<Rejection> require_user(const ConnectionState& connection, std::string_view action);
/// The connection is a session of that agent, or belongs to a process inside it.
bool is_same_agent(const ConnectionState& connection, std::string_view agent);
/// An agent joins and leaves channels itself; the user decides for others.
std::optional<Rejection> check_member(const ConnectionState& connection, const AgentName& member);
/// Pending messages are read by the user and by their recipient.
std::optional<Rejection> check_reader(const ConnectionState& connection, const AgentName& recipient);
/// Does a message from this connection under this name have the user's authority?
bool speaks_as_user(const ConnectionState& connection, std::string_view from);
/// The user is one end of what this agent sends or receives: its own name, a session of the user's, or a name without a
/// session under which the user sent last. The user answers nothing by itself, so the loop breaker does not count it.
bool stands_for_user(const AgentState& agent);

/// The checks that need the system token or the known agents.
class Authority {
 public:
  Authority(std::string system_token, const Agents& agents) : system_token_{std::move(system_token)}, agents_{agents} {}

  [[nodiscard]] bool is_system_token(std::string_view token) const;
  /// Marks the connection as trusted if it is one of the daemon's own programs.
  void check_system_token(ConnectionState& connection, std::string_view token) const;
  /// Why the connection may not use this name, whoever has it; none: it may.
  [[nodiscard]] std::optional<Rejection> check_name_use(const ConnectionState& connection, std::string_view name) const;
  [[nodiscard]] std::optional<Rejection> check_hello_name(const ConnectionState& connection,
                                                          const protocol::Hello& hello) const;
  /// Does the task of a SPAWN have the user's authority? The command line shows the token where the user gives it under
  /// their own name.
  [[nodiscard]] bool gives_task_as_user(const ConnectionState& connection, const protocol::SpawnRequest& spawn,
                                        std::string_view token) const;

 private:
  std::string system_token_;
  const Agents& agents_;
};

}  // namespace relay::broker
