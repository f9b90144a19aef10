#include "cli/workspace.h"

#include "base/format.h"
#include "base/json.h"
#include "config/places.h"
#include "daemon/private_file.h"

namespace relay::cli {

Result<Connection> reach_daemon(const Context& context) {
  return Connection::open(config::socket_to_connect(context.home.daemon_socket));
}

std::string http_address(const Context& context, pid_t daemon_pid) {
  bool exists = false;
  const auto text = daemon::read_small_file(context.home.http_file, exists);
  const auto told = parse_json_object(text.value_or(""));
  const bool lives = told && integer_member(*told, "pid") == daemon_pid;  // else a daemon that was killed left it
  return lives ? string_member(*told, "url").value_or("") : "";
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
