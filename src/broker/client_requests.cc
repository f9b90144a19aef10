#include "broker/client_requests.h"

#include "base/format.h"

namespace relay::broker {

std::optional<Rejection> ClientRequests::check(const ConnectionState& connection) const {
  const std::size_t open = *connection.open_requests;
  if (open < context_.limits().max_open_queries) return std::nullopt;
  return Rejection{protocol::NackCode::Busy, format("{} requests are already open; wait for a response", open),
                   kBusyRetryMs};
}

ClientRequest ClientRequests::start(ConnectionState& connection, std::string_view id, protocol::MessageType response) {
  commits_.flush();
  return start_uncommitted(connection, id, response);
}

ClientRequest ClientRequests::start_uncommitted(ConnectionState& connection, std::string_view id,
                                                protocol::MessageType response) {
  ++*connection.open_requests;
  return {connection.id, std::string{id}, response};
}

ConnectionState* ClientRequests::finish(const ClientRequest& request) {
  ConnectionState* connection = connections_.find(request.connection);
  if (connection == nullptr) return nullptr;
  --*connection->open_requests;
  return connection->phase == Phase::Active ? connection : nullptr;
}

}  // namespace relay::broker
