#include "daemon/host_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "base/format.h"
#include "base/unique_fd.h"
#include "host/spawn_protocol.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"
#include "pty/exec_args.h"
#include "pty/process_handle.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kMaxReportBytes = 8 * 1024;

/// The arguments of a new process, made before the fork: afterwards only system calls are safe.
struct HostProcess {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* directory;
  int ready, log, null;
  ProcessDefaults defaults;
};

void write_bytes(int fd, std::string_view bytes) {
  [[maybe_unused]] const ssize_t ignored = ::write(fd, bytes.data(), bytes.size());
}

[[noreturn]] void exec_host(const HostProcess& process) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  ::umask(process.defaults.umask);
  if (process.defaults.open_files.rlim_max > 0) ::setrlimit(RLIMIT_NOFILE, &process.defaults.open_files);
  // Copied beyond the descriptors that are replaced next: each of them may be 0 to 3 already.
  const int ready = ::fcntl(process.ready, F_DUPFD, host::kReadyFd + 1);
  const int log = ::fcntl(process.log, F_DUPFD, host::kReadyFd + 1);
  const int null = ::fcntl(process.null, F_DUPFD, host::kReadyFd + 1);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::dup2(ready, host::kReadyFd);
  ::close_range(host::kReadyFd + 1, ~0U, 0);
  if (::chdir(process.directory) != 0)
    write_bytes(host::kReadyFd, "error: cannot enter its working directory\n");
  else
    ::execve(process.program, process.arguments, process.environment);
  ::_exit(127);
}

/// Runs in the process between the daemon and the host: reports the host's pid and exits.
[[noreturn]] void run_intermediate(const HostProcess& process, int pid_pipe) {
  ::setsid();
  const pid_t host = ::fork();
  if (host == 0) exec_host(process);
  write_bytes(pid_pipe, {reinterpret_cast<const char*>(&host), sizeof host});
  ::_exit(0);
}

Result<UniqueFd> double_fork(const HostProcess& process) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
  const UniqueFd read_end{ends[0]};
  UniqueFd write_end{ends[1]};
  const pid_t intermediate = ::fork();
  if (intermediate < 0) return fail_errno("cannot start a process");
  if (intermediate == 0) run_intermediate(process, write_end.get());
  write_end.reset();
  pid_t host = -1;
  ssize_t count = -1;
  do { count = ::read(read_end.get(), &host, sizeof host); } while (count < 0 && errno == EINTR);
  while (::waitpid(intermediate, nullptr, 0) < 0 && errno == EINTR) {}
  if (count != sizeof host || host < 0) return fail("cannot start a process: there are too many already");
  return pty::open_process(host);
}

}  // namespace

ProcessDefaults ProcessDefaults::now() {
  ProcessDefaults defaults;
  defaults.umask = ::umask(0);
  ::umask(defaults.umask);
  if (::getrlimit(RLIMIT_NOFILE, &defaults.open_files) != 0) defaults.open_files = {};
  return defaults;
}

/// A started process: its pipe, and a pidfd that identifies it even if the pid is reused.
struct ProcessLauncher::SpawnedHost {
  UniqueFd output;
  UniqueFd host;  // none when it has exited already; its pipe then reports it
};

/// One host that is starting: its output so far, and its deadline.
class ProcessLauncher::Launch {
 public:
  Launch(ProcessLauncher& owner, std::uint64_t id, SpawnedHost host, Started callback)
      : done{std::move(callback)},
        owner_{owner},
        id_{id},
        host_{std::move(host)},
        watch_{owner.loop_, host_.output.get(), [this] { read(); }},
        timer_{owner.loop_.after(owner.options_.timeout, [this] { give_up(); })} {}

  Started done;

 private:
  void read() {
    std::array<char, 1024> buffer{};
    const ssize_t count = ::read(host_.output.get(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count > 0) report_.append(buffer.data(), static_cast<std::size_t>(count));
    const std::string& log = owner_.options_.log;
    if (const auto end = report_.find('\n'); end != std::string::npos)
      owner_.finish(id_, parse_report(report_.substr(0, end)));
    else if (count <= 0 && report_.starts_with(host::kErrorPrefix))
      owner_.finish(id_, parse_report(report_));
    else if (count <= 0)
      owner_.finish(id_, fail(format("its host ended before it was ready; see {}", log)));
    else if (report_.size() > kMaxReportBytes)
      give_up();
  }

  Result<std::int32_t> parse_report(const std::string& line) {
    if (line.starts_with(host::kErrorPrefix)) return fail(line.substr(host::kErrorPrefix.size()));
    std::int32_t pid = 0;
    const char* const end = line.data() + line.size();
    if (line.starts_with(host::kReadyPrefix) &&
        std::from_chars(line.data() + host::kReadyPrefix.size(), end, pid).ptr == end && pid > 0)
      return pid;
    stop_host();
    return fail(format("its host sent an invalid report; see {}", owner_.options_.log));
  }

  void give_up() {
    stop_host();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(owner_.options_.timeout).count();
    owner_.finish(
        id_, fail(format("its host was not ready after {} s and was stopped; see {}", seconds, owner_.options_.log)));
  }

  void stop_host() const {
    if (host_.host) pty::send_to(host_.host, SIGTERM);
  }

  ProcessLauncher& owner_;
  std::uint64_t id_;
  SpawnedHost host_;
  std::string report_;
  net::ReadableWatch watch_;  // after the descriptor it watches
  std::unique_ptr<net::Timer> timer_;
};

ProcessLauncher::ProcessLauncher(net::AsioLoop& loop, Options options) : loop_{loop}, options_{std::move(options)} {}
ProcessLauncher::~ProcessLauncher() = default;

void ProcessLauncher::start(HostCommand command, Started done) {
  auto host = spawn_host(command);
  if (!host) {
    loop_.post([alive = lifetime_.watch(), done = std::move(done), error = std::move(host).error()]() mutable {
      if (alive) done(Failure{std::move(error)});
    });
    return;
  }
  const std::uint64_t id = ++last_launch_;
  launches_.emplace(id, std::make_unique<Launch>(*this, id, *std::move(host), std::move(done)));
}

void ProcessLauncher::abandon() {
  lifetime_.end();
  launches_.clear();
}

Result<ProcessLauncher::SpawnedHost> ProcessLauncher::spawn_host(HostCommand& command) const {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return fail_errno("cannot make a pipe");
  UniqueFd output{ends[0]};
  const UniqueFd ready{ends[1]};
  ::fcntl(ready.get(), F_SETFL, 0);  // the host's end blocks
  const UniqueFd log{::open(options_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!log) return fail_errno("cannot write " + options_.log);
  const UniqueFd null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!null) return fail_errno("cannot open /dev/null");
  command.arguments.insert(command.arguments.begin(), "agent-relay");
  const auto arguments = pty::pointers_to(command.arguments);
  const auto environment = pty::pointers_to(command.environment);
  const HostProcess process{.program = options_.program.c_str(),
                            .arguments = arguments.data(),
                            .environment = environment.data(),
                            .directory = command.directory.c_str(),
                            .ready = ready.get(),
                            .log = log.get(),
                            .null = null.get(),
                            .defaults = options_.defaults};
  auto host = RELAY_TRY(double_fork(process));
  return SpawnedHost{std::move(output), std::move(host)};
}

void ProcessLauncher::finish(std::uint64_t id, Result<std::int32_t> pid) {
  const auto launch = launches_.extract(id);  // it is on the call stack until we return
  if (!launch.empty()) launch.mapped()->done(std::move(pid));
}

}  // namespace relay::daemon
