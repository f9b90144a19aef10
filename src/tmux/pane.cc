#include "tmux/pane.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <optional>

#include "base/format.h"
#include "base/random.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "net/readable_watch.h"
#include "pty/byte_queue.h"
#include "pty/child.h"
#include "pty/process_tree.h"
#include "tmux/session.h"
#include "tmux/wording.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using pty::WindowSize;

constexpr std::size_t kRandomBytes = 8;
constexpr std::size_t kChunkBytes = 1024;               // typed by one command
constexpr std::size_t kMaxUnansweredBytes = 16 * 1024;  // typed, and tmux has not said so: also while output is paused
constexpr int kTerminalFullBytes = 2 * 1024;            // half of what the kernel holds for a program that reads raw
constexpr Millis kLookAtTerminal{1};                    // has it room again? Doubled each time, up to:
constexpr Millis kLookAtTerminalSeldom{64};
constexpr Millis kFarBehind{100};         // output this old: tmux gathers more than we take
constexpr Millis kLookAgain{20};          // while ending: has everybody gone?
constexpr Millis kMarkerPatience{2'000};  // of silence after the exit, for the mark behind the last output
constexpr Millis kClosePatience{2'000};   // for tmux to close the pane
constexpr Millis kHangUpGrace{2'000};     // for a program whose terminal is gone
constexpr Millis kCalmAfter{1'000};       // thrown out less often than this: no quarrel
constexpr int kMaxQuarrels = 10;

bool is_up_to(WindowSize size) {
  constexpr std::uint16_t kMaxSide = 10'000;  // tmux's
  return size.columns > 0 && size.rows > 0 && size.columns <= kMaxSide && size.rows <= kMaxSide;
}

}  // namespace

/// Lives as long as a callback of it runs, longer than its handle when that is destroyed inside.
class Pane::Core final : public ControlListener, public std::enable_shared_from_this<Core> {
 public:
  Core(net::AsioLoop& loop, Session session, pty::ProcessTree tree, WindowSize size, pty::ProgramListener& listener)
      : loop_{loop},
        listener_{&listener},
        session_{std::move(session)},
        tree_{std::move(tree)},
        size_{size},
        keyboard_{.pane = session_.pane,
                  .buffer = format("relay-{}", SystemRandom{}.hex(kRandomBytes)),
                  .pastes_by_request = session_.pastes_by_request},
        marker_{format("\x1b]7770;{}\x1b\\", SystemRandom{}.hex(kRandomBytes))} {}

  void start() {
    session_.client->listen(*this);
    watch_client();
    keeper_watch_ = std::make_unique<net::ReadableWatch>(loop_, session_.keeper.fd(), [this] { hear_keeper(); });
    // A quick program may have ended while we heard that it started.
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->listener_ != nullptr) self->hear_keeper();
    });
  }

  [[nodiscard]] const std::string& session() const { return session_.name; }
  [[nodiscard]] pid_t pid() const { return session_.program; }
  [[nodiscard]] std::size_t input_waiting() const { return input_.size() + unanswered_bytes_; }

  std::size_t write(std::string_view bytes) {
    if (status_ || listener_ == nullptr) return bytes.size();  // there is nobody to read it
    const auto taken =
        input_.push(bytes.substr(0, pty::kMaxInputBytes - std::min(input_waiting(), pty::kMaxInputBytes)));
    type_some();
    return taken;
  }

  void pause() {
    paused_ = true;
    hold_or_release();
  }

  void resume() {
    if (!std::exchange(paused_, false) || listener_ == nullptr) return;
    hold_or_release();
    quiet_since_ = loop_.now().steady;
    if (client_watch_) client_watch_->want_readable();
    if (status_) look_again();
  }

  Result<void> resize(WindowSize size) {
    if (!is_up_to(size)) return fail(format("tmux knows no window of {} x {}", size.columns, size.rows));
    size_ = {.columns = size.columns, .rows = size.rows};
    ask_for_size();
    return {};
  }

  void end(Millis grace) {
    if (listener_ == nullptr) return;
    const auto kill_at = loop_.now().steady + grace;
    if (ending_ == Ending::No) {
      ending_ = Ending::Asked;
      hold_or_release();  // whoever waits in a write could not hear us
      tell_everyone({SIGTERM, SIGCONT});
      hang_up_timer_ = loop_.after(grace / 2, [this] { tell_everyone({SIGHUP, SIGCONT}); });
    } else if (ending_ == Ending::Killing || kill_at >= kill_at_) {
      return;
    }
    kill_at_ = kill_at;
    grace_timer_ = loop_.at(kill_at, [this] { start_killing(); });
    if (status_) look_again();
  }

  /// The handle is destroyed: nothing is reported any more.
  void abandon() {
    const bool running = listener_ != nullptr && (!status_ || ending_ != Ending::No);
    silence();
    if (running) kill_now();
  }

 private:
  enum class Ending : std::uint8_t { No, Asked, Killing };

  // The conversation with tmux

  void watch_client() {
    client_watch_ = std::make_unique<net::DescriptorWatch>(
        loop_, session_.client->fd(), [this] { read_turn(); }, [this] { write_turn(); });
    client_watch_->want_readable();
    if (session_.client->wants_to_write()) client_watch_->want_writable();
  }

  void say(std::string_view line, ControlClient::OnAnswer on_answer = {}) {
    session_.client->send(line, std::move(on_answer));
    if (client_watch_ && session_.client->wants_to_write()) client_watch_->want_writable();
  }

  void write_turn() {
    session_.client->write_turn();
    if (session_.client->wants_to_write()) client_watch_->want_writable();
  }

  void read_turn() {
    if (paused_ && !closing_) return;
    const auto keep = shared_from_this();
    const bool open = session_.client->read_turn();
    deliver();
    if (listener_ == nullptr) return;
    if (!open) return client_left();
    if (status_) finish_if_over();
    if (listener_ != nullptr && client_watch_ && (!paused_ || closing_)) client_watch_->want_readable();
  }

  void on_pane_output(const PaneOutput& output) override {
    if (output.pane != session_.pane || !attached_ || pictures_awaited_ > 0 || closing_) return;
    output_.append(output.bytes);
    if (output.age > kFarBehind && !catching_up_ && listener_ != nullptr) catch_up();
  }

  void on_notice(std::string_view name, std::string_view rest) override {
    if (listener_ == nullptr) return;
    if (name == "layout-change" && sizes_awaited_ == 0) {
      take_word(rest);  // the window
      const auto whole = take_word(rest), visible = take_word(rest);
      if (const auto size = size_in_layout(visible.empty() ? whole : visible, session_.pane)) take_size(*size);
    }
  }

  void on_skipped_line() override {
    if (listener_ != nullptr && attached_ && !closing_) ask_for_picture();
  }

  /// Thrown out, too slow, or the server is gone.
  void client_left() {
    client_watch_.reset();
    unanswered_bytes_ = sizes_awaited_ = pictures_awaited_ = 0;
    catching_up_ = false;
    hold_or_release();
    if (closing_) {
      closed_ = true;
      return finish_if_over();
    }
    const auto now = loop_.now().steady;
    if (now - attached_at_ > kCalmAfter) quarrels_ = 0;
    if (!attached_ || ++quarrels_ > kMaxQuarrels) return lose_terminal();
    auto again = attach_again(session_, *this);
    if (!again) return lose_terminal();
    session_.client = std::move(*again);
    attached_ = false;  // until we have seen that the pane is ours: the server may be another one by now
    attached_at_ = now;
    session_.client->when_started([this](const Answer& answer) {
      if (answer.ok && listener_ != nullptr) ask_for_picture();
    });
    watch_client();
  }

  void lose_terminal() {
    output_ended_ = true;
    attached_ = false;
    if (!status_) return end(kHangUpGrace);  // the keeper will say how it went
    finish_if_over();
  }

  // Output

  /// What came in this turn, in one piece.
  void deliver() {
    if (listener_ == nullptr || output_.empty()) return;
    auto bytes = std::exchange(output_, {});
    quiet_since_ = loop_.now().steady;
    if (status_) bytes = without_marker(std::move(bytes));
    if (!bytes.empty()) listener_->on_output(bytes);
  }

  std::string without_marker(std::string bytes) {
    bytes.insert(0, std::exchange(held_, {}));
    if (const auto at = bytes.find(marker_); at != std::string::npos) {
      output_ended_ = true;
      bytes.resize(at);
    } else {
      for (auto size = std::min(marker_.size() - 1, bytes.size()); size > 0; --size) {
        if (!marker_.starts_with(std::string_view{bytes}.substr(bytes.size() - size))) continue;
        held_ = bytes.substr(bytes.size() - size);
        bytes.resize(bytes.size() - size);
        break;
      }
    }
    return bytes;
  }

  /// The program waits in its write while the terminal's output is stopped. tmux alone would not make it wait: it reads
  /// on while anybody else is attached to its server, and (3.3a) now and then even when nobody is.
  void hold_or_release() {
    const bool hold = (paused_ || catching_up_) && !status_ && ending_ == Ending::No && listener_ != nullptr;
    if (std::exchange(holding_, hold) != hold) ::tcflow(session_.terminal.get(), hold ? TCOOFF : TCOON);
  }

  /// Answers come behind the output that was there before them.
  void catch_up() {
    catching_up_ = true;
    hold_or_release();
    say("display-message -p ''", [this](const Answer&) {
      catching_up_ = false;
      hold_or_release();
    });
  }

  /// The screen as it is, in place of what we missed. What comes before the picture is in it already.
  void ask_for_picture() {
    ++pictures_awaited_;
    say(format("display-message -p -t %{} '{}'", session_.pane, kPictureFormat), [this](const Answer& answer) {
      picture_place_ = answer.ok ? answer.text : std::string{};
      pid_t keeper = -1;
      std::from_chars(picture_place_.data(), picture_place_.data() + picture_place_.size(), keeper);
      attached_ = keeper == session_.keeper_pid;
    });
    say(format("capture-pane -p -e -t %{}", session_.pane), [this](const Answer& answer) {
      if (pictures_awaited_ > 0) --pictures_awaited_;
      if (!attached_ || !answer.ok || listener_ == nullptr) return lost_sight();
      output_ += redrawing(picture_place_, answer.text);
      ask_for_size();
      type_some();
      if (status_) session_.keeper.say(marker_);  // the first one may be among what we missed
    });
  }

  /// The client looks at something, but not at our pane.
  void lost_sight() {
    attached_ = false;
    say("detach-client");
  }

  // Input

  [[nodiscard]] bool terminal_has_room() const {
    int waiting = 0;
    return ::ioctl(session_.terminal.get(), FIONREAD, &waiting) != 0 || waiting < kTerminalFullBytes;
  }

  void type_some() {
    if (!attached_ || !client_watch_) return;
    while (!input_.empty() && unanswered_bytes_ < kMaxUnansweredBytes) {
      if (!terminal_has_room()) return look_at_terminal_later();
      next_look_ = kLookAtTerminal;
      const auto chunk = input_.front().substr(0, kChunkBytes);
      const auto size = chunk.size();
      const auto lines = typing(chunk, keyboard_);
      input_.pop(size);
      unanswered_bytes_ += size;
      for (std::size_t i = 0; i + 1 < lines.size(); ++i) say(lines[i]);
      say(lines.back(), [this, size](const Answer&) { typed(size); });
    }
  }

  void typed(std::size_t size) {
    unanswered_bytes_ -= std::min(size, unanswered_bytes_);
    if (listener_ == nullptr || status_) return;
    type_some();
    listener_->on_input_written(input_waiting());
  }

  /// Nobody tells us when a program reads; so we look, seldom when it does not seem to want to.
  void look_at_terminal_later() {
    if (input_timer_) return;
    input_timer_ = loop_.after(next_look_, [this] {
      input_timer_.reset();
      next_look_ = std::min(next_look_ * 2, kLookAtTerminalSeldom);
      type_some();
    });
  }

  // Size

  void ask_for_size() {
    if (!client_watch_ || !attached_) return;
    ++sizes_awaited_;
    say(format("refresh-client -C {}x{}", size_.columns, size_.rows));
    say(format("display-message -p -t %{} '#{{pane_width}} #{{pane_height}}'", session_.pane),
        [this](const Answer& answer) {
          if (sizes_awaited_ > 0 && --sizes_awaited_ > 0) return;
          if (const auto size = parse_size(answer.text); answer.ok && size) take_size(*size);
        });
  }

  void take_size(WindowSize size) {
    if (size == size_ || listener_ == nullptr) return;
    size_ = size;
    deliver();
    if (listener_ != nullptr) listener_->on_program_resized(size);
  }

  // The end

  void hear_keeper() {
    const auto keep = shared_from_this();
    const auto news = session_.keeper.read();
    if (news.closed) keeper_watch_->pause();
    if (status_ || (!news.ended && !news.closed)) return;
    status_ = news.ended.value_or(ExitStatus{});  // a keeper that was killed could not say
    hold_or_release();
    input_.pop(input_.size());
    quiet_since_ = loop_.now().steady;
    drain_until_ = quiet_since_ + pty::kMaxDrainTime;
    session_.keeper.say(marker_);
    if (news.closed) output_ended_ = true;
    look_again();
  }

  /// After the exit, or while killing: asks from time to time whether all is over.
  void look_again() {
    if (paused_ && !closing_ && ending_ == Ending::No) return;  // whoever resumes asks
    look_timer_ = loop_.after(kLookAgain, [this] {
      const auto keep = shared_from_this();
      if (ending_ == Ending::Killing) tree_.signal_all(SIGKILL);
      finish_if_over();
      if (listener_ != nullptr) look_again();
    });
  }

  [[nodiscard]] bool output_over() const {
    const auto now = loop_.now().steady;
    if (output_ended_) return true;
    if (paused_) return ending_ != Ending::No && now >= drain_until_;  // who is ended does not wait for a slow listener
    return now >= quiet_since_ + kMarkerPatience;
  }

  void finish_if_over() {
    const bool too_late = ending_ == Ending::Killing && loop_.now().steady >= kill_at_ + pty::kKillPatience;
    if (!too_late) {
      if (!status_ || !output_over()) return;
      if (ending_ != Ending::No && tree_.anyone_lives()) return;
    }
    if (!closing_) close_pane();
    if (!closed_ && loop_.now().steady < close_by_) return;
    auto* listener = listener_;
    silence();
    listener->on_exit(status_.value_or(ExitStatus{}));
  }

  /// Only ours: a person may have opened others beside it, and then the session stays.
  void close_pane() {
    closing_ = true;
    close_by_ = loop_.now().steady + kClosePatience;
    if (!client_watch_) {
      closed_ = true;
      return;
    }
    say(format("kill-pane -t %{}", session_.pane), [this](const Answer&) { closed_ = true; });
    client_watch_->want_readable();
  }

  /// The group first: that also reaches who is being forked at this moment. Nobody is told the same twice.
  void tell_everyone(std::initializer_list<int> signals) {
    const auto members = tree_.living();
    const bool leads = std::ranges::any_of(members, [this](const auto& one) { return one.id.pid == session_.program; });
    const pid_t own = leads ? session_.program : -1;
    for (const int number : signals) {
      if (own > 1) ::kill(-own, number);
      for (const auto& one : members)
        if (one.group != own) pty::send_signal(one.id, number);
    }
  }

  void start_killing() {
    ending_ = Ending::Killing;
    hang_up_timer_.reset();
    tree_.signal_all(SIGKILL);
    look_again();
  }

  /// The listener hears nothing more, and the loop forgets us.
  void silence() {
    listener_ = nullptr;
    hold_or_release();
    hang_up_timer_.reset();
    grace_timer_.reset();
    look_timer_.reset();
    input_timer_.reset();
    keeper_watch_.reset();
    client_watch_.reset();
  }

  void kill_now() {
    const auto give_up_at = loop_.now().steady + pty::kKillPatience;
    while (tree_.signal_all(SIGKILL) > 0 && loop_.now().steady < give_up_at) ::poll(nullptr, 0, 1);
  }

  net::AsioLoop& loop_;
  pty::ProgramListener* listener_;  // null once everything is over
  Session session_;
  pty::ProcessTree tree_;

  bool attached_ = true;  // and the pane is ours
  SteadyTime attached_at_{};
  int quarrels_ = 0;

  WindowSize size_;
  std::size_t sizes_awaited_ = 0;

  bool paused_ = false;
  bool catching_up_ = false;
  bool holding_ = false;  // the terminal's output is stopped
  std::string output_;    // of this turn
  std::size_t pictures_awaited_ = 0;
  std::string picture_place_;

  Keyboard keyboard_;
  pty::ByteQueue input_{pty::kMaxInputBytes};
  std::size_t unanswered_bytes_ = 0;
  Millis next_look_ = kLookAtTerminal;

  std::optional<ExitStatus> status_;  // once the program ended
  std::string marker_;                // written by the keeper behind the last output
  std::string held_;                  // what may be its beginning
  bool output_ended_ = false;
  SteadyTime quiet_since_{};
  SteadyTime drain_until_{};
  Ending ending_ = Ending::No;
  SteadyTime kill_at_{};
  bool closing_ = false;
  bool closed_ = false;
  SteadyTime close_by_{};

  std::unique_ptr<net::Timer> hang_up_timer_;
  std::unique_ptr<net::Timer> grace_timer_;
  std::unique_ptr<net::Timer> look_timer_;
  std::unique_ptr<net::Timer> input_timer_;
  std::unique_ptr<net::ReadableWatch> keeper_watch_;
  std::unique_ptr<net::DescriptorWatch> client_watch_;
};

namespace {

/// Until there is a Core: nothing of the program's can come before it was started.
class Nobody final : public ControlListener {
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
  Nobody nobody;
  auto session = RELAY_TRY(start_session(command, size, options, nobody, loop.now().steady + kStartPatience));
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
