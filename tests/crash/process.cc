#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/format.h"

namespace relay::crash {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Result<Process> Process::start(const Command& command) {
  auto arguments = command.argv;
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) variables.push_back(relay::format("{}={}", name, value));
  const auto argv = pointers(arguments), envp = pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start " + command.argv[0]);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // children die with the driver
    if (::getppid() != parent || ::chdir(command.directory.c_str()) != 0) ::_exit(126);
    const int out = ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int in = ::open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0) ::_exit(126);
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  return Process{pid};
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, 0);
  }
  return *this;
}

void Process::kill_and_reap() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  pid_ = 0;
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

bool Process::exited() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
  return pid_ == 0;
}

bool Process::wait_for_exit(int milliseconds) {
  constexpr int kStepMs = 5;
  for (int waited = 0; waited < milliseconds && !exited(); waited += kStepMs)
    std::this_thread::sleep_for(std::chrono::milliseconds{kStepMs});
  return exited();
}

}  // namespace relay::crash
