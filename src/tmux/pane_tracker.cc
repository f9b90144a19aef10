#include "tmux/pane_tracker.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "tmux/commands.h"

namespace relay::tmux {
namespace {

constexpr Millis kDetachResetTime{1'000};  // detached less often than this: the counter restarts
constexpr int kMaxDetaches = 10;

/// True for notices that a window left our session, or our client moved to another.
bool may_move_panes(std::string_view notice) {
  return notice == "window-close" || notice == "unlinked-window-close" || notice == "session-changed";
}

}  // namespace

PaneTracker::PaneTracker(net::AsioLoop& loop, TmuxSession& session, pty::WindowSize size, PaneTrackerListener& listener)
    : loop_{loop}, session_{session}, listener_{listener}, session_id_{session.id}, size_{size} {}

PaneTracker::~PaneTracker() = default;

void PaneTracker::start() {
  session_.client->listen(*this);
  watch_client();
}

void PaneTracker::watch_client() {
  watch_ = std::make_unique<net::DescriptorWatch>(
      loop_, session_.client->fd(), [this] { read_turn(); }, [this] { write_turn(); });
  if (reading_) watch_->want_readable();
  if (session_.client->wants_to_write()) watch_->want_writable();
}

void PaneTracker::send(std::string_view line, ControlClient::OnResponse on_reply) {
  session_.client->send(line, std::move(on_reply));
  if (watch_ && session_.client->wants_to_write()) watch_->want_writable();
}

void PaneTracker::write_turn() {
  session_.client->write_turn();
  if (session_.client->wants_to_write()) watch_->want_writable();
}

void PaneTracker::read(bool wanted) {
  reading_ = wanted;
  if (reading_ && watch_) watch_->want_readable();
}

void PaneTracker::read_turn() {
  if (!reading_) return;
  const auto keep = listener_.hold();
  const bool open = session_.client->read_turn();
  listener_.on_turn_done();
  if (stopped_) return;
  if (!open) return on_client_closed();
  if (reading_ && watch_) watch_->want_readable();
}

void PaneTracker::on_pane_output(const PaneOutput& output) {
  if (output.pane == session_.pane && is_attached() && pending_captures_ == 0 && !detached_ && !stopped_)
    listener_.on_output_bytes(output);
}

void PaneTracker::on_notice(std::string_view name, std::string_view rest) {
  if (stopped_ || detached_ || (!is_attached() && pending_captures_ == 0)) return;
  if (may_move_panes(name)) return check_pane();
  if (name != "layout-change") return;
  take_word(rest);  // the window
  const auto whole = take_word(rest), visible = take_word(rest);
  if (!size_in_layout(whole, session_.pane)) return check_pane();
  const auto size = size_in_layout(visible.empty() ? whole : visible, session_.pane);
  if (size && pending_sizes_ == 0) listener_.on_pane_size(*size);
}

void PaneTracker::on_skipped_line() {
  if (is_attached() && !detached_ && !stopped_) capture_pane();
}

void PaneTracker::set_state(AttachState state) {
  const bool was_attached = is_attached();
  state_ = state;
  if (was_attached != is_attached() && !stopped_) listener_.on_attach_changed();
}

void PaneTracker::check_pane() {
  if (!watch_ || detached_ || std::exchange(checking_, true)) return;
  send("list-panes -s -F '#{pane_pid}'", [this](const CommandResult& answer) {
    checking_ = false;
    if (!answer.ok || !format("\n{}", answer.text).contains(format("\n{}\n", session_.shim_pid))) leave();
  });
}

void PaneTracker::leave() {
  if (state_ == AttachState::Leaving || detached_ || stopped_) return;
  set_state(AttachState::Leaving);
  send("detach-client");
}

/// Called when the client was detached or too slow, or the server has ended.
void PaneTracker::on_client_closed() {
  watch_.reset();
  pending_sizes_ = pending_captures_ = 0;
  checking_ = false;
  if (detached_) return lose();
  if (state_ == AttachState::Searching) return attach();
  set_state(AttachState::Leaving);
  const auto now = loop_.now().steady;
  if (now - attached_at_ > kDetachResetTime) detach_count_ = 0;
  if (++detach_count_ > kMaxDetaches) return lose();
  search();
}

/// Starts a client that queries the pane. The server may be another one, so the pane's number alone proves nothing.
void PaneTracker::search() {
  session_id_.clear();
  auto client = query_pane(session_, *this);
  if (!client) return lose();
  session_.client = std::move(*client);
  set_state(AttachState::Searching);
  session_.client->when_started([this](const CommandResult& answer) {
    std::string_view text = answer.text;
    const auto id = take_word(text);
    if (answer.ok && text == format("{}\n", session_.shim_pid)) session_id_ = id;
  });
  watch_client();
}

void PaneTracker::attach() {
  if (session_id_.empty()) return lose();
  auto again = attach_client(session_, session_id_, *this);
  if (!again) return lose();
  session_.client = std::move(*again);
  set_state(AttachState::Attaching);
  attached_at_ = loop_.now().steady;
  session_.client->when_started([this](const CommandResult& answer) {
    if (!answer.ok || stopped_) return;
    if (session_id_ == session_.id) send("refresh-client -f !ignore-size");
    check_pane();
    capture_pane();
  });
  watch_client();
}

void PaneTracker::lose() {
  watch_.reset();
  set_state(AttachState::Lost);
  listener_.on_lost();
}

/// Captures the screen in place of the missed output. Output before the capture is part of it.
void PaneTracker::capture_pane() {
  ++pending_captures_;
  send(format("display-message -p -t %{} '{}'", session_.pane, kCaptureFormat),
       [this](const CommandResult& answer) { cursor_ = answer.ok ? answer.text : std::string{}; });
  send(format("capture-pane -p -e -t %{}", session_.pane), [this](const CommandResult& answer) {
    if (pending_captures_ > 0) --pending_captures_;
    if (state_ == AttachState::Leaving || detached_ || stopped_) return;
    if (!answer.ok) return leave();
    listener_.on_capture(redraw_bytes(cursor_, answer.text));
    update_size();
    set_state(AttachState::Attached);
  });
}

void PaneTracker::request_size(pty::WindowSize size) {
  size_ = size;
  if (is_attached()) update_size();
}

/// Requests our size and queries the actual one.
void PaneTracker::update_size() {
  if (!watch_) return;
  ++pending_sizes_;
  if (session_id_ == session_.id) send(format("refresh-client -C {}x{}", size_.columns, size_.rows));
  send(format("display-message -p -t %{} '#{{pane_width}} #{{pane_height}}'", session_.pane),
       [this](const CommandResult& answer) {
         if (pending_sizes_ > 0 && --pending_sizes_ > 0) return;
         const auto size = parse_size(answer.text);
         if (answer.ok && size && !stopped_) listener_.on_pane_size(*size);
       });
}

void PaneTracker::detach() {
  detached_ = true;
  if (!watch_) return lose();
  read(true);
}

void PaneTracker::stop() {
  stopped_ = true;
  watch_.reset();
}

}  // namespace relay::tmux
