#include "cli/agent/hook.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>

#include "base/format.h"
#include "capture/capture_log.h"
#include "cli/agent/hook_records.h"
#include "cli/framework/output.h"
#include "cli/wire/daemon_connection.h"
#include "cli/wire/host_connection.h"
#include "hooks/event.h"
#include "hooks/response.h"
#include "pty/process_table.h"

namespace relay::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kMaxRequestBytes = 512 * 1024;  // of a frame to a host
constexpr std::size_t kRequestReserveBytes = 64;      // for the rest of the request
constexpr auto kInputTimeout = 5s;                    // agents write it at once

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

/// Reads all of stdin. Bytes beyond the limit are read and dropped, so that the agent's write does not fail; the deadline
/// bounds the time.
Result<std::string> read_input() {
  std::string input;
  std::array<char, kReadBytes> buffer;
  const auto deadline = in(kInputTimeout);
  for (;;) {
    if (!RELAY_TRY(wait_for(STDIN_FILENO, POLLIN, deadline)) || std::chrono::steady_clock::now() >= deadline)
      return fail("no complete JSON on stdin");
    const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return fail_errno("cannot read stdin");
    if (count == 0) return input;
    if (input.size() <= hooks::kMaxPayloadBytes) input.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void write_output(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// The pid of the agent: the parent, or the parent of a shell in between.
pid_t agent_process() {
  if (const auto pid = variable("CLAUDE_PID")) return static_cast<pid_t>(std::atoi(pid->c_str()));
  const auto is_shell = [](pid_t pid) {
    std::ifstream file{format("/proc/{}/comm", pid)};
    std::string name;
    std::getline(file, name);
    return name == "sh" || name == "dash" || name == "bash" || name == "zsh";
  };
  const auto parent = ::getppid();
  if (!is_shell(parent)) return parent;
  const auto shell = pty::find_process(parent);
  return shell ? shell->parent : 0;
}

Result<void> record_event(const hooks::HookEvent& event) {
  const auto home = RELAY_TRY(capture::home_directory(variable("RELAY_HOME"), variable("HOME")));
  auto log = RELAY_TRY(capture::CaptureLog::open(home));
  const auto now = SystemClock{}.now().wall;
  const HookCaller caller{.name = variable("AGENT_RELAY_NAME").value_or(""), .pid = agent_process()};
  for (const auto& record : records_of(event, caller)) RELAY_TRY(log.append(record, now));
  if (event.kind == hooks::HookEventKind::SessionStart) RELAY_TRY(log.remove_old(now));
  return {};
}

/// A permission request waits as long as the agent lets the hook run, a day at most. At the end of a session agents allow
/// about a second for all hooks.
std::chrono::milliseconds response_timeout(const hooks::HookEvent& event) {
  if (event.kind == hooks::HookEventKind::Permission) return 24h;
  return event.kind == hooks::HookEventKind::SessionEnd ? 500ms : 2s;
}

Result<hooks::HookResponse> request_host(const std::string& socket, const hooks::HookEvent& event) {
  auto host =
      RELAY_TRY(HostConnection::open({.name = variable("AGENT_RELAY_NAME").value_or("this agent"), .socket = socket}));
  host.watch_output(STDOUT_FILENO);
  const auto text = hooks::serialize_within(event, kMaxRequestBytes - kRequestReserveBytes);
  const auto answer =
      RELAY_TRY(host.request_text(format(R"({{"method":"hook","event":{}}})", text), response_timeout(event)));
  const auto* response = object_member(answer, "answer");
  return response == nullptr ? hooks::HookResponse{} : hooks::response_from(*response);
}

Result<void> handle(const std::string& agent_name) {
  const auto agent = hooks::parse_agent_cli(agent_name);
  if (!agent) return fail(format("\"{}\" is not an agent with hooks; choose claude, codex or gemini", agent_name));
  const auto payload = RELAY_TRY(read_input());
  const auto event = RELAY_TRY(hooks::parse_event(*agent, payload));
  const auto recorded = record_event(event);  // a failed write must not stop the request to the host
  const auto socket = variable("AGENT_RELAY_HOST_SOCKET");
  if (socket && !socket->empty()) {
    const auto answer = RELAY_TRY(request_host(*socket, event));
    write_output(hooks::write_response(event, answer));
  }
  return recorded;
}

}  // namespace

bool is_hook_call(const std::vector<std::string>& words) {
  return !words.empty() && words.front() == "hook" &&
         std::ranges::none_of(words, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

int run_hook(const std::string& agent) noexcept {
  // Agents may have left these ignored. They should end this process; the host then sees the closed connection.
  for (const int ending : {SIGTERM, SIGHUP, SIGINT}) std::signal(ending, SIG_DFL);
  for (const int error : {SIGPIPE, SIGXFSZ}) std::signal(error, SIG_IGN);
  try {
    const auto done = handle(agent);
    if (!done && ::isatty(STDERR_FILENO) == 1) print_notice(done.error().message());
  } catch (const std::exception&) {  // out of memory
  }
  return 0;
}

}  // namespace relay::cli
