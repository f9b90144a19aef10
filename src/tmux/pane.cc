#include "tmux/pane.h"

#include <termios.h>

#include <optional>

#include "base/format.h"
#include "base/random.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"
#include "pty/child.h"
#include "tmux/commands.h"
#include "tmux/end_mark.h"
#include "tmux/pane_input.h"
#include "tmux/pane_tracker.h"
#include "tmux/termination.h"
#include "tmux/tmux_session.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using pty::WindowSize;

constexpr std::size_t kRandomBytes = 8;
constexpr Millis kMaxOutputAge{100};    // output older than this: tmux buffers more than we read
constexpr Millis kRecheckInterval{20};  // while ending: interval of checking whether all processes have ended
constexpr Millis kMarkerTimeout{
    2'000};  // without output after the exit, while the mark behind the last output is missing
constexpr Millis kCloseTimeout{2'000};  // for tmux to close the pane
constexpr Millis kHangUpGrace{2'000};   // for a program whose terminal is closed

bool is_valid_size(WindowSize size) {
  constexpr std::uint16_t kMaxSide = 10'000;  // tmux's
  return size.columns > 0 && size.rows > 0 && size.columns <= kMaxSide && size.rows <= kMaxSide;
}

}  // namespace

/// Lives as long as one of its callbacks runs, longer than its handle when that is destroyed inside.
class Pane::Core final : private PaneTrackerListener, public std::enable_shared_from_this<Core> {
 public:
  Core(net::AsioLoop& loop, TmuxSession session, pty::ProcessTree tree, WindowSize size, pty::ProgramListener& listener)
      : loop_{loop},
        listener_{&listener},
        session_{std::move(session)},
        size_{size},
        tracker_{loop, session_, size, *this},
        input_{loop, session_.terminal.get(),
               PasteTarget{.pane = session_.pane,
                           .buffer = format("relay-{}", SystemRandom{}.hex(kRandomBytes)),
                           .needs_raw_paste_flag = session_.needs_raw_paste_flag},
               [this](std::string_view line, ControlClient::OnResponse on_reply) {
                 tracker_.send(line, std::move(on_reply));
               },
               [this] { listener_->on_input_written(input_waiting()); }},
        termination_{loop, std::move(tree), session_.program, [this] { recheck(); }},
        mark_{SystemRandom{}.hex(kRandomBytes)} {}

  void start() {
    tracker_.start();
    shim_watch_ = std::make_unique<net::ReadableWatch>(loop_, session_.shim.fd(), [this] { on_shim_readable(); });
    // A fast program may have ended before its start was reported.
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->listener_ != nullptr) self->on_shim_readable();
    });
  }

  [[nodiscard]] const std::string& session() const { return session_.name; }
  [[nodiscard]] pid_t pid() const { return session_.program; }
  [[nodiscard]] std::size_t input_waiting() const { return input_.waiting(); }

  std::size_t write(std::string_view bytes) {
    if (tracker_.is_attached()) tracker_.check_pane();
    return input_.write(bytes);
  }

  void pause() {
    paused_ = true;
    tracker_.read(closing_);
    hold_or_release();
  }

  void resume() {
    if (!std::exchange(paused_, false) || listener_ == nullptr) return;
    hold_or_release();
    last_output_ = loop_.now().steady;
    tracker_.read(true);
    if (status_) recheck();
  }

  Result<void> resize(WindowSize size) {
    if (!is_valid_size(size)) return fail(format("tmux does not support a window of {} x {}", size.columns, size.rows));
    size_ = {.columns = size.columns, .rows = size.rows};
    tracker_.request_size(size_);
    return {};
  }

  void end(Millis grace) {
    if (listener_ == nullptr) return;
    if (!termination_.start(grace)) return;
    hold_or_release();  // a program that blocks in a write could not handle the signals
    if (status_) recheck();
  }

  /// The handle is destroyed: the listener gets no more calls.
  void abandon() {
    const bool running = listener_ != nullptr && (!status_ || termination_.started());
    detach_listener();
    if (running) termination_.kill_now();
  }

 private:
  // The pane

  std::shared_ptr<void> hold() override { return shared_from_this(); }

  void on_output_bytes(const PaneOutput& output) override {
    output_.append(output.bytes);
    if (output.age > kMaxOutputAge && !catching_up_) wait_for_tmux();
  }

  void on_capture(std::string bytes) override {
    output_ += bytes;
    if (status_) session_.shim.write_to_terminal(mark_.text());  // the first one may be in the output we missed
  }

  void on_pane_size(WindowSize size) override {
    if (size == size_) return;
    size_ = size;
    deliver();
    if (listener_ != nullptr) listener_->on_program_resized(size);
  }

  void on_turn_done() override {
    deliver();
    if (listener_ != nullptr && status_) finish_if_done();
  }

  void on_attach_changed() override {
    if (tracker_.is_attached()) return input_.allow();
    input_.forbid();
    catching_up_ = false;
    hold_or_release();
  }

  void on_lost() override {
    output_ended_ = true;
    if (closing_)
      closed_ = true;
    else if (!status_)
      return end(kHangUpGrace);  // the shim reports the exit status
    finish_if_done();
  }

  // Output

  /// Delivers all output of this turn in one call.
  void deliver() {
    if (listener_ == nullptr || output_.empty()) return;
    auto bytes = std::exchange(output_, {});
    last_output_ = loop_.now().steady;
    if (status_) bytes = mark_.before(bytes);
    if (!bytes.empty()) listener_->on_output(bytes);
  }

  /// The program blocks in its write while the terminal's output is stopped. tmux alone would not block it: it
  /// keeps reading while another client is attached to its server, and (3.3a) sometimes even without one.
  void hold_or_release() {
    const bool hold = (paused_ || catching_up_) && !status_ && !termination_.started() && listener_ != nullptr;
    if (std::exchange(holding_, hold) != hold) ::tcflow(session_.terminal.get(), hold ? TCOOFF : TCOON);
  }

  /// Holds the output until tmux has delivered everything before the reply.
  void wait_for_tmux() {
    catching_up_ = true;
    hold_or_release();
    tracker_.send("display-message -p ''", [this](const CommandResult&) {
      catching_up_ = false;
      hold_or_release();
    });
  }

  // The end

  void on_shim_readable() {
    const auto keep = shared_from_this();
    const auto status = session_.shim.read();
    if (status.closed) shim_watch_->pause();
    if (status_ || (!status.ended && !status.closed)) return;
    status_ = status.ended.value_or(ExitStatus{});  // a killed shim reports no status
    hold_or_release();
    input_.stop();
    last_output_ = loop_.now().steady;
    drain_until_ = last_output_ + pty::kMaxDrainTime;
    session_.shim.write_to_terminal(mark_.text());
    if (status.closed) output_ended_ = true;
    recheck();
  }

  /// After the exit, or while killing: checks periodically whether everything is over.
  void recheck() {
    if (paused_ && !closing_ && !termination_.started()) return;  // resume() rechecks
    recheck_timer_ = loop_.after(kRecheckInterval, [this] {
      const auto keep = shared_from_this();
      if (termination_.killing()) termination_.kill_again();
      finish_if_done();
      if (listener_ != nullptr) recheck();
    });
  }

  [[nodiscard]] bool is_output_over() const {
    const auto now = loop_.now().steady;
    if (output_ended_ || mark_.found()) return true;
    if (paused_)
      return termination_.started() && now >= drain_until_;  // an ended program does not wait for a slow listener
    return now >= last_output_ + kMarkerTimeout;
  }

  void finish_if_done() {
    if (!termination_.has_given_up()) {
      if (!status_ || !is_output_over()) return;
      if (termination_.started() && termination_.any_alive()) return;
    }
    if (!closing_) close_pane();
    if (!closed_ && loop_.now().steady < close_by_) return;
    auto* listener = listener_;
    detach_listener();
    listener->on_exit(status_.value_or(ExitStatus{}));
  }

  /// Closes only our pane: the user may have opened others, and then the session stays.
  void close_pane() {
    closing_ = true;
    close_by_ = loop_.now().steady + kCloseTimeout;
    if (!tracker_.is_attached()) {
      closed_ = true;
      return;
    }
    tracker_.send(format("kill-pane -t %{}", session_.pane), [this](const CommandResult&) { closed_ = true; });
    tracker_.detach();
  }

  /// Detaches from the listener and from the loop.
  void detach_listener() {
    listener_ = nullptr;
    hold_or_release();
    termination_.stop();
    recheck_timer_.reset();
    shim_watch_.reset();
    input_.stop();
    tracker_.stop();
  }

  net::AsioLoop& loop_;
  pty::ProgramListener* listener_;  // null after the end
  TmuxSession session_;

  WindowSize size_;
  PaneTracker tracker_;
  PaneInput input_;
  Termination termination_;

  bool paused_ = false;
  bool catching_up_ = false;
  bool holding_ = false;  // the terminal's output is stopped
  std::string output_;    // of this turn

  std::optional<ExitStatus> status_;  // after the program ended
  EndMark mark_;                      // behind the last output
  bool output_ended_ = false;         // the output is complete
  SteadyTime last_output_{};
  SteadyTime drain_until_{};
  bool closing_ = false;
  bool closed_ = false;
  SteadyTime close_by_{};

  std::unique_ptr<net::Timer> recheck_timer_;
  std::unique_ptr<net::ReadableWatch> shim_watch_;
};

