#include "pty/spawn.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <span>

#include "base/format.h"
#include "base/scoped_signal_block.h"
#include "pty/errors.h"
#include "pty/exec_args.h"
#include "pty/process_handle.h"

namespace relay::pty {
namespace {

constexpr int kFirstOwnFd = 3;         // beyond the standard descriptors
constexpr int kFirstFreeFd = 10;       // where our two descriptors are moved, away from 0..2 which the child rearranges
constexpr int kMaxCloseLoop = 4096;    // for kernels without close_range
constexpr int kFailedChildCode = 127;  // never returned to a caller: the report has the details

enum class Step : int { Session, Terminal, Descriptors, Directory, Execute };

struct Report {
  Step step = Step::Session;
  int number = 0;
};

/// Everything the child needs, prepared before the fork: afterwards only async-signal-safe calls are allowed.
struct Plan {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* directory;  // null: unchanged
  int peer;               // -1: none
  int report;
  pid_t parent;
  Streams streams;
  std::span<const int> open;     // ascending: descriptors that stay open beyond the standard ones; includes `report`
  std::span<const int> ignored;  // signals
};

[[noreturn]] void report_failure(int report, Step step) {
  const Report failure{step, errno};
  [[maybe_unused]] const auto ignored =
      ::write(report, &failure, sizeof failure);  // fails only if the parent has ended
  ::_exit(kFailedChildCode);
}

/// Uses the system call: the C library reserves two signals and refuses to change them, though our parent may have
///   ignored them.
void reset_signals(std::span<const int> ignored) {
  constexpr std::size_t kKernelMaskBytes = 8;
  const std::array<unsigned long, 8> standard{};  // all zero is the default action, in every layout of the struct
  for (int number = 1; number < NSIG; ++number)
    ::syscall(SYS_rt_sigaction, number, standard.data(), nullptr, kKernelMaskBytes);
  for (const int number : ignored) ::signal(number, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool close_between(int first, unsigned last) {
  if (::close_range(static_cast<unsigned>(first), last, 0) == 0) return true;
  if (errno != ENOSYS && errno != EPERM) return false;
  for (int fd = first; fd < kMaxCloseLoop && static_cast<unsigned>(fd) <= last; ++fd) ::close(fd);
  return true;
}

bool close_all_except(std::span<const int> open) {
  int first = kFirstOwnFd;
  for (const int fd : open) {
    if (fd > first && !close_between(first, static_cast<unsigned>(fd) - 1)) return false;
    first = fd + 1;
  }
  return close_between(first, ~0U);
}

void take_terminal(const Plan& plan) {
  if (::setsid() < 0) report_failure(plan.report, Step::Session);
  if (::ioctl(plan.peer, TIOCSCTTY, 0) != 0) report_failure(plan.report, Step::Terminal);
  const int last = plan.streams == Streams::ErrorInherited ? STDOUT_FILENO : STDERR_FILENO;
  for (int fd = 0; fd <= last; ++fd)
    if (::dup2(plan.peer, fd) < 0) report_failure(plan.report, Step::Descriptors);
}

[[noreturn]] void run_child(const Plan& plan) {
  reset_signals(plan.ignored);
  if (plan.streams != Streams::Inherited) take_terminal(plan);
  if (!close_all_except(plan.open)) report_failure(plan.report, Step::Descriptors);
  if (::prctl(PR_SET_PDEATHSIG, SIGHUP) != 0) report_failure(plan.report, Step::Session);
  if (::getppid() != plan.parent) ::_exit(kFailedChildCode);  // the parent died before the death signal was set
  if (plan.directory != nullptr && ::chdir(plan.directory) != 0) report_failure(plan.report, Step::Directory);
  ::execve(plan.program, plan.argv, plan.environment);
  report_failure(plan.report, Step::Execute);
}

Result<UniqueFd> duplicate_high(int fd) {
  UniqueFd copy{::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFreeFd)};
  if (!copy) return fail_errno("cannot copy a descriptor");
  return copy;
}

Failure failed(const Command& command, const std::string& program, const Report& report) {
  switch (report.step) {
    case Step::Session: return fail_errno("cannot make a session for the child", report.number);
    case Step::Terminal: return fail_errno("cannot give the child its terminal", report.number);
    case Step::Descriptors: return fail_errno("cannot set up the child's descriptors", report.number);
    case Step::Directory:
      return fail(
          Errc::BadDirectory,
          Error::from_errno(format("cannot enter the directory {}", command.directory), report.number).message());
    case Step::Execute:
      if (report.number == ENOENT)
        return fail(Errc::CannotExecute,
                    format("cannot run {}: the interpreter in its first line does not exist", program));
      if (report.number == ENOEXEC)
        return fail(Errc::CannotExecute,
                    format("cannot run {}: it is not a program for this machine; a script needs #! in its first line",
                           program));
      return fail(Errc::CannotExecute, Error::from_errno(format("cannot run {}", program), report.number).message());
  }
  return fail("cannot start the child");
}

bool contains_nul(const Command& command) {
  const auto has_nul = [](const std::string& text) { return text.contains('\0'); };
  return std::ranges::any_of(command.argv, has_nul) || std::ranges::any_of(command.environment, has_nul) ||
         has_nul(command.directory);
}

}  // namespace

Result<Spawned> spawn(int peer, const Command& command) {
  if (contains_nul(command)) return fail("a command, its environment and its directory cannot contain zero bytes");
  const auto program = RELAY_TRY(find_program(command));
  const auto argv = pointers_to(command.argv), environment = pointers_to(command.environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("cannot create a pipe");
  const UniqueFd report_reader{ends[0]};
  UniqueFd pipe_writer{ends[1]};
  auto report_writer = RELAY_TRY(duplicate_high(pipe_writer.get()));
  const auto terminal = command.streams == Streams::Inherited ? UniqueFd{} : RELAY_TRY(duplicate_high(peer));
  auto open = command.kept_descriptors;
  open.insert(std::ranges::upper_bound(open, report_writer.get()), report_writer.get());
  const Plan plan{.program = program.c_str(),
                  .argv = argv.data(),
                  .environment = environment.data(),
                  .directory = command.directory.empty() ? nullptr : command.directory.c_str(),
                  .peer = terminal.get(),
                  .report = report_writer.get(),
                  .parent = ::getpid(),
                  .streams = command.streams,
                  .open = open,
                  .ignored = command.ignored_signals};
  Spawned child;
  {
    const ScopedSignalBlock block;
    child.pid = ::fork();
    if (child.pid == 0) run_child(plan);
  }
  if (child.pid < 0) return fail_errno("cannot start a process");
  report_writer.reset();
  pipe_writer.reset();
  Report report;
  ssize_t count = 0;
  do count = ::read(report_reader.get(), &report, sizeof report);
  while (count < 0 && errno == EINTR);
  if (count == sizeof report) {
    ::waitpid(child.pid, nullptr, 0);
    return failed(command, program, report);
  }
  child.pidfd = open_process(child.pid);
  if (!child.pidfd) {
    const auto reason = Error::from_errno("cannot watch the child");
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    return Failure{reason};
  }
  return child;
}

}  // namespace relay::pty
