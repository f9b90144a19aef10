#include "cli/wire/workspace.h"

#include "base/format.h"
#include "base/json.h"
#include "cli/wire/daemon_control.h"
#include "config/paths.h"
#include "config/system_token.h"
#include "daemon/private_file.h"

namespace relay::cli {

Result<DaemonConnection> connect_daemon(const Context& context) {
  return DaemonConnection::open(config::socket_to_connect(context.home.daemon_socket));
}

namespace {

/// A killed daemon leaves the file behind, so the pid in it is compared.
std::string url_in_file(const Context& context, pid_t daemon_pid) {
  bool exists = false;
  const auto text = daemon::read_small_file(context.home.http_file, exists);
  const auto parsed = parse_json_object(text.value_or(""));
  const bool is_current = parsed && integer_member(*parsed, "pid") == daemon_pid;
  return is_current ? string_member(*parsed, "url").value_or("") : "";
}

}  // namespace

HttpService http_service(const Context& context, pid_t daemon_pid) {
  auto daemon = connect_daemon(context);
  if (daemon && peer_of(*daemon).value_or(0) == daemon_pid)
    if (auto state = query_daemon_state(*daemon, context.project.root))
      return {std::move(state->http_url), std::move(state->http_error)};
  return {.url = url_in_file(context, daemon_pid)};
}

Result<DaemonConnection> connect_workspace(const Context& context) {
  auto connection = DaemonConnection::open(config::socket_to_connect(context.project.socket));
  if (connection || !is(connection.error(), Errc::NoDaemon) || !connect_daemon(context)) return connection;
  return fail(Errc::NoDaemon,
              relay::format("the workspace of {} is not open in the running daemon; open it with: agent-relay up",
                            context.project.root));
}

Result<DaemonConnection> join_workspace(const Context& context, std::chrono::milliseconds timeout, int interrupts) {
  auto connection = RELAY_TRY(connect_workspace(context));
  connection.watch_interrupts(interrupts);
  RELAY_TRY(connection.say_hello(config::read_system_token(context.home), timeout));
  return connection;
}

}  // namespace relay::cli
