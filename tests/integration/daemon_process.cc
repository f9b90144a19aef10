#include "integration/daemon_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/hash.h"
#include "base/unique_fd.h"

namespace relay::integration {
namespace {

constexpr int kTimeoutMs = 30'000;

/// Reads until a line break, the end, or the deadline.
std::string read_line(int fd) {
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{kTimeoutMs};
  while (!text.ends_with('\n')) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watched{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) <= 0) break;
    char buffer[4096];
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

DaemonProcess::DaemonProcess() {
  for (const auto* name : {"home", "run"}) {
    std::filesystem::create_directory(path(name));
    ::chmod(path(name).c_str(), 0700);
  }
  project();
}

DaemonProcess::~DaemonProcess() {
  if (pid_ > 0) terminate(SIGKILL);
}

std::string DaemonProcess::project(const std::string& name) {
  std::filesystem::create_directories(path(name) + "/.git/info");
  return path(name);
}

std::string DaemonProcess::project_directory(const std::string& name) const {
  return home() + "/projects/" + sha256_hex(path(name)).substr(0, 12);
}

std::string DaemonProcess::socket(const std::string& name) const { return project_directory(name) + "/relay.sock"; }

std::string DaemonProcess::log() const { return content_of(home() + "/daemon.log"); }

pid_t DaemonProcess::spawn(std::vector<std::string> arguments, const std::string& project_name, int inherited,
                           int child_fd) {
  arguments.insert(arguments.begin(), AGENT_RELAY_PROGRAM);
  std::map<std::string, std::string> merged = environment;
  merged.merge(std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"},
                                                  {"HOME", path("user")},
                                                  {"AGENT_RELAY_HOME", home()},
                                                  {"XDG_RUNTIME_DIR", path("run")}});
  std::vector<std::string> variables;
  for (const auto& [name, value] : merged) variables.push_back(name + "=" + value);
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (auto& argument : arguments) argv.push_back(argument.data());
  for (auto& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const std::string directory = path(project_name);

  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (inherited == child_fd)
    ::fcntl(child_fd, F_SETFD, 0);  // dup2 would keep close-on-exec set
  else
    ::dup2(inherited, child_fd);
  if (child_fd == STDOUT_FILENO) ::dup2(inherited, STDERR_FILENO);
  if (::chdir(directory.c_str()) != 0) ::_exit(126);
  if (in_child) in_child();
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

std::string DaemonProcess::start(std::vector<std::string> more_arguments, const std::string& project_name) {
  constexpr int kReadyFd = 9;
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end{ends[0]};
  UniqueFd write_end{ends[1]};
  std::vector<std::string> arguments = {"up", "--foreground", "--ready-fd", std::to_string(kReadyFd)};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  pid_ = spawn(std::move(arguments), project_name, write_end.get(), kReadyFd);
  write_end.reset();
  return read_line(read_end.get());
}

void DaemonProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

ExitStatus DaemonProcess::wait() {
  ExitStatus status;
  if (pid_ <= 0) return status;
  const UniqueFd process{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  pollfd watched{process.get(), POLLIN, 0};
  if (::poll(&watched, 1, kTimeoutMs) != 1) {
    ADD_FAILURE() << "the daemon did not exit; its log:\n" << log();
    ::kill(pid_, SIGKILL);
  }
  int wait_status = 0;
  ::waitpid(pid_, &wait_status, 0);
  pid_ = -1;
  if (WIFEXITED(wait_status)) status.exit_code = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) status.signal = WTERMSIG(wait_status);
  return status;
}

DaemonProcess::CommandResult DaemonProcess::command(std::vector<std::string> arguments,
                                                    const std::string& project_name) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end{ends[0]};
  UniqueFd write_end{ends[1]};
  const pid_t child = spawn(std::move(arguments), project_name, write_end.get(), STDOUT_FILENO);
  write_end.reset();
  CommandResult result;
  result.output = read_all(read_end.get());
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

}  // namespace relay::integration
