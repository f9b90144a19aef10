/// Requests of connections that are answered later: their number and their origin.
///
/// Invariant: a request counts as open from `start` to `finish`.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "broker/commit_pipeline.h"
#include "broker/connections.h"
#include "broker/context.h"
#include "broker/rejection.h"

namespace relay::broker {

struct ClientRequest {
  ConnectionId connection;
  std::string id;  // chosen by the client
  protocol::MessageType response{};
};

class ClientRequests {
 public:
  ClientRequests(Context& context, Connections& connections, CommitPipeline& commits)
      : context_{context}, connections_{connections}, commits_{commits} {}

  /// Why the connection may not open another request now.
  [[nodiscard]] std::optional<Rejection> check(const ConnectionState& connection) const;
  /// Closes the batch first, so that a query of the store covers everything that the connection sent before.
  ClientRequest start(ConnectionState& connection, std::string_view id, protocol::MessageType response);
  /// The same without closing the batch.
  ClientRequest start_uncommitted(ConnectionState& connection, std::string_view id, protocol::MessageType response);
  /// The connection, if it still expects the response.
  ConnectionState* finish(const ClientRequest& request);
  void respond(ConnectionState& connection, const ClientRequest& request, std::string_view payload) {
    connections_.respond(connection, request.response, request.id, payload);
  }

 private:
  Context& context_;
  Connections& connections_;
  CommitPipeline& commits_;
};

}  // namespace relay::broker
