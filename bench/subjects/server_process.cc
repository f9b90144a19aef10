#include "subjects/server_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/format.h"
#include "base/unique_fd.h"
#include "subjects/cores.h"

namespace relay::bench {
namespace {

constexpr auto kPollInterval = std::chrono::microseconds{500};
constexpr const char* kDevNull = "/dev/null";
constexpr auto kTimeout = std::chrono::seconds{20};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (auto& string : strings) list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

enum class Lifetime { Independent, OfTheDriver };

/// Starts a program in a directory without copying the driver's memory, which is large: the start is measured too.
Result<pid_t> spawn(std::vector<std::string> args, std::vector<std::string> environment, const std::string& directory,
                    const std::string& input, const std::string& output, Lifetime lifetime) {
  const auto arguments = pointers(args), variables = pointers(environment);
  const UniqueFd in{::open(input.c_str(), O_RDONLY | O_CLOEXEC)};
  const UniqueFd out{::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
  if (!in) return fail_errno("cannot open " + input);
  if (!out) return fail_errno("cannot open " + output);
  const OnServersCores there;
  const pid_t pid = ::vfork();
  if (pid == 0) {
    if (lifetime == Lifetime::OfTheDriver) {
      ::signal(SIGINT, SIG_IGN);  // the driver stops it; a keyboard interrupt goes to the whole group
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if (::dup2(in.get(), 0) >= 0 && ::dup2(out.get(), 1) >= 0 && ::dup2(out.get(), 2) >= 0 &&
        ::chdir(directory.c_str()) == 0)
      ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  if (pid < 0) return fail_errno("cannot start a process");
  return pid;
}

double kib_after(const std::string& status, std::string_view key) {
  const auto at = status.find(key);
  return at == std::string::npos ? 0 : std::strtod(status.c_str() + at + key.size(), nullptr);
}

}  // namespace

Result<ServerProcess> ServerProcess::create() {
  std::string directory = (std::filesystem::temp_directory_path() / "relay-bench-XXXXXX").string();
  if (!::mkdtemp(directory.data())) return fail_errno("cannot create a temporary directory");
  return ServerProcess{directory};
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : directory_{std::exchange(other.directory_, {})}, pid_{std::exchange(other.pid_, 0)}, forked_{other.forked_} {}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (directory_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Result<void> ServerProcess::start(std::vector<std::string> args, std::vector<std::string> environment) {
  environment.insert(environment.end(), {"HOME=" + directory_, "PATH=/usr/local/bin:/usr/bin:/bin"});
  pid_ = RELAY_TRY(
      spawn(std::move(args), std::move(environment), directory_, kDevNull, file("out"), Lifetime::OfTheDriver));
  return {};
}

Result<void> ServerProcess::start(const std::function<void()>& serve) {
  const OnServersCores there;
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start a process");
  if (pid == 0) {
    ::signal(SIGINT, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve();
    ::_exit(0);
  }
  pid_ = pid;
  forked_ = true;
  return {};
}

Result<void> ServerProcess::until(const std::function<bool()>& is_ready) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (!is_ready()) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_ || std::chrono::steady_clock::now() > deadline) {
      std::ifstream output{file("out")};
      const std::string text{std::istreambuf_iterator<char>{output}, {}};
      return fail(relay::format("the server does not respond; its output: {}", text));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

Usage ServerProcess::usage() const {
  Usage usage;
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &clock) == 0 && ::clock_gettime(clock, &used) == 0)
    usage.cpu_seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  if (forked_) return usage;
  std::ifstream file{relay::format("/proc/{}/status", pid_)};
  const std::string status{std::istreambuf_iterator<char>{file}, {}};
  usage.memory_kib = kib_after(status, "VmRSS:");
  usage.peak_memory_kib = kib_after(status, "VmHWM:");
  return usage;
}

Result<int> run_in(const std::string& directory, std::vector<std::string> args, std::vector<std::string> environment,
                   const std::string& input) {
  const pid_t pid =
      RELAY_TRY(spawn(std::move(args), std::move(environment), directory, input, kDevNull, Lifetime::Independent));
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return fail_errno("cannot wait for a process");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::optional<std::string> find_program(std::string_view name) {
  for (const auto* folder : {"/usr/local/bin/", "/usr/bin/", "/usr/local/sbin/", "/usr/sbin/"})
    if (const auto path = folder + std::string{name}; ::access(path.c_str(), X_OK) == 0) return path;
  return std::nullopt;
}

Result<std::uint16_t> free_port() {
  const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail_errno("cannot find a free port");
  return ntohs(address.sin_port);
}

}  // namespace relay::bench
