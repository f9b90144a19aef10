#include "tmux/pane_tracker.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "tmux/commands.h"

namespace relay::tmux {
namespace {

constexpr Millis kCalmAfter{1'000};  // thrown out less often than this: no quarrel
constexpr int kMaxQuarrels = 10;

/// Says that a window was taken out of our session, or our client into another.
bool may_move_panes(std::string_view notice) {
  return notice == "window-close" || notice == "unlinked-window-close" || notice == "session-changed";
}

}  // namespace

PaneTracker::PaneTracker(net::AsioLoop& loop, TmuxSession& session, pty::WindowSize size, PaneTrackerListener& listener)
    : loop_{loop}, session_{session}, listener_{listener}, place_{session.id}, size_{size} {}

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

void PaneTracker::say(std::string_view line, ControlClient::OnResponse on_answer) {
  session_.client->send(line, std::move(on_answer));
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
  listener_.on_turn_over();
  if (stopped_) return;
  if (!open) return client_left();
  if (reading_ && watch_) watch_->want_readable();
}

void PaneTracker::on_pane_output(const PaneOutput& output) {
  if (output.pane == session_.pane && is_attached() && pictures_awaited_ == 0 && !parted_ && !stopped_)
    listener_.on_seen(output);
}

void PaneTracker::on_notice(std::string_view name, std::string_view rest) {
  if (stopped_ || parted_ || (!is_attached() && pictures_awaited_ == 0)) return;
  if (may_move_panes(name)) return look();
  if (name != "layout-change") return;
  take_word(rest);  // the window
  const auto whole = take_word(rest), visible = take_word(rest);
  if (!size_in_layout(whole, session_.pane)) return look();
  const auto size = size_in_layout(visible.empty() ? whole : visible, session_.pane);
  if (size && sizes_awaited_ == 0) listener_.on_view_size(*size);
}

void PaneTracker::on_skipped_line() {
  if (is_attached() && !parted_ && !stopped_) capture_pane();
}

void PaneTracker::become(AttachState sight) {
  const bool saw = is_attached();
  sight_ = sight;
  if (saw != is_attached() && !stopped_) listener_.on_attach_changed();
}

void PaneTracker::look() {
  if (!watch_ || parted_ || std::exchange(looking_, true)) return;
  say("list-panes -s -F '#{pane_pid}'", [this](const CommandResult& answer) {
    looking_ = false;
    if (!answer.ok || !format("\n{}", answer.text).contains(format("\n{}\n", session_.keeper_pid))) leave();
  });
}

void PaneTracker::leave() {
  if (sight_ == AttachState::Leaving || parted_ || stopped_) return;
  become(AttachState::Leaving);
  say("detach-client");
}

/// Thrown out, too slow, leaving, or the server is gone.
void PaneTracker::client_left() {
  watch_.reset();
  sizes_awaited_ = pictures_awaited_ = 0;
  looking_ = false;
  if (parted_) return lose();
  if (sight_ == AttachState::Searching) return attach();
  become(AttachState::Leaving);
  const auto now = loop_.now().steady;
  if (now - attached_at_ > kCalmAfter) quarrels_ = 0;
  if (++quarrels_ > kMaxQuarrels) return lose();
  search();
}

/// A client that asks and goes. The server may be another one by now, so the pane's number alone proves nothing.
void PaneTracker::search() {
  place_.clear();
  auto asking = ask_for_place(session_, *this);
  if (!asking) return lose();
  session_.client = std::move(*asking);
  become(AttachState::Searching);
  session_.client->when_started([this](const CommandResult& answer) {
    std::string_view text = answer.text;
    const auto id = take_word(text);
    if (answer.ok && text == format("{}\n", session_.keeper_pid)) place_ = id;
  });
  watch_client();
}

void PaneTracker::attach() {
  if (place_.empty()) return lose();
  auto again = attach_again(session_, place_, *this);
  if (!again) return lose();
  session_.client = std::move(*again);
  become(AttachState::Attaching);
  attached_at_ = loop_.now().steady;
  session_.client->when_started([this](const CommandResult& answer) {
    if (!answer.ok || stopped_) return;
    if (place_ == session_.id) say("refresh-client -f !ignore-size");
    look();
    capture_pane();
  });
  watch_client();
}

void PaneTracker::lose() {
  watch_.reset();
  become(AttachState::Lost);
  listener_.on_view_lost();
}

/// The screen as it is, in place of what we missed. What comes before the picture is in it already.
void PaneTracker::capture_pane() {
  ++pictures_awaited_;
  say(format("display-message -p -t %{} '{}'", session_.pane, kPictureFormat),
      [this](const CommandResult& answer) { cursor_ = answer.ok ? answer.text : std::string{}; });
  say(format("capture-pane -p -e -t %{}", session_.pane), [this](const CommandResult& answer) {
    if (pictures_awaited_ > 0) --pictures_awaited_;
    if (sight_ == AttachState::Leaving || parted_ || stopped_) return;
    if (!answer.ok) return leave();
    listener_.on_capture(redrawing(cursor_, answer.text));
    ask_for_size();
    become(AttachState::Here);
  });
}

void PaneTracker::wish_for(pty::WindowSize size) {
  size_ = size;
  if (is_attached()) ask_for_size();
}

/// What it is, after we said what we wish.
void PaneTracker::ask_for_size() {
  if (!watch_) return;
  ++sizes_awaited_;
  if (place_ == session_.id) say(format("refresh-client -C {}x{}", size_.columns, size_.rows));
  say(format("display-message -p -t %{} '#{{pane_width}} #{{pane_height}}'", session_.pane),
      [this](const CommandResult& answer) {
        if (sizes_awaited_ > 0 && --sizes_awaited_ > 0) return;
        const auto size = parse_size(answer.text);
        if (answer.ok && size && !stopped_) listener_.on_view_size(*size);
      });
}

void PaneTracker::detach() {
  parted_ = true;
  if (!watch_) return lose();
  read(true);
}

void PaneTracker::stop() {
  stopped_ = true;
  watch_.reset();
}

}  // namespace relay::tmux
