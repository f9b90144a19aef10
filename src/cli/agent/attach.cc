#include "cli/agent/attach.h"

#include <csignal>
#include <optional>

#include "base/format.h"
#include "base/json.h"
#include "cli/wire/daemon_connection.h"
#include "host/control/host_protocol.h"
#include "net/asio_loop.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "profiles/screen_watcher.h"
#include "protocol/frame.h"
#include "pty/user_terminal.h"
#include "terminal/input_splitter.h"
#include "terminal/screen.h"
#include "terminal/viewport.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

constexpr Millis kNoticeTime{2'500};
constexpr Millis kFrameTime{16};  // so often at most is the window painted

/// Ctrl-] as terminals say it: plain, in kitty's protocol, with modifyOtherKeys.
bool is_leave_key(std::string_view bytes) {
  return bytes == "\x1d" || bytes == "\x1b[93;5u" || bytes == "\x1b[27;5;93~";
}
/// Keys that were pressed fast come as one text.
bool leaves_view(const terminal::InputEvent& piece) {
  return is_leave_key(piece.bytes) || piece.bytes == "\x03" || piece.bytes == "\x1b[99;5u" ||
         piece.bytes == "\x1b[113u" ||
         (piece.kind == terminal::InputKind::Text && piece.bytes.find('q') != std::string::npos);
}

terminal::Size cells_of(pty::WindowSize size) { return {size.columns, size.rows}; }

class Attachment final : public pty::UserTerminalListener, public net::StreamListener {
 public:
  Attachment(net::AsioLoop& loop, const host::HostRecord& record, AttachMode mode)
      : loop_{loop}, record_{record}, mode_{mode} {}

  Result<AttachResult> run() {
    if (!pty::UserTerminal::is_one())
      return fail(Errc::Refused,
                  relay::format("attach needs a terminal; print the screen once with: agent-relay attach {} --print",
                                record_.name));
    person_ = RELAY_TRY(pty::UserTerminal::open(loop_, *this));
    window_.emplace(cells_of(person_->size()));
    window_->set_notice(relay::format(" {} {} - leave with Ctrl-] ",
                                      mode_ == AttachMode::Drive ? "driving" : "watching", record_.name));
    network_.connect(record_.socket, [this](Result<std::unique_ptr<net::Stream>> stream) {
      if (!stream) return finish(fail(Errc::HostGone, relay::format("{} has just exited", record_.name)));
      stream_ = *std::move(stream);
      stream_->start(*this);
      ask_to_attach();
    });
    net::Signals signals{loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int) { finish(AttachResult{}); }};
    loop_.run();
    stream_.reset();
    person_.reset();
    return std::move(*outcome_);
  }

 private:
  using Unexpected = std::unexpected<Error>;

  void finish(Result<AttachResult> outcome) {
    if (outcome_) return;
    outcome_ = std::move(outcome);
    person_->leave_raw();
    loop_.stop();
  }

  // ---- the host
  void ask_to_attach() {
    const auto size = person_->size();
    text::JsonWriter request;
    request.field("method", "attach")
        .field("mode", mode_ == AttachMode::Drive ? "drive" : "view")
        .field("columns", size.columns)
        .field("rows", size.rows);
    send(request.take());
  }
  void send(std::string_view body) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, body);
    stream_->write(bytes);
  }

  void on_bytes(std::string_view bytes) override {
    reader_.push(bytes);
    while (!outcome_) {
      const auto frame = reader_.next();
      if (!frame) return finish(Unexpected{frame.error()});
      if (!*frame) break;
      if (const auto output = host::terminal_bytes(**frame)) {
        if (screen_) screen_->feed(*output);
      } else if (const auto object = parse_json_object(**frame)) {
        take(*object);
      }
    }
    paint_soon();
  }
  void on_closed(const std::string&) override {
    finish(fail(Errc::HostGone, relay::format("{} has exited, or its host was killed", record_.name)));
  }

  void take(const json::object& object) {
    const auto event = string_member(object, "event").value_or("");
    if (bool_member(object, "ok") == false)
      return finish(fail(Errc::Refused, string_member(object, "error").value_or("refused")));
    if (event == "exit")
      return finish(AttachResult{AttachEnd::AgentEnded, static_cast<int>(integer_member(object, "code").value_or(0))});
    if (event != "resized" && string_member(object, "method") != "attach") return;
    const terminal::Size size{static_cast<int>(integer_member(object, "columns").value_or(80)),
                              static_cast<int>(integer_member(object, "rows").value_or(24))};
    const bool first = !screen_;
    screen_.emplace(size, 0);  // the whole picture follows
    if (first) begin_showing();
  }

  void begin_showing() {
    if (const auto raw = person_->enter_raw(); !raw) return finish(Unexpected{raw.error()});
    (void)person_->set_restore_bytes(terminal::Viewport::closing());
    person_->write(terminal::Viewport::opening());
    notice_timer_ = loop_.after(kNoticeTime, [this] {
      window_->set_notice("");
      paint_soon();
    });
  }

  // ---- the person
  void on_typed(std::string_view bytes) override {
    take(splitter_.feed(bytes, loop_.now().steady));
    wait_for_escape();
  }
  void wait_for_escape() {
    const auto due = splitter_.deadline();
    escape_timer_ = due ? loop_.at(*due,
                                   [this] {
                                     take(splitter_.expire(loop_.now().steady));
                                     wait_for_escape();
                                   })
                        : nullptr;
  }
  void take(const std::vector<terminal::InputEvent>& pieces) {
    std::string typed(1, host::kTerminalFrameByte);
    for (const auto& piece : pieces) {
      if (mode_ == AttachMode::Drive ? is_leave_key(piece.bytes) : leaves_view(piece)) return finish(AttachResult{});
      const bool misplaced = piece.kind == terminal::InputKind::Mouse && window_->rows_above() > 0;
      if (piece.kind != terminal::InputKind::Reply && !misplaced) typed += piece.bytes;
    }
    if (mode_ != AttachMode::Drive || !stream_ || typed.size() == 1) return;
    for (std::size_t from = 1; from < typed.size(); from += kMaxTypedBytes)
      send(host::kTerminalFrameByte + typed.substr(from, kMaxTypedBytes));
  }
  void on_written(std::size_t bytes_left) override {
    if (bytes_left == 0) paint_soon();
  }
  void on_resized(pty::WindowSize size) override {
    window_->resize(cells_of(size));
    if (stream_) {
      text::JsonWriter request;
      request.field("method", "resize").field("columns", size.columns).field("rows", size.rows);
      send(request.take());
    }
    paint_soon();
  }
  void on_continued() override {
    window_->invalidate();
    person_->write(terminal::Viewport::opening());
    paint_soon();
  }

  /// A flood of output is many feeds and few paintings; a slow terminal is painted when it has taken the last one.
  void paint_soon() {
    if (paint_timer_ || !screen_) return;
    paint_timer_ = loop_.at(std::max(loop_.now().steady, painted_ + kFrameTime), [this] {
      paint_timer_ = nullptr;
      paint();
    });
  }
  void paint() {
    if (outcome_ || person_->output_waiting() > 0) return;
    painted_ = loop_.now().steady;
    // A frame is being drawn; whoever forgets to end it is shown all the same.
    if (!screen_->modes().synchronized)
      frame_since_.reset();
    else if (!frame_since_)
      frame_since_ = painted_;
    if (frame_since_ && painted_ < *frame_since_ + profiles::kMaxFrame) {
      frame_timer_ = loop_.at(*frame_since_ + profiles::kMaxFrame, [this] { paint_soon(); });
      return;
    }
    person_->write(window_->paint(*screen_));
  }

  static constexpr std::size_t kMaxTypedBytes = host::kMaxRequestBytes / 2;

  net::AsioLoop& loop_;
  const host::HostRecord& record_;
  AttachMode mode_;
  net::UnixNetwork network_{loop_};
  std::unique_ptr<pty::UserTerminal> person_;
  std::unique_ptr<net::Stream> stream_;
  protocol::FrameReader reader_;
  std::optional<terminal::Screen> screen_;
  std::optional<terminal::Viewport> window_;
  terminal::InputSplitter splitter_;
  SteadyTime painted_{};
  std::optional<SteadyTime> frame_since_;
  std::optional<Result<AttachResult>> outcome_;
  std::unique_ptr<net::Timer> paint_timer_, notice_timer_, escape_timer_, frame_timer_;
};

}  // namespace

Result<AttachResult> attach_to(const host::HostRecord& record, AttachMode mode) {
  net::AsioLoop loop;
  Attachment attachment{loop, record, mode};
  return attachment.run();
}

}  // namespace relay::cli
