#include "pty/user_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "net/signals.h"
#include "pty/byte_queue.h"
#include "pty/errors.h"
#include "pty/terminal_guard.h"

namespace relay::pty {
namespace {

constexpr std::size_t kMaxTypedTurnBytes = 16 * 1024;

/// Our own descriptor for one direction of the terminal.
struct TerminalFd {
  UniqueFd fd;
  int shared_flags = -1;  // original flags, if the descriptor is shared because the terminal could not be reopened
};

Result<TerminalFd> reopen(int fd, int access) {
  TerminalFd opened;
  opened.fd.reset(::open(format("/proc/self/fd/{}", fd).c_str(), access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (opened.fd) return opened;
  opened.fd.reset(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  opened.shared_flags = ::fcntl(fd, F_GETFL);
  if (!opened.fd || opened.shared_flags < 0) return fail_errno("cannot use the terminal");
  return opened;
}

bool hung_up(int fd) {
  pollfd now{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&now, 1, 0) > 0 && (now.revents & (POLLHUP | POLLERR)) != 0;
}

termios to_raw(termios attributes) {
  attributes.c_iflag &= ~static_cast<tcflag_t>(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
  attributes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  attributes.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  attributes.c_cflag &= ~static_cast<tcflag_t>(CSIZE | PARENB);
  attributes.c_cflag |= CS8;
  attributes.c_cc[VMIN] = 1;
  attributes.c_cc[VTIME] = 0;
  return attributes;
}

/// Uses the default action of SIGTSTP, not SIGSTOP: where no shell could continue us (a terminal window that runs only
/// this program) the kernel then does not stop us. Returns when we continue.
void stop_process() {
  struct sigaction plain{}, before{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGTSTP, &plain, &before);
  ::raise(SIGTSTP);
  ::sigaction(SIGTSTP, &before, nullptr);
}

/// Lives as long as one of its callbacks runs, longer than its handle when that is destroyed inside.
class UserTerminalCore : public std::enable_shared_from_this<UserTerminalCore> {
 public:
  UserTerminalCore(net::AsioLoop& loop, UserTerminalListener& listener, TerminalFd input, TerminalFd output,
                   const termios& original)
      : loop_{loop},
        listener_{&listener},
        input_{std::move(input.fd)},
        output_{std::move(output.fd)},
        original_{original},
        shared_{input.shared_flags >= 0 || output.shared_flags >= 0},
        guard_{{.input = input_.get(),
                .output = output_.get(),
                .attributes = original,
                .input_flags = input.shared_flags,
                .output_flags = output.shared_flags}} {}

  void start() {
    size_ = window_size(output_.get()).value_or(WindowSize{});
    static_cast<void>(claim());
    input_watch_ = std::make_unique<net::DescriptorWatch>(loop_, input_.get(), [this] { read_turn(); }, [] {});
    signals_ = std::make_unique<net::Signals>(loop_, std::initializer_list<int>{SIGWINCH, SIGTSTP, SIGCONT},
                                              [this](int number) { on_signal(number); });
    input_watch_->want_readable();
  }

  Result<void> enter_raw() {
    raw_ = true;
    return claim();
  }

  void leave_raw() {
    flush_output();
    raw_ = false;
    guard_.restore();
    static_cast<void>(claim());  // not raw: cannot fail
  }

  Result<void> set_restore_bytes(std::string_view bytes) { return guard_.set_restore_bytes(bytes); }

  [[nodiscard]] WindowSize size() const { return size_; }
  [[nodiscard]] std::size_t output_waiting() const { return output_queue_.size(); }

  std::size_t write(std::string_view bytes) {
    if (listener_ == nullptr) return bytes.size();  // there is no reader
    std::size_t taken = 0;
    if (output_queue_.empty()) taken = write_some(bytes);
    taken += output_queue_.push(bytes.substr(taken));
    if (!output_queue_.empty()) want_writable();
    return taken;
  }

  void pause() { paused_ = true; }
  void resume() {
    if (std::exchange(paused_, false) && listener_ != nullptr) input_watch_->want_readable();
  }

  void suspend() {
    if (listener_ == nullptr) return;
    const auto keep = shared_from_this();
    flush_output();
    guard_.restore();
    stop_process();
    on_continue();
  }

  void abandon() {
    detach_listener();
    flush_output();
    guard_.restore();
  }

 private:
  /// Applies raw mode. Arms the guard first: a signal in between then restores the unchanged state.
  Result<void> claim() {
    if (raw_ || shared_) guard_.arm();
    if (shared_)
      for (const int fd : {input_.get(), output_.get()}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (!raw_) return {};
    const auto raw = to_raw(original_);
    // In the background this stops us until we are in the foreground, as intended.
    while (::tcsetattr(input_.get(), TCSANOW, &raw) != 0)
      if (errno != EINTR) return fail_errno("cannot switch the terminal to raw mode");
    return {};
  }

  void read_turn() {
    if (paused_ || listener_ == nullptr) return;
    const auto count = ::read(input_.get(), buffer_.data(), buffer_.size());
    const auto keep = shared_from_this();
    if (count > 0)
      listener_->on_typed({buffer_.data(), static_cast<std::size_t>(count)});
    else if (count == 0 && (raw_ || hung_up(input_.get())))  // in line mode Ctrl-D is an empty read too
      return close("the terminal was closed");
    else if (count < 0 && errno != EAGAIN && errno != EINTR)
      return close(Error::from_errno("the terminal was closed").message());
    if (listener_ != nullptr && !paused_) input_watch_->want_readable();
  }

  /// One system call: a terminal that takes only a part is full.
  std::size_t write_some(std::string_view bytes) {
    ssize_t count = 0;
    do count = ::write(output_.get(), bytes.data(), bytes.size());
    while (count < 0 && errno == EINTR);
    return count > 0 ? static_cast<std::size_t>(count) : 0;  // full; a closed terminal shows in a read
  }

  /// Watches only while bytes are pending: the loop would also wake for every key on this descriptor.
  void want_writable() {
    if (output_watch_ == nullptr)
      output_watch_ = std::make_unique<net::DescriptorWatch>(loop_, output_.get(), [] {}, [this] { write_turn(); });
    output_watch_->want_writable();
  }

  void write_turn() {
    const auto done = write_some(output_queue_.front());
    output_queue_.pop(done);
    if (output_queue_.empty())
      output_watch_.reset();
    else
      output_watch_->want_writable();
    const auto keep = shared_from_this();
    if (done > 0 && listener_ != nullptr) listener_->on_written(output_queue_.size());
  }

  void flush_output() {
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + Millis{kFinalFlushMs};
    while (true) {
      output_queue_.pop(write_some(output_queue_.front()));
      const auto left = std::chrono::duration_cast<Millis>(deadline - steady_clock::now()).count();
      if (output_queue_.empty() || left <= 0) break;
      pollfd wait{.fd = output_.get(), .events = POLLOUT, .revents = 0};
      if (::poll(&wait, 1, static_cast<int>(left)) <= 0 || (wait.revents & (POLLERR | POLLHUP)) != 0) break;
    }
    output_queue_.pop(output_queue_.size());
  }

  void on_signal(int number) {
    const auto keep = shared_from_this();
    switch (number) {
      case SIGTSTP: return suspend();
      case SIGCONT: return on_continue();
      default: return check_size();
    }
  }

  void on_continue() {
    if (const auto result = claim(); !result) return close(result.error().message());
    listener_->on_continued();
    if (listener_ != nullptr) check_size();
  }

  void check_size() {
    const auto now = window_size(output_.get());
    if (!now || *now == size_) return;
    size_ = *now;
    listener_->on_resized(size_);
  }

  void close(const std::string& reason) {
    auto* listener = listener_;
    detach_listener();
    listener->on_closed(reason);
  }

  void detach_listener() {
    listener_ = nullptr;
    signals_.reset();
    output_watch_.reset();
    input_watch_.reset();
  }

  net::AsioLoop& loop_;
  UserTerminalListener* listener_;  // null once the terminal is closed
  UniqueFd input_;
  UniqueFd output_;
  termios original_;
  bool shared_;          // with the shell: changes of the descriptors' flags affect it too
  TerminalGuard guard_;  // destroyed before the descriptors
  ByteQueue output_queue_{kMaxTerminalBytes};
  WindowSize size_;
  bool raw_ = false;
  bool paused_ = false;
  std::array<char, kMaxTypedTurnBytes> buffer_;
  std::unique_ptr<net::DescriptorWatch> input_watch_;
  std::unique_ptr<net::DescriptorWatch> output_watch_;
  std::unique_ptr<net::Signals> signals_;
};

/// The handle that the opener gets.
class ProcessTerminal final : public UserTerminal {
 public:
  explicit ProcessTerminal(std::shared_ptr<UserTerminalCore> core) : core_{std::move(core)} {}
  ~ProcessTerminal() override { core_->abandon(); }
  ProcessTerminal(const ProcessTerminal&) = delete;
  ProcessTerminal& operator=(const ProcessTerminal&) = delete;

  Result<void> enter_raw() override { return core_->enter_raw(); }
  void leave_raw() override { core_->leave_raw(); }
  Result<void> set_restore_bytes(std::string_view bytes) override { return core_->set_restore_bytes(bytes); }
  [[nodiscard]] WindowSize size() const override { return core_->size(); }
  std::size_t write(std::string_view bytes) override { return core_->write(bytes); }
  [[nodiscard]] std::size_t output_waiting() const override { return core_->output_waiting(); }
  void pause_typing() override { core_->pause(); }
  void resume_typing() override { core_->resume(); }
  void suspend() override { core_->suspend(); }

 private:
  std::shared_ptr<UserTerminalCore> core_;
};

}  // namespace

bool UserTerminal::is_one(int input, int output) { return ::isatty(input) == 1 && ::isatty(output) == 1; }

Result<std::unique_ptr<UserTerminal>> UserTerminal::open(net::AsioLoop& loop, UserTerminalListener& listener, int input,
                                                         int output) {
  termios original{};
  if (!is_one(input, output) || ::tcgetattr(input, &original) != 0)
    return fail(Errc::NotATerminal, "standard input and output are not a terminal");
  auto opened_input = RELAY_TRY(reopen(input, O_RDWR));
  auto opened_output = RELAY_TRY(reopen(output, O_WRONLY));
  auto core =
      std::make_shared<UserTerminalCore>(loop, listener, std::move(opened_input), std::move(opened_output), original);
  core->start();
  return std::make_unique<ProcessTerminal>(std::move(core));
}

}  // namespace relay::pty
