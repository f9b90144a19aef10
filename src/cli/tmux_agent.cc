#include "cli/tmux_agent.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "base/format.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "cli/own_program.h"
#include "config/places.h"
#include "pty/person_terminal.h"
#include "tmux/installed.h"
#include "tmux/pane.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kVersionPatience{5};

/// Inside tmux already: the client goes over to the session instead of nesting.
[[nodiscard]] Failure become_client(const Context& context, const std::string& tmux, const std::string& session) {
  const std::string target = "=" + session;
  const bool inside = context.environment("TMUX").has_value();
  const char* const words[] = {"tmux", inside ? "switch-client" : "attach-session", "-t", target.c_str(), nullptr};
  ::execv(tmux.c_str(), const_cast<char* const*>(words));
  return fail_errno(relay::format("cannot start {}", tmux));
}

}  // namespace

host::StartProgram start_in_tmux(const pty::Command& command, const std::string& agent) {
  return [&command, agent](net::AsioLoop& loop, pty::WindowSize size,
                           pty::ProgramListener& listener) -> Result<std::unique_ptr<pty::Program>> {
    tmux::PaneOptions options{.name = agent,
                              .keeper = {RELAY_TRY(own_program()), std::string{kTmuxKeeperWord}},
                              .server = {},
                              .directory = {}};
    return RELAY_TRY(tmux::Pane::spawn(loop, command, size, std::move(options), listener));
  };
}

Result<void> run_in_tmux(const Context& context, const std::string& agent, std::vector<std::string> words) {
  const auto tmux =
      RELAY_TRY(tmux::find_tmux(pty::inherited_environment(), std::chrono::steady_clock::now() + kVersionPatience));
  RELAY_TRY(config::make_private_directory(context.home.root));
  RELAY_TRY(launch_in_background(std::move(words), context.home.daemon_log, relay::format("the host of {}", agent)));
  const auto session = tmux::session_name(agent);
  if (pty::PersonTerminal::is_one()) return become_client(context, tmux, session);
  print_sentence(relay::format("{} runs in tmux; look at it with: tmux attach -t ={}\n", agent, session));
  return {};
}

}  // namespace relay::cli
