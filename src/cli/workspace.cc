#include "cli/workspace.h"

#include "base/format.h"
#include "config/places.h"

namespace relay::cli {

Result<Connection> reach_daemon(const Context& context) {
  return Connection::open(config::socket_to_connect(context.home.daemon_socket));
}

Result<Connection> reach_workspace(const Context& context) {
  auto connection = Connection::open(config::socket_to_connect(context.project.socket));
  if (connection || !is(connection.error(), Errc::NoDaemon) || !reach_daemon(context)) return connection;
  return fail(Errc::NoDaemon, relay::format("the workspace of {} is not open: the daemon runs without it; "
                                            "open it with: agent-relay up",
                                            context.project.root));
}

Result<Connection> join_workspace(const Context& context) {
  auto connection = RELAY_TRY(reach_workspace(context));
  RELAY_TRY(connection.introduce());
  return connection;
}

}  // namespace relay::cli
