#include "cli/wire/start_daemon.h"

#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/format.h"
#include "cli/agent/launch.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"
#include "config/trust.h"

namespace relay::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenTimeout{5'000};
constexpr std::chrono::milliseconds kFirstPause{20};  // doubled each time

bool is_between(const Error& error) { return is(error, Errc::Lost) || is(error, LaunchErrc::AlreadyRunning); }

}  // namespace

std::string absolute_socket(const config::Settings& settings) {
  const auto socket = settings.socket();
  return socket.empty() ? socket : std::filesystem::absolute(socket).lexically_normal().string();
}

Result<void> retry_between_daemons(const std::function<Result<void>()>& attempt) {
  const auto deadline = in(kBetweenTimeout);
  for (auto pause = kFirstPause;; pause *= 2) {
    auto outcome = attempt();
    if (outcome || !is_between(outcome.error()) || std::chrono::steady_clock::now() + pause > deadline) return outcome;
    std::this_thread::sleep_for(pause);
  }
}

void print_system_directory_notice(const Context& context) {
  if (!context.project.common) return;
  print_notice(
      relay::format("{} is a system directory, not a project: its workspace is in {}, and nothing is written into the "
                    "directory; to use it as a project, add it to trusted_projects",
                    context.project.root, context.project.directory));
}

Result<void> ensure_workspace(const Context& context) {
  const auto connected = DaemonConnection::open(config::socket_to_connect(context.project.socket));
  if (connected || !is(connected.error(), Errc::NoDaemon)) return {};  // the command reports any other error
  const auto settings = RELAY_TRY(config::load_settings(context.home, context.environment));
  RELAY_TRY(settings.check_usable());
  RELAY_TRY(config::check_trusted(context.project.root, context.home, settings, context.environment));
  return retry_between_daemons([&]() -> Result<void> {
    auto daemon = connect_daemon(context);
    if (daemon) {
      RELAY_TRY(open_workspace(*daemon, context.project.root, absolute_socket(settings)));
      return {};
    }
    if (!is(daemon.error(), Errc::NoDaemon)) return Failure{daemon.error()};
    RELAY_TRY(config::make_private_directory(context.home.root));
    const auto pid = RELAY_TRY(launch_daemon({"up", "--foreground"}, context.home.daemon_log));
    if (::isatty(STDERR_FILENO) == 1)
      print_notice(relay::format("started the daemon (pid {}); stop it with: agent-relay down --all", pid));
    return {};
  });
}

}  // namespace relay::cli
