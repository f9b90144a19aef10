#include "pty/child.h"

#include <poll.h>
#include <sys/wait.h>
#include <termios.h>

#include <array>
#include <csignal>
#include <optional>

#include "base/format.h"
#include "base/random.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "net/readable_watch.h"
#include "pty/byte_queue.h"
#include "pty/process_tree.h"
#include "pty/pseudo_terminal.h"
#include "pty/spawn.h"

namespace relay::pty {
namespace {

constexpr std::size_t kMarkBytes = 8;
constexpr std::size_t kFullReadBytes =
    2 * 1024;                           // the kernel returns at most 4 KB per read; above this, more is likely pending
constexpr Millis kRecheckInterval{20};  // while ending: interval of checking whether all processes have ended

}  // namespace

/// Lives as long as one of its callbacks runs, longer than its handle when that is destroyed inside.
class Child::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(net::AsioLoop& loop, PseudoTerminal terminal, Spawned spawned, ProcessTree tree, ProgramListener& listener)
      : loop_{loop},
        listener_{&listener},
        controller_{std::move(terminal.controller)},
        peer_{std::move(terminal.peer)},
        process_{std::move(spawned)},
        tree_{std::move(tree)},
        output_ended_{!controller_} {}

  void start() {
    exit_watch_ = std::make_unique<net::ReadableWatch>(loop_, process_.pidfd.get(), [this] { on_leader_ended(); });
    if (!controller_) return;
    terminal_watch_ = std::make_unique<net::DescriptorWatch>(
        loop_, controller_.get(), [this] { read_turn(); }, [this] { write_turn(); });
    terminal_watch_->want_readable();
  }

  [[nodiscard]] pid_t pid() const { return process_.pid; }
  [[nodiscard]] std::size_t input_waiting() const { return input_.size(); }

  std::size_t write(std::string_view bytes) {
    if (!controller_ || status_ || listener_ == nullptr) return bytes.size();  // there is no reader
    std::size_t taken = 0;
    if (input_.empty()) taken = write_some(bytes);
    taken += input_.push(bytes.substr(taken));
    if (!input_.empty()) terminal_watch_->want_writable();
    return taken;
  }

  void pause() { paused_ = true; }

  void resume() {
    if (!std::exchange(paused_, false) || listener_ == nullptr || output_ended_) return;
    terminal_watch_->want_readable();
    if (status_) start_draining();
  }

  Result<void> resize(WindowSize size) {
    return controller_ ? set_window_size(controller_.get(), size) : Result<void>{};
  }

  [[nodiscard]] bool may_echo() const {
    termios attributes{};
    return controller_ && ::tcgetattr(controller_.get(), &attributes) == 0 && (attributes.c_lflag & ECHO) != 0;
  }

  void end(Millis grace) {
    if (listener_ == nullptr) return;
    const auto kill_at = loop_.now().steady + grace;
    if (ending_ == Ending::No) {
      ending_ = Ending::Requested;
      notify_all({SIGTERM, SIGCONT});  // a stopped process must continue to receive it
      hang_up_timer_ = loop_.after(grace / 2, [this] { notify_all({SIGHUP, SIGCONT}); });
    } else if (ending_ == Ending::Killing || kill_at >= kill_at_) {
      return;
    }
    kill_at_ = kill_at;
    grace_timer_ = loop_.at(kill_at, [this] { start_killing(); });
    if (status_) recheck();
  }

  /// The handle is destroyed: the listener gets no more calls.
  void abandon() {
    const bool running = listener_ != nullptr && (!status_ || ending_ != Ending::No);
    detach_listener();
    if (running) kill_now();
  }

 private:
  enum class Ending : std::uint8_t { No, Requested, Killing };

  // Output

