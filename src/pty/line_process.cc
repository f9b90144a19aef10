#include "pty/line_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "pty/exec_args.h"

namespace relay::pty {
namespace {

/// Attributes for posix_spawn, freed on every path.
struct SpawnAttributes {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t spawn{};

  SpawnAttributes() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&spawn);
  }
  ~SpawnAttributes() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&spawn);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
};

Result<pid_t> spawn(const Command& command, const std::string& program, int socket) {
  SpawnAttributes attributes;
  ::posix_spawn_file_actions_adddup2(&attributes.actions, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&attributes.actions, socket, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&attributes.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&attributes.actions, STDERR_FILENO + 1);
  if (!command.directory.empty())
    ::posix_spawn_file_actions_addchdir_np(&attributes.actions, command.directory.c_str());
  sigset_t none, defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&defaults, number);
  ::posix_spawnattr_setsigmask(&attributes.spawn, &none);
  ::posix_spawnattr_setsigdefault(&attributes.spawn, &defaults);
  ::posix_spawnattr_setpgroup(&attributes.spawn, 0);
  ::posix_spawnattr_setflags(
      &attributes.spawn, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  const auto arguments = pointers_to(command.argv), environment = pointers_to(command.environment);
  pid_t pid = -1;
  errno = ::posix_spawn(&pid, program.c_str(), &attributes.actions, &attributes.spawn, arguments.data(),
                        environment.data());
  if (errno != 0) return fail_errno("cannot start " + program);
  return pid;
}

}  // namespace

class LineProcess::Core {
 public:
  Core(net::AsioLoop& loop, UniqueFd socket, pid_t pid, LineProcessListener& listener)
      : socket_{std::move(socket)},
        pid_{pid},
        listener_{listener},
        watch_{std::make_unique<net::DescriptorWatch>(loop, socket_.get(), [this] { read(); }, [this] { flush(); })} {
    watch_->want_readable();
  }
  ~Core() { end(); }

  void write_line(std::string_view line) {
    if (ended_) return;
    output_.append(line) += '\n';
    if (output_.size() > kMaxUnread) return stop("it does not read its input");
    flush();
  }

  /// Kills and reaps the program; the listener gets no more calls.
  void end() {
    if (std::exchange(ended_, true)) return;
    watch_.reset();
    if (::kill(-pid_, SIGKILL) != 0 && errno == EPERM)
      return;  // the number is reused by another user's process; waiting would hang
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }

  std::weak_ptr<Core> self;

 private:
  void stop(const std::string& reason) {
    if (ended_) return;
    end();
    listener_.on_ended(reason);
  }
  void flush() {
    while (!output_.empty()) {
      const ssize_t count = ::send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return watch_->want_writable();
      if (count < 0) return stop("it closed its input");
      output_.erase(0, static_cast<std::size_t>(count));
    }
  }
  void read() {
    const auto alive = self.lock();  // the listener may destroy this object in on_line
    std::array<char, 16 * 1024> buffer;
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return watch_->want_readable();
    if (count <= 0) return stop("it has ended");
    input_.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto at = input_.find('\n'); at != std::string::npos && !ended_; at = input_.find('\n')) {
      const auto line = input_.substr(0, at);
      input_.erase(0, at + 1);
      listener_.on_line(line);
    }
    if (ended_) return;
    if (input_.size() > kMaxLine) return stop("it wrote a line that is too long");
    watch_->want_readable();
  }

  UniqueFd socket_;
  pid_t pid_;
  LineProcessListener& listener_;
  std::unique_ptr<net::DescriptorWatch> watch_;
  std::string output_, input_;
  bool ended_ = false;
};

Result<std::unique_ptr<LineProcess>> LineProcess::start(net::AsioLoop& loop, const Command& command,
                                                        LineProcessListener& listener) {
  const auto program = RELAY_TRY(find_program(command));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno("cannot create a socket");
  UniqueFd own_end{ends[0]};
  const UniqueFd child_end{ends[1]};
  const auto pid = RELAY_TRY(spawn(command, program, child_end.get()));
  auto core = std::make_shared<Core>(loop, std::move(own_end), pid, listener);
  core->self = core;
  return std::unique_ptr<LineProcess>{new LineProcess{std::move(core)}};
}

LineProcess::~LineProcess() { core_->end(); }
void LineProcess::write_line(std::string_view line) { core_->write_line(line); }

}  // namespace relay::pty
