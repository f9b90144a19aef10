#include "cli/agent/tmux_agent.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/format.h"
#include "cli/agent/launch.h"
#include "cli/agent/self_path.h"
#include "cli/framework/output.h"
#include "config/paths.h"
#include "pty/user_terminal.h"
#include "tmux/installed.h"
#include "tmux/pane.h"
#include "tmux/subprocess.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kVersionTimeout{5};

constexpr std::size_t kMaxClientsBytes = 64 * 1024;

/// A terminal shows the session of the current pane. The client of a host is in control mode and does not count. True when
/// tmux does not respond.
bool is_watched(const Context& context, const std::string& tmux) {
  std::vector<std::string> words{"tmux", "list-clients", "-F", "#{client_control_mode}"};
  if (const auto pane = context.environment("TMUX_PANE")) words.insert(words.end(), {"-t", *pane});
  auto query = tmux::Subprocess::start(tmux, words, pty::inherited_environment());
  const auto output = query ? query->read_all(kMaxClientsBytes, std::chrono::steady_clock::now() + kVersionTimeout)
                            : Result<std::string>{Failure{query.error()}};
  if (!output) return true;
  std::istringstream lines{*output};
  for (std::string line; std::getline(lines, line);)
    if (line != "1") return true;
  return false;
}

/// The command to attach, with the socket of the current server unless plain `tmux` finds it.
std::string attach_command(const Context& context, const std::string& session) {
  std::string socket;
  std::istringstream server{context.environment("TMUX").value_or("")};
  std::getline(server, socket, ',');
  const bool is_default = socket.empty() || std::filesystem::path{socket}.filename() == "default";
  return is_default ? relay::format("tmux attach -t ={}", session)
                    : relay::format("tmux -S {} attach -t ={}", socket, session);
}

/// Inside tmux the client switches to the session instead of nesting.
[[nodiscard]] Failure become_client(const Context& context, const std::string& tmux, const std::string& session) {
  const std::string target = "=" + session;
  const bool inside = context.environment("TMUX").has_value();
  const char* const words[] = {"tmux", inside ? "switch-client" : "attach-session", "-t", target.c_str(), nullptr};
  ::execv(tmux.c_str(), const_cast<char* const*>(words));
  return fail_errno(relay::format("cannot start {}", tmux));
}

}  // namespace

host::StartProgram start_in_tmux(net::AsioLoop& loop, const pty::Command& command, const std::string& agent) {
  return [&loop, &command, agent](pty::WindowSize size,
                                  pty::ProgramListener& listener) -> Result<std::unique_ptr<pty::Program>> {
    tmux::PaneOptions options{.name = agent,
                              .shim_command = {RELAY_TRY(self_path()), std::string{kTmuxShimCommand}},
                              .server = {},
                              .directory = {}};
    return RELAY_TRY(tmux::Pane::spawn(loop, command, size, std::move(options), listener));
  };
}

Result<void> run_in_tmux(const Context& context, const std::string& agent, std::vector<std::string> words) {
  const auto tmux =
      RELAY_TRY(tmux::find_tmux(pty::inherited_environment(), std::chrono::steady_clock::now() + kVersionTimeout));
  RELAY_TRY(config::make_private_directory(context.home.root));
  RELAY_TRY(launch_in_background(std::move(words), context.home.daemon_log, relay::format("the host of {}", agent)));
  const auto session = tmux::session_name(agent);
  // Without a client `switch-client` would silently switch another one, even that of a host.
  const bool has_no_viewer = context.environment("TMUX").has_value() && !is_watched(context, tmux);
  if (pty::UserTerminal::is_one() && !has_no_viewer) return become_client(context, tmux, session);
  const auto switch_hint =
      has_no_viewer ? relay::format(" (or from a client of this server: tmux switch-client -t ={})", session) : "";
  print_wrapped(relay::format("{} runs in tmux; attach to it with: {}{}\n", agent, attach_command(context, session),
                              switch_hint));
  return {};
}

}  // namespace relay::cli