  void read_turn() {
    if (paused_ || output_ended_) return;
    std::size_t filled = 0;
    while (filled < buffer_.size()) {
      const auto count = ::read(controller_.get(), buffer_.data() + filled, buffer_.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      if (count <= 0) {  // EIO: no process has the terminal open
        output_ended_ = true;
        break;
      }
      filled += static_cast<std::size_t>(count);
      if (static_cast<std::size_t>(count) < kFullReadBytes) break;
    }
    const auto keep = shared_from_this();
    if (filled > 0) {
      last_output_ = loop_.now().steady;
      listener_->on_output({buffer_.data(), filled});
    }
    if (listener_ == nullptr) return;
    if (output_ended_) return finish_if_done();
    if (!paused_) terminal_watch_->want_readable();
  }

  // Input

  /// One system call: a terminal that takes only a part is full.
  std::size_t write_some(std::string_view bytes) {
    ssize_t count = 0;
    do count = ::write(controller_.get(), bytes.data(), bytes.size());
    while (count < 0 && errno == EINTR);
    return count > 0 ? static_cast<std::size_t>(count) : 0;  // full; any other error shows as the end of the output
  }

  void write_turn() {
    const auto done = write_some(input_.front());
    input_.pop(done);
    if (!input_.empty() && !status_) terminal_watch_->want_writable();
    const auto keep = shared_from_this();
    if (done > 0 && listener_ != nullptr) listener_->on_input_written(input_.size());
  }

  // The end

  void on_leader_ended() {
    exit_watch_->pause();
    reap(0);
    peer_.reset();  // held until now, so that a child which closes and reopens its terminal does not look like the end
    input_.pop(input_.size());
    const auto keep = shared_from_this();
    if (output_ended_) finish_if_done();
    if (listener_ != nullptr) start_draining();
  }

  /// The child's last output may still be in the terminal. The timer runs only while we read.
  void start_draining() {
    last_output_ = loop_.now().steady;
    drain_until_ = last_output_ + kMaxDrainTime;
    recheck();
  }

  void reap(int options) {
    int status = 0;
    pid_t reaped = 0;
    do reaped = ::waitpid(process_.pid, &status, options);
    while (reaped < 0 && errno == EINTR);
    if (reaped == process_.pid)
      status_ = ExitStatus::from_wait(status);
    else if (reaped < 0)
      status_ = ExitStatus{};  // reaped elsewhere
  }

  /// After the exit, or while killing: checks periodically whether everything is over.
  void recheck() {
    if (paused_ && ending_ == Ending::No) return;  // resume() rechecks
    recheck_timer_ = loop_.after(kRecheckInterval, [this] {
      const auto keep = shared_from_this();
      if (ending_ == Ending::Killing) tree_.signal_all(SIGKILL);
      finish_if_done();
      if (listener_ != nullptr) recheck();
    });
  }

  [[nodiscard]] bool is_output_over() const {
    const auto now = loop_.now().steady;
    if (output_ended_) return true;
    if (paused_)
      return ending_ != Ending::No && now >= drain_until_;  // an ended child does not wait for a slow listener
    return now >= drain_until_ || now >= last_output_ + kExitDrainIdle;
  }

  void finish_if_done() {
    const bool too_late = ending_ == Ending::Killing && loop_.now().steady >= kill_at_ + kKillTimeout;
    if (!too_late) {
      if (!status_ || !is_output_over()) return;
      if (ending_ != Ending::No && tree_.any_alive()) return;
    }
    auto* listener = listener_;
    detach_listener();
    listener->on_exit(status_.value_or(ExitStatus{}));
  }

  /// Signals groups first: that also reaches a process that is being forked. No process gets the same signal twice:
  ///   many programs treat a second SIGTERM as "at once".
  void notify_all(std::initializer_list<int> signals) {
    const pid_t own = status_ || !controller_
                          ? -1
                          : process_.pid;  // it leads no group, or the number of a reaped process may be reused
    const pid_t foreground = controller_ ? ::tcgetpgrp(controller_.get()) : -1;
    const auto members = tree_.running();
    for (const int number : signals) {
      if (own > 1) ::kill(-own, number);
      if (foreground > 1 && foreground != own) ::kill(-foreground, number);
      for (const auto& one : members)
        if (one.group != own && one.group != foreground) send_signal(one.id, number);
    }
  }

  void start_killing() {
    ending_ = Ending::Killing;
    hang_up_timer_.reset();
    tree_.signal_all(SIGKILL);
    recheck();
  }

  /// Detaches from the listener and from the loop.
  void detach_listener() {
    listener_ = nullptr;
    hang_up_timer_.reset();
    grace_timer_.reset();
    recheck_timer_.reset();
    exit_watch_.reset();
    terminal_watch_.reset();
  }

  void kill_now() {
    const auto give_up_at = loop_.now().steady + kKillTimeout;
    while (true) {
      const auto left = tree_.signal_all(SIGKILL);
      if (!status_) reap(WNOHANG);
      if ((status_ && left == 0) || loop_.now().steady >= give_up_at) return;
      pollfd wait{.fd = process_.pidfd.get(), .events = static_cast<short>(status_ ? 0 : POLLIN), .revents = 0};
      ::poll(&wait, 1, status_ ? 1 : static_cast<int>(kRecheckInterval.count()));
    }
  }

  net::AsioLoop& loop_;
  ProgramListener* listener_;  // null after the end
  UniqueFd controller_;
  UniqueFd peer_;
  Spawned process_;
  ProcessTree tree_;
  ByteQueue input_{kMaxInputBytes};
  std::array<char, kMaxTurnBytes> buffer_;
  bool paused_ = false;
  bool output_ended_;                 // true from the start for a child without a pseudo-terminal
  std::optional<ExitStatus> status_;  // after the child itself is reaped
  SteadyTime last_output_{};
  SteadyTime drain_until_{};
  Ending ending_ = Ending::No;
  SteadyTime kill_at_{};
  std::unique_ptr<net::Timer> hang_up_timer_;
  std::unique_ptr<net::Timer> grace_timer_;
  std::unique_ptr<net::Timer> recheck_timer_;
  std::unique_ptr<net::ReadableWatch> exit_watch_;
  std::unique_ptr<net::DescriptorWatch> terminal_watch_;
};

Result<std::unique_ptr<Child>> Child::spawn(net::AsioLoop& loop, Command command, WindowSize size,
                                            ProgramListener& listener) {
  const auto mark = SystemRandom{}.hex(kMarkBytes);
  set_variable(command.environment, kMarkVariable, mark);
  auto terminal = command.streams == Streams::Inherited ? PseudoTerminal{} : RELAY_TRY(PseudoTerminal::open(size));
  auto spawned = RELAY_TRY(pty::spawn(terminal.peer.get(), command));
  const auto process = find_process(spawned.pid);
  ProcessTree tree{process ? process->id : ProcessId{spawned.pid, 0}, format("{}={}", kMarkVariable, mark)};
  auto core = std::make_shared<Core>(loop, std::move(terminal), std::move(spawned), std::move(tree), listener);
  core->start();
  return std::unique_ptr<Child>{new Child{std::move(core)}};
}

Child::~Child() { core_->abandon(); }

pid_t Child::pid() const { return core_->pid(); }
std::size_t Child::write(std::string_view bytes) { return core_->write(bytes); }
std::size_t Child::input_waiting() const { return core_->input_waiting(); }
void Child::pause_output() { core_->pause(); }
void Child::resume_output() { core_->resume(); }
Result<void> Child::resize(WindowSize size) { return core_->resize(size); }
bool Child::may_echo() const { return core_->may_echo(); }
void Child::end(Millis grace) { core_->end(grace); }

}  // namespace relay::pty
