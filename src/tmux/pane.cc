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
constexpr Millis kFarBehind{100};        // output this old: tmux gathers more than we take
constexpr Millis kLookAgain{20};         // while ending: has everybody gone?
constexpr Millis kMarkerTimeout{2'000};  // of silence after the exit, for the mark behind the last output
constexpr Millis kCloseTimeout{2'000};   // for tmux to close the pane
constexpr Millis kHangUpGrace{2'000};    // for a program whose terminal is gone

bool is_up_to(WindowSize size) {
  constexpr std::uint16_t kMaxSide = 10'000;  // tmux's
  return size.columns > 0 && size.rows > 0 && size.columns <= kMaxSide && size.rows <= kMaxSide;
}

}  // namespace

/// Lives as long as a callback of it runs, longer than its handle when that is destroyed inside.
class Pane::Core final : private PaneTrackerListener, public std::enable_shared_from_this<Core> {
 public:
  Core(net::AsioLoop& loop, TmuxSession session, pty::ProcessTree tree, WindowSize size, pty::ProgramListener& listener)
      : loop_{loop},
        listener_{&listener},
        session_{std::move(session)},
        size_{size},
        view_{loop, session_, size, *this},
        typist_{loop, session_.terminal.get(),
                PasteTarget{.pane = session_.pane,
                            .buffer = format("relay-{}", SystemRandom{}.hex(kRandomBytes)),
                            .pastes_by_request = session_.pastes_by_request},
                [this](std::string_view line, ControlClient::OnResponse on_answer) {
                  view_.say(line, std::move(on_answer));
                },
                [this] { listener_->on_input_written(input_waiting()); }},
        ending_{loop, std::move(tree), session_.program, [this] { recheck(); }},
        mark_{SystemRandom{}.hex(kRandomBytes)} {}

  void start() {
    view_.start();
    keeper_watch_ = std::make_unique<net::ReadableWatch>(loop_, session_.keeper.fd(), [this] { hear_keeper(); });
    // A quick program may have ended while we heard that it started.
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->listener_ != nullptr) self->hear_keeper();
    });
  }

  [[nodiscard]] const std::string& session() const { return session_.name; }
  [[nodiscard]] pid_t pid() const { return session_.program; }
  [[nodiscard]] std::size_t input_waiting() const { return typist_.waiting(); }

  std::size_t write(std::string_view bytes) {
    if (view_.is_attached()) view_.look();
    return typist_.write(bytes);
  }

  void pause() {
    paused_ = true;
    view_.read(closing_);
    hold_or_release();
  }

  void resume() {
    if (!std::exchange(paused_, false) || listener_ == nullptr) return;
    hold_or_release();
    quiet_since_ = loop_.now().steady;
    view_.read(true);
    if (status_) recheck();
  }

  Result<void> resize(WindowSize size) {
    if (!is_up_to(size)) return fail(format("tmux knows no window of {} x {}", size.columns, size.rows));
    size_ = {.columns = size.columns, .rows = size.rows};
    view_.wish_for(size_);
    return {};
  }

  void end(Millis grace) {
    if (listener_ == nullptr) return;
    if (!ending_.begin(grace)) return;
    hold_or_release();  // whoever waits in a write could not hear us
    if (status_) recheck();
  }

  /// The handle is destroyed: nothing is reported any more.
  void abandon() {
    const bool running = listener_ != nullptr && (!status_ || ending_.begun());
    detach_listener();
    if (running) ending_.kill_now();
  }

 private:
  // The view

  std::shared_ptr<void> hold() override { return shared_from_this(); }

  void on_seen(const PaneOutput& output) override {
    output_.append(output.bytes);
    if (output.age > kFarBehind && !catching_up_) catch_up();
  }

  void on_capture(std::string bytes) override {
    output_ += bytes;
    if (status_) session_.keeper.say(mark_.text());  // the first one may be among what we missed
  }

  void on_view_size(WindowSize size) override {
    if (size == size_) return;
    size_ = size;
    deliver();
    if (listener_ != nullptr) listener_->on_program_resized(size);
  }

  void on_turn_over() override {
    deliver();
    if (listener_ != nullptr && status_) finish_if_over();
  }

  void on_attach_changed() override {
    if (view_.is_attached()) return typist_.allow();
    typist_.forbid();
    catching_up_ = false;
    hold_or_release();
  }

  void on_view_lost() override {
    output_ended_ = true;
    if (closing_)
      closed_ = true;
    else if (!status_)
      return end(kHangUpGrace);  // the keeper will say how it went
    finish_if_over();
  }

  // Output

  /// What came in this turn, in one piece.
  void deliver() {
    if (listener_ == nullptr || output_.empty()) return;
    auto bytes = std::exchange(output_, {});
    quiet_since_ = loop_.now().steady;
    if (status_) bytes = mark_.before(bytes);
    if (!bytes.empty()) listener_->on_output(bytes);
  }

  /// The program waits in its write while the terminal's output is stopped. tmux alone would not make it wait: it reads
  /// on while anybody else is attached to its server, and (3.3a) now and then even when nobody is.
  void hold_or_release() {
    const bool hold = (paused_ || catching_up_) && !status_ && !ending_.begun() && listener_ != nullptr;
    if (std::exchange(holding_, hold) != hold) ::tcflow(session_.terminal.get(), hold ? TCOOFF : TCOON);
  }

  /// Answers come behind the output that was there before them.
  void catch_up() {
    catching_up_ = true;
    hold_or_release();
    view_.say("display-message -p ''", [this](const CommandResult&) {
      catching_up_ = false;
      hold_or_release();
    });
  }

  // The end

  void hear_keeper() {
    const auto keep = shared_from_this();
    const auto news = session_.keeper.read();
    if (news.closed) keeper_watch_->pause();
    if (status_ || (!news.ended && !news.closed)) return;
    status_ = news.ended.value_or(ExitStatus{});  // a keeper that was killed could not say
    hold_or_release();
    typist_.stop();
    quiet_since_ = loop_.now().steady;
    drain_until_ = quiet_since_ + pty::kMaxDrainTime;
    session_.keeper.say(mark_.text());
    if (news.closed) output_ended_ = true;
    recheck();
  }

  /// After the exit, or while killing: asks from time to time whether all is over.
  void recheck() {
    if (paused_ && !closing_ && !ending_.begun()) return;  // whoever resumes asks
    recheck_timer_ = loop_.after(kLookAgain, [this] {
      const auto keep = shared_from_this();
      if (ending_.killing()) ending_.kill_again();
      finish_if_over();
      if (listener_ != nullptr) recheck();
    });
  }

  [[nodiscard]] bool output_over() const {
    const auto now = loop_.now().steady;
    if (output_ended_ || mark_.found()) return true;
    if (paused_) return ending_.begun() && now >= drain_until_;  // who is ended does not wait for a slow listener
    return now >= quiet_since_ + kMarkerTimeout;
  }

  void finish_if_over() {
    if (!ending_.has_given_up()) {
      if (!status_ || !output_over()) return;
      if (ending_.begun() && ending_.anyone_lives()) return;
    }
    if (!closing_) close_pane();
    if (!closed_ && loop_.now().steady < close_by_) return;
    auto* listener = listener_;
    detach_listener();
    listener->on_exit(status_.value_or(ExitStatus{}));
  }

  /// Only ours: a person may have opened others beside it, and then the session stays.
  void close_pane() {
    closing_ = true;
    close_by_ = loop_.now().steady + kCloseTimeout;
    if (!view_.is_attached()) {
      closed_ = true;
      return;
    }
    view_.say(format("kill-pane -t %{}", session_.pane), [this](const CommandResult&) { closed_ = true; });
    view_.detach();
  }

  /// The listener hears nothing more, and the loop forgets us.
  void detach_listener() {
    listener_ = nullptr;
    hold_or_release();
    ending_.stop();
    recheck_timer_.reset();
    keeper_watch_.reset();
    typist_.stop();
    view_.stop();
  }

  net::AsioLoop& loop_;
  pty::ProgramListener* listener_;  // null once everything is over
  TmuxSession session_;

  WindowSize size_;
  PaneTracker view_;
  PaneInput typist_;
  Termination ending_;

  bool paused_ = false;
  bool catching_up_ = false;
  bool holding_ = false;  // the terminal's output is stopped
  std::string output_;    // of this turn

  std::optional<ExitStatus> status_;  // once the program ended
  EndMark mark_;                      // behind the last output
  bool output_ended_ = false;         // nothing more can come
  SteadyTime quiet_since_{};
  SteadyTime drain_until_{};
  bool closing_ = false;
  bool closed_ = false;
  SteadyTime close_by_{};

  std::unique_ptr<net::Timer> recheck_timer_;
  std::unique_ptr<net::ReadableWatch> keeper_watch_;
};

namespace {

/// Until there is a Core: nothing of the program's can come before it was started.
class NullListener final : public ControlListener {
  void on_pane_output(const PaneOutput&) override {}
  void on_notice(std::string_view, std::string_view) override {}
  void on_skipped_line() override {}
};

}  // namespace

Result<std::unique_ptr<Pane>> Pane::spawn(net::AsioLoop& loop, pty::Command command, WindowSize size,
                                          PaneOptions options, pty::ProgramListener& listener) {
  if (!is_up_to(size)) return fail(format("tmux knows no window of {} x {}", size.columns, size.rows));
  const auto mark = SystemRandom{}.hex(kRandomBytes);
  pty::set_variable(command.environment, pty::kMarkVariable, mark);
  NullListener nobody;
  auto session = RELAY_TRY(start_session(command, size, options, nobody, loop.now().steady + kStartTimeout));
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
