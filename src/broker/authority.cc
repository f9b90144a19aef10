#include "broker/authority.h"

#include "base/format.h"
#include "base/hash.h"

namespace relay::broker {

using protocol::NackCode;

std::optional<Rejection> require_user(const ConnectionState& connection, std::string_view action) {
  auto reason = protocol::user_only_reason(action, connection.peer->origin);
  if (reason.empty()) return std::nullopt;
  return Rejection{NackCode::Refused, std::move(reason)};
}

bool is_same_agent(const ConnectionState& connection, std::string_view agent) {
  const auto& origin = connection.peer->origin;
  if (!connection.query_only && connection.agent->value() == agent) return true;
  return origin.is_agent() && !origin.agent.empty() && origin.agent == agent;
}

std::optional<Rejection> check_member(const ConnectionState& connection, const AgentName& member) {
  if (is_same_agent(connection, member.value())) return std::nullopt;
  return require_user(connection, "change channels of other agents");
}

std::optional<Rejection> check_reader(const ConnectionState& connection, const AgentName& recipient) {
  const bool is_recipient =
      connection.query_only ? connection.peer->origin.agent == recipient.value() : connection.agent == recipient;
  return is_recipient ? std::nullopt : require_user(connection, "mark the messages of others as read");
}

bool Authority::is_system_token(std::string_view token) const {
  return !system_token_.empty() && equal_in_constant_time(token, system_token_);
}

void Authority::check_system_token(ConnectionState& connection, std::string_view token) const {
  connection.trusted.write() = connection.peer->origin.daemon || is_system_token(token);
}

std::optional<Rejection> Authority::check_name_use(const ConnectionState& connection, std::string_view name) const {
  const AgentState* agent = agents_.find(name);
  const bool is_user_name = agent != nullptr && agent->record->entity == protocol::EntityType::User;
  if (name == protocol::kUserName || is_user_name) {
    if (auto refused = require_user(connection, format("send as {}", name))) return refused;
  }
  if (!protocol::is_reserved_name(name)) return std::nullopt;
  if (name == protocol::kUserName && connection.trusted) return std::nullopt;
  return Rejection{NackCode::BadRequest, format("the name '{}' is reserved; choose another", name)};
}

std::optional<Rejection> Authority::check_hello_name(const ConnectionState& connection,
                                                     const protocol::Hello& hello) const {
  if (hello.entity == protocol::EntityType::User) {
    if (auto refused = require_user(connection, "join as a user")) return refused;
  }
  // Published dashboards have no token. From the user's own programs they get the name, with a peer's authority.
  if (hello.agent == protocol::kDashboardName && hello.system_component && connection.peer->origin.is_user())
    return std::nullopt;
  return check_name_use(connection, hello.agent);
}

/// The HTTP API forwards names that its callers choose; only the user's own name has the user's authority.
bool sends_as_user(const ConnectionState& connection, std::string_view from) {
  const auto& origin = connection.peer->origin;
  return connection.trusted && origin.is_user() && (!origin.daemon || from == protocol::kUserName);
}

bool represents_user(const AgentState& agent) {
  return agent.has_user_authority || agent.record->entity == protocol::EntityType::User ||
         agent.name().value() == protocol::kUserName;
}

bool Authority::gives_task_as_user(const ConnectionState& connection, const protocol::SpawnRequest& spawn,
                                   std::string_view token) const {
  const auto& origin = connection.peer->origin;
  if (!connection.query_only || !origin.is_user()) return false;
  return origin.daemon ? spawn.spawner.empty() || spawn.spawner == protocol::kUserName : is_system_token(token);
}

}  // namespace relay::broker
