#include "tmux/subprocess.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/scoped_signal_block.h"
#include "pty/exec_args.h"
#include "tmux/shim_connection.h"

namespace relay::tmux {
namespace {

/// After a fork: only async-signal-safe calls.
[[noreturn]] void run_child(int socket, pid_t parent, const char* program, char* const* argv,
                            char* const* environment) {
  constexpr int kCannotRun = 127;
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) ::dup2(socket, fd);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) ::execve(program, argv, environment);
  ::_exit(kCannotRun);
}

}  // namespace

Result<Subprocess> Subprocess::start(const std::string& program, const std::vector<std::string>& argv,
                                     const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno("cannot create a socket");
  UniqueFd own_end{ends[0]};
  const UniqueFd child_end{ends[1]};
  const auto words = pty::pointers_to(argv), entries = pty::pointers_to(environment);
  const pid_t parent = ::getpid();
  pid_t pid = -1;
  {
    const ScopedSignalBlock block;
    pid = ::fork();
    if (pid == 0) run_child(child_end.get(), parent, program.c_str(), words.data(), entries.data());
  }
  if (pid < 0) return fail_errno("cannot start a process");
  return Subprocess{pid, std::move(own_end)};
}

Subprocess::~Subprocess() {
  if (pid_ < 0) return;
  socket_.reset();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

Result<std::string> Subprocess::read_all(std::size_t max_bytes, SteadyTime deadline) {
  std::string all;
  std::array<char, 1024> block;
  while (all.size() < max_bytes) {
    if (!wait_readable(fd(), deadline)) return fail_errno("no output", ETIMEDOUT);
    const auto count = ::recv(fd(), block.data(), block.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    all.append(block.data(), static_cast<std::size_t>(count));
  }
  return all;
}

}  // namespace relay::tmux
