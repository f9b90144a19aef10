#include "daemon/host_environment.h"

#include <array>
#include <span>
#include <string_view>

#include "host/spawn_protocol.h"
#include "pty/child.h"
#include "pty/command.h"

namespace relay::daemon {
namespace {

constexpr std::array<std::string_view, 8> kOfAnAgent = {
    pty::kMarkVariable,   "AGENT_RELAY_HOST_SOCKET", "AGENT_RELAY_NAME",     "AGENT_RELAY_INBOX",
    "AGENT_RELAY_OUTBOX", host::kTaskVariable,       host::kSpawnerVariable, host::kTeamVariable};

/// A process with it has full access to every agent; an agent never needs it.
constexpr std::array<std::string_view, 1> kSecrets = {"AGENT_RELAY_API_TOKEN"};

constexpr std::array<std::string_view, 5> kOfAServiceManager = {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
                                                                "LISTEN_PID", "LISTEN_FDS"};

/// Describe the terminal of the daemon, not the agent's.
constexpr std::array<std::string_view, 9> kOfATerminal = {
    "TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES"};

/// A coding agent sets these for its children; an agent CLI that finds them assumes that it is nested.
constexpr std::array<std::string_view, 7> kOfACodingAgent = {
    "CLAUDECODE",    "CLAUDE_CODE_ENTRYPOINT",         "CLAUDE_CODE_SSE_PORT",
    "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CURSOR_AGENT",
    "GEMINI_CLI"};

constexpr std::string_view kTerminal = "xterm-256color";  // the terminal that a host emulates

void remove(std::vector<std::string>& environment, std::span<const std::string_view> names) {
  for (const auto name : names) pty::remove_variable(environment, name);
}

}  // namespace

void strip_agent_variables(std::vector<std::string>& environment) { remove(environment, kOfAnAgent); }

void strip_secrets(std::vector<std::string>& environment) { remove(environment, kSecrets); }

void prepare_for_host(std::vector<std::string>& environment) {
  strip_agent_variables(environment);
  strip_secrets(environment);
  remove(environment, kOfAServiceManager);
  remove(environment, kOfATerminal);
  remove(environment, kOfACodingAgent);
  const auto terminal = pty::variable(environment, "TERM");
  if (terminal.empty() || terminal == "dumb") pty::set_variable(environment, "TERM", kTerminal);
}

}  // namespace relay::daemon
