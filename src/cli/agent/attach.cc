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
constexpr Millis kFrameTime{16};  // minimum time between two paints

/// Ctrl-] as terminals encode it: plain, in kitty's protocol, with modifyOtherKeys.
bool is_detach_key(std::string_view bytes) {
  return bytes == "\x1d" || bytes == "\x1b[93;5u" || bytes == "\x1b[27;5;93~";
}
/// Keys pressed in quick succession arrive as one text.
bool detaches_view(const terminal::InputEvent& piece) {
  return is_detach_key(piece.bytes) || piece.bytes == "\x03" || piece.bytes == "\x1b[99;5u" ||
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
    user_terminal_ = RELAY_TRY(pty::UserTerminal::open(loop_, *this));
    viewport_.emplace(cells_of(user_terminal_->size()));
    viewport_->set_notice(relay::format(" {} {} - leave with Ctrl-] ",
                                        mode_ == AttachMode::Drive ? "driving" : "watching", record_.name));
    network_.connect(record_.socket, [this](Result<std::unique_ptr<net::Stream>> stream) {
      if (!stream) return finish(fail(Errc::HostGone, relay::format("{} has just exited", record_.name)));
      stream_ = *std::move(stream);
      stream_->start(*this);
      send_attach();
    });
    net::Signals signals{loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int) { finish(AttachResult{}); }};
    loop_.run();
    stream_.reset();
    user_terminal_.reset();
    return std::move(*outcome_);
  }

 private:
  using Unexpected = std::unexpected<Error>;

  void finish(Result<AttachResult> outcome) {
    if (outcome_) return;
    outcome_ = std::move(outcome);
    user_terminal_->leave_raw();
    loop_.stop();
  }

  // ---- the host
  void send_attach() {
    const auto size = user_terminal_->size();
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
        on_object(*object);
      }
    }
    schedule_paint();
  }
  void on_closed(const std::string&) override {
    finish(fail(Errc::HostGone, relay::format("{} has exited, or its host was killed", record_.name)));
  }

  void on_object(const json::object& object) {
    const auto event = string_member(object, "event").value_or("");
    if (bool_member(object, "ok") == false)
      return finish(fail(Errc::Refused, string_member(object, "error").value_or("refused")));
    if (event == "exit")
      return finish(AttachResult{AttachEnd::AgentExited, static_cast<int>(integer_member(object, "code").value_or(0))});
    if (event != "resized" && string_member(object, "method") != "attach") return;
    const terminal::Size size{static_cast<int>(integer_member(object, "columns").value_or(80)),
                              static_cast<int>(integer_member(object, "rows").value_or(24))};
    const bool first = !screen_;
    screen_.emplace(size, 0);  // the host sends the whole screen next
    if (first) start_viewing();
  }

  void start_viewing() {
    if (const auto raw = user_terminal_->enter_raw(); !raw) return finish(Unexpected{raw.error()});
    (void)user_terminal_->set_restore_bytes(terminal::Viewport::closing());
    user_terminal_->write(terminal::Viewport::opening());
    notice_timer_ = loop_.after(kNoticeTime, [this] {
      viewport_->set_notice("");
      schedule_paint();
    });
  }

  // ---- the user's terminal
  void on_typed(std::string_view bytes) override {
    on_pieces(splitter_.feed(bytes, loop_.now().steady));
    wait_for_escape();
  }
  void wait_for_escape() {
    const auto due = splitter_.deadline();
    escape_timer_ = due ? loop_.at(*due,
                                   [this] {
                                     on_pieces(splitter_.expire(loop_.now().steady));
                                     wait_for_escape();
                                   })
                        : nullptr;
  }
  void on_pieces(const std::vector<terminal::InputEvent>& pieces) {
    std::string input(1, host::kTerminalFrameByte);
    for (const auto& piece : pieces) {
      if (mode_ == AttachMode::Drive ? is_detach_key(piece.bytes) : detaches_view(piece)) return finish(AttachResult{});
      const bool off_screen = piece.kind == terminal::InputKind::Mouse && viewport_->rows_above() > 0;
      if (piece.kind != terminal::InputKind::Reply && !off_screen) input += piece.bytes;
    }
    if (mode_ != AttachMode::Drive || !stream_ || input.size() == 1) return;
    for (std::size_t from = 1; from < input.size(); from += kMaxTypedBytes)
      send(host::kTerminalFrameByte + input.substr(from, kMaxTypedBytes));
  }
  void on_written(std::size_t bytes_left) override {
    if (bytes_left == 0) schedule_paint();
  }
  void on_resized(pty::WindowSize size) override {
    viewport_->resize(cells_of(size));
    if (stream_) {
      text::JsonWriter request;
      request.field("method", "resize").field("columns", size.columns).field("rows", size.rows);
      send(request.take());
    }
    schedule_paint();
  }
  void on_continued() override {
    viewport_->invalidate();
    user_terminal_->write(terminal::Viewport::opening());
    schedule_paint();
  }

  /// Many feeds cause few paints. A slow terminal is painted again when it has taken the previous paint.
  void schedule_paint() {
    if (paint_timer_ || !screen_) return;
    paint_timer_ = loop_.at(std::max(loop_.now().steady, painted_ + kFrameTime), [this] {
      paint_timer_ = nullptr;
      paint();
    });
  }
  void paint() {
    if (outcome_ || user_terminal_->output_waiting() > 0) return;
    painted_ = loop_.now().steady;
    // The program is drawing a synchronized frame; after kMaxFrame an unfinished one is painted too.
    if (!screen_->modes().synchronized)
      frame_since_.reset();
    else if (!frame_since_)
      frame_since_ = painted_;
    if (frame_since_ && painted_ < *frame_since_ + profiles::kMaxFrame) {
      frame_timer_ = loop_.at(*frame_since_ + profiles::kMaxFrame, [this] { schedule_paint(); });
      return;
    }
    user_terminal_->write(viewport_->paint(*screen_));
  }

  static constexpr std::size_t kMaxTypedBytes = host::kMaxRequestBytes / 2;

  net::AsioLoop& loop_;
  const host::HostRecord& record_;
  AttachMode mode_;
  net::UnixNetwork network_{loop_};
  std::unique_ptr<pty::UserTerminal> user_terminal_;
  std::unique_ptr<net::Stream> stream_;
  protocol::FrameReader reader_;
  std::optional<terminal::Screen> screen_;
  std::optional<terminal::Viewport> viewport_;
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
