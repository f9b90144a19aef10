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

/// What posix_spawn needs, freed on every way out.
struct SpawnRules {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnRules() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnRules() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnRules(const SpawnRules&) = delete;
  SpawnRules& operator=(const SpawnRules&) = delete;
};

Result<pid_t> spawn(const Command& command, const std::string& program, int socket) {
  SpawnRules rules;
  ::posix_spawn_file_actions_adddup2(&rules.actions, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&rules.actions, socket, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&rules.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&rules.actions, STDERR_FILENO + 1);
  if (!command.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&rules.actions, command.directory.c_str());
  sigset_t none, usual;
  ::sigemptyset(&none);
  ::sigemptyset(&usual);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&usual, number);
  ::posix_spawnattr_setsigmask(&rules.attributes, &none);
  ::posix_spawnattr_setsigdefault(&rules.attributes, &usual);
  ::posix_spawnattr_setpgroup(&rules.attributes, 0);
  ::posix_spawnattr_setflags(
      &rules.attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  const auto arguments = pointers_to(command.argv), environment = pointers_to(command.environment);
  pid_t pid = -1;
  errno = ::posix_spawn(&pid, program.c_str(), &rules.actions, &rules.attributes, arguments.data(), environment.data());
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
    waiting_.append(line) += '\n';
    if (waiting_.size() > kMaxUnread) return stop("it does not read what it is told");
    flush();
  }

  /// Kills and reaps; nothing is called any more.
  void end() {
    if (std::exchange(ended_, true)) return;
    watch_.reset();
    if (::kill(-pid_, SIGKILL) != 0 && errno == EPERM)
      return;  // it is somebody else's now, and would be waited for in vain
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
    while (!waiting_.empty()) {
      const ssize_t count = ::send(socket_.get(), waiting_.data(), waiting_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return watch_->want_writable();
      if (count < 0) return stop("it does not listen any more");
      waiting_.erase(0, static_cast<std::size_t>(count));
    }
  }
  void read() {
    const auto alive = self.lock();  // a line may be the last thing the listener wants to hear
    std::array<char, 16 * 1024> buffer;
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return watch_->want_readable();
    if (count <= 0) return stop("it has ended");
    held_.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto at = held_.find('\n'); at != std::string::npos && !ended_; at = held_.find('\n')) {
      const auto line = held_.substr(0, at);
      held_.erase(0, at + 1);
      listener_.on_line(line);
    }
    if (ended_) return;
    if (held_.size() > kMaxLine) return stop("it wrote a line that is too long");
    watch_->want_readable();
  }

  UniqueFd socket_;
  pid_t pid_;
  LineProcessListener& listener_;
  std::unique_ptr<net::DescriptorWatch> watch_;
  std::string waiting_, held_;
  bool ended_ = false;
};

Result<std::unique_ptr<LineProcess>> LineProcess::start(net::AsioLoop& loop, const Command& command,
                                                        LineProcessListener& listener) {
  const auto program = RELAY_TRY(find_program(command));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return fail_errno("cannot make a socket");
  UniqueFd ours{ends[0]};
  const UniqueFd theirs{ends[1]};
  const auto pid = RELAY_TRY(spawn(command, program, theirs.get()));
  auto core = std::make_shared<Core>(loop, std::move(ours), pid, listener);
  core->self = core;
  return std::unique_ptr<LineProcess>{new LineProcess{std::move(core)}};
}

LineProcess::~LineProcess() { core_->end(); }
void LineProcess::write_line(std::string_view line) { core_->write_line(line); }

}  // namespace relay::pty