namespace {

/// Used until there is a Core: the program has no output before it was started.
class NullListener final : public ControlListener {
  void on_pane_output(const PaneOutput&) override {}
  void on_notice(std::string_view, std::string_view) override {}
  void on_skipped_line() override {}
};

}  // namespace

Result<std::unique_ptr<Pane>> Pane::spawn(net::AsioLoop& loop, pty::Command command, WindowSize size,
                                          PaneOptions options, pty::ProgramListener& listener) {
  if (!is_valid_size(size)) return fail(format("tmux does not support a window of {} x {}", size.columns, size.rows));
  const auto mark = SystemRandom{}.hex(kRandomBytes);
  pty::set_variable(command.environment, pty::kMarkVariable, mark);
  NullListener null_listener;
  auto session = RELAY_TRY(start_session(command, size, options, null_listener, loop.now().steady + kStartTimeout));
  const auto process = pty::find_process(session.program);
  pty::ProcessTree tree{process ? process->id : pty::ProcessId{session.program, 0},
                        format("{}={}", pty::kMarkVariable, mark)};
  auto core = std::make_shared<Core>(loop, std::move(session), std::move(tree),
                                     WindowSize{.columns = size.columns, .rows = size.rows}, listener);
  core->start();
  return std::unique_ptr<Pane>{new Pane{std::move(core)}};
}

Pane::~Pane() { core_->abandon(); }

const std::string& Pane::session() const { return core_->session(); }
pid_t Pane::pid() const { return core_->pid(); }
std::size_t Pane::write(std::string_view bytes) { return core_->write(bytes); }
std::size_t Pane::input_waiting() const { return core_->input_waiting(); }
void Pane::pause_output() { core_->pause(); }
void Pane::resume_output() { core_->resume(); }
Result<void> Pane::resize(WindowSize size) { return core_->resize(size); }
void Pane::end(Millis grace) { core_->end(grace); }

}  // namespace relay::tmux
