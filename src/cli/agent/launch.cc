#include "cli/agent/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/format.h"
#include "base/unique_fd.h"
#include "daemon/host_environment.h"
#include "host/spawn_protocol.h"
#include "pty/command.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kReadyTimeout{30};  // recovery of a large database is slow
constexpr std::size_t kMaxReportBytes = 8 * 1024;
constexpr std::string_view kReady = "ready";

/// Everything the child needs, prepared before the fork.
struct ChildPlan {
  int ready;
  int log;
  char* const* arguments;
  char* const* environment;
};

/// Makes only calls that are safe between fork and exec.
[[noreturn]] void become_daemon(const ChildPlan& plan) {
  sigset_t none;  // the caller may have blocked interrupts (interrupts.h)
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(plan.log, STDOUT_FILENO);
  ::dup2(plan.log, STDERR_FILENO);
  if (plan.ready == host::kReadyFd)
    ::fcntl(plan.ready, F_SETFD, 0);
  else
    ::dup2(plan.ready, host::kReadyFd);
  ::close_range(host::kReadyFd + 1, ~0U, 0);
  ::execve("/proc/self/exe", plan.arguments, plan.environment);
  ::_exit(127);
}

/// Forks twice, so that the child is not a descendant of this process. This process may run inside an agent (`mcp`,
/// `wait`); a daemon below it would count as a process of that agent and end with it.
Result<pid_t> fork_orphan(const ChildPlan& plan) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
  const UniqueFd read_end{ends[0]}, write_end{ends[1]};
  const pid_t intermediate = ::fork();
  if (intermediate < 0) return fail_errno("cannot fork");
  if (intermediate == 0) {
    const pid_t child = ::fork();
    if (child == 0) become_daemon(plan);
    const bool reported = ::write(write_end.get(), &child, sizeof child) == sizeof child;
    ::_exit(child > 0 && reported ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(intermediate, &status, 0) < 0 && errno == EINTR) continue;
  pid_t child = -1;
  if (status != 0 || ::read(read_end.get(), &child, sizeof child) != sizeof child || child <= 0)
    return fail("cannot fork; stop some processes and try again");
  return child;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct ReadyReport {
  std::string text;
  bool closed = false;  // the child closed its end
};

/// Reads until the end of a line, the end of the pipe or the timeout.
ReadyReport read_report(int fd) {
  ReadyReport report;
  auto& text = report.text;
  const auto deadline = std::chrono::steady_clock::now() + kReadyTimeout;
  std::array<char, 1024> buffer{};
  while (text.size() < kMaxReportBytes && !text.ends_with('\n')) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd watched{fd, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    report.closed = count == 0;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return report;
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
  const UniqueFd read_end{ends[0]};
  UniqueFd write_end{ends[1]};
  const UniqueFd log{::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!log)
    return fail(Error::from_errno("cannot write " + log_path).message() +
                "; make it writable, or choose another directory with AGENT_RELAY_HOME");

  arguments.insert(arguments.begin(), "agent-relay");
  auto environment = pty::inherited_environment();
  daemon::strip_agent_variables(environment);  // else it would end with the agent that started it
  const auto argv = pointers_to(arguments), variables = pointers_to(environment);

  const auto child = fork_orphan(
      {.ready = write_end.get(), .log = log.get(), .arguments = argv.data(), .environment = variables.data()});
  if (!child) return fail(LaunchErrc::CannotStart, relay::format("cannot start {}: {}", what, child.error().message()));
  write_end.reset();

  const auto report = read_report(read_end.get());
  auto text = report.text;
  if (text.starts_with(kReady)) return *child;
  while (text.ends_with('\n')) text.pop_back();
  if (text.starts_with(host::kRunningPrefix))
    return fail(LaunchErrc::AlreadyRunning, text.substr(host::kRunningPrefix.size()));
  if (text.starts_with(host::kErrorPrefix))
    return fail(LaunchErrc::CannotStart, text.substr(host::kErrorPrefix.size()));
  if (!report.closed)
    return fail(LaunchErrc::NotReady, relay::format("{} (pid {}) is not ready after {} s; see {}", what, *child,
                                                    kReadyTimeout.count(), log_path));
  return fail(LaunchErrc::CannotStart, relay::format("{} exited before it was ready; see {}", what, log_path));
}

}  // namespace relay::cli
