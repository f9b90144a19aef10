#include "cli/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/exit_code.h"
#include "daemon/host_environment.h"
#include "host/spawning.h"
#include "pty/command.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kReadyTimeout{30};  // recovery of a large database takes its time
constexpr std::size_t kMaxWordsBytes = 8 * 1024;
constexpr std::string_view kReady = "ready";

/// Only what is safe between fork and exec.
[[noreturn]] void become_daemon(int ready, int log, char* const* arguments, char* const* environment) {
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (ready == host::kReadyFd)
    ::fcntl(ready, F_SETFD, 0);
  else
    ::dup2(ready, host::kReadyFd);
  ::close_range(host::kReadyFd + 1, ~0U, 0);
  ::execve("/proc/self/exe", arguments, environment);
  ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Heard {
  std::string words;
  bool ended = false;  // it will never say more
};

/// Everything the child says before it closes its end, or until time runs out.
Heard hear(int fd) {
  Heard heard;
  auto& words = heard.words;
  const auto deadline = std::chrono::steady_clock::now() + kReadyTimeout;
  std::array<char, 1024> buffer{};
  while (words.size() < kMaxWordsBytes && !words.ends_with('\n')) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd watched{fd, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    heard.ended = count == 0;
    if (count <= 0) break;
    words.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return heard;
}

}  // namespace

std::string_view describe(LaunchErrc code) {
  switch (code) {
    case LaunchErrc::CannotStart: return "the daemon cannot be started";
    case LaunchErrc::NotReady: return "the daemon did not become ready";
    case LaunchErrc::AlreadyRunning: return "a daemon is already running";
  }
  return "";
}

Result<pid_t> launch_daemon(std::vector<std::string> arguments, const std::string& log_path) {
  arguments.insert(arguments.end(), {"--ready-fd", relay::format("{}", host::kReadyFd)});
  return launch_in_background(std::move(arguments), log_path, "the daemon");
}

Result<pid_t> launch_in_background(std::vector<std::string> arguments, const std::string& log_path,
                                   std::string_view what) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
  const UniqueFd hearing{ends[0]};
  UniqueFd speaking{ends[1]};
  const UniqueFd log{::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!log)
    return fail(Error::from_errno("cannot write " + log_path).message() +
                "; make it writable, or choose another place with AGENT_RELAY_HOME");

  arguments.insert(arguments.begin(), "agent-relay");
  auto environment = pty::inherited_environment();
  daemon::leave_agent(environment);  // or it would end with the agent that started it
  const auto words = pointers_to(arguments), variables = pointers_to(environment);

  const pid_t child = ::fork();
  if (child < 0) return fail_errno(relay::format("cannot start {}", what));
  if (child == 0) become_daemon(speaking.get(), log.get(), words.data(), variables.data());
  speaking.reset();

  const auto heard = hear(hearing.get());
  auto said = heard.words;
  if (said.starts_with(kReady)) return child;
  int status = 0;
  if (said.starts_with(host::kErrorWord)) {
    ::waitpid(child, &status, 0);
    said.erase(0, host::kErrorWord.size());
    while (said.ends_with('\n')) said.pop_back();
    const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::Refused);
    return fail(refused ? LaunchErrc::AlreadyRunning : LaunchErrc::CannotStart, said);
  }
  if (!heard.ended && ::waitpid(child, &status, WNOHANG) == 0)
    return fail(LaunchErrc::NotReady, relay::format("{} (pid {}) is not ready after {} s; see {}", what, child,
                                                    kReadyTimeout.count(), log_path));
  return fail(LaunchErrc::CannotStart, relay::format("{} ended before it was ready; see {}", what, log_path));
}

}  // namespace relay::cli
