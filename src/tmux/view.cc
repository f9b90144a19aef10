#include "tmux/view.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/descriptor_watch.h"
#include "tmux/wording.h"

namespace relay::tmux {
namespace {

constexpr Millis kCalmAfter{1'000};  // thrown out less often than this: no quarrel
constexpr int kMaxQuarrels = 10;

/// Says that a window was taken out of our session, or our client into another.
bool may_move_panes(std::string_view notice) {
  return notice == "window-close" || notice == "unlinked-window-close" || notice == "session-changed";
}

}  // namespace

View::View(net::AsioLoop& loop, Session& session, pty::WindowSize size, ViewListener& listener)
    : loop_{loop}, session_{session}, listener_{listener}, place_{session.id}, size_{size} {}

View::~View() = default;

void View::start() {
  session_.client->listen(*this);
  watch_client();
}

void View::watch_client() {
  watch_ = std::make_unique<net::DescriptorWatch>(
      loop_, session_.client->fd(), [this] { read_turn(); }, [this] { write_turn(); });
  if (reading_) watch_->want_readable();
  if (session_.client->wants_to_write()) watch_->want_writable();
}

void View::say(std::string_view line, ControlClient::OnAnswer on_answer) {
  session_.client->send(line, std::move(on_answer));
  if (watch_ && session_.client->wants_to_write()) watch_->want_writable();
}

void View::write_turn() {
  session_.client->write_turn();
  if (session_.client->wants_to_write()) watch_->want_writable();
}

void View::read(bool wanted) {
  reading_ = wanted;
  if (reading_ && watch_) watch_->want_readable();
}

void View::read_turn() {
  if (!reading_) return;
  const auto keep = listener_.hold();
  const bool open = session_.client->read_turn();
  listener_.on_turn_over();
  if (stopped_) return;
  if (!open) return client_left();
  if (reading_ && watch_) watch_->want_readable();
}

void View::on_pane_output(const PaneOutput& output) {
  if (output.pane == session_.pane && sees() && pictures_awaited_ == 0 && !parted_ && !stopped_)
    listener_.on_seen(output);
}

void View::on_notice(std::string_view name, std::string_view rest) {
  if (stopped_ || parted_ || (!sees() && pictures_awaited_ == 0)) return;
  if (may_move_panes(name)) return look();
  if (name != "layout-change") return;
  take_word(rest);  // the window
  const auto whole = take_word(rest), visible = take_word(rest);
  if (!size_in_layout(whole, session_.pane)) return look();
  const auto size = size_in_layout(visible.empty() ? whole : visible, session_.pane);
  if (size && sizes_awaited_ == 0) listener_.on_view_size(*size);
}

void View::on_skipped_line() {
  if (sees() && !parted_ && !stopped_) ask_for_picture();
}

void View::become(Sight sight) {
  const bool saw = sees();
  sight_ = sight;
  if (saw != sees() && !stopped_) listener_.on_sight_changed();
}

void View::look() {
  if (!watch_ || parted_ || std::exchange(looking_, true)) return;
  say("list-panes -s -F '#{pane_pid}'", [this](const Answer& answer) {
    looking_ = false;
    if (!answer.ok || !format("\n{}", answer.text).contains(format("\n{}\n", session_.keeper_pid))) leave();
  });
}

void View::leave() {
  if (sight_ == Sight::Leaving || parted_ || stopped_) return;
  become(Sight::Leaving);
  say("detach-client");
}

/// Thrown out, too slow, leaving, or the server is gone.
void View::client_left() {
  watch_.reset();
  sizes_awaited_ = pictures_awaited_ = 0;
  looking_ = false;
  if (parted_) return lose();
  if (sight_ == Sight::Searching) return attach();
  become(Sight::Leaving);
  const auto now = loop_.now().steady;
  if (now - attached_at_ > kCalmAfter) quarrels_ = 0;
  if (++quarrels_ > kMaxQuarrels) return lose();
  search();
}

/// A client that asks and goes. The server may be another one by now, so the pane's number alone proves nothing.
void View::search() {
  place_.clear();
  auto asking = ask_for_place(session_, *this);
  if (!asking) return lose();
  session_.client = std::move(*asking);
  become(Sight::Searching);
  session_.client->when_started([this](const Answer& answer) {
    std::string_view text = answer.text;
    const auto id = take_word(text);
    if (answer.ok && text == format("{}\n", session_.keeper_pid)) place_ = id;
  });
  watch_client();
}

void View::attach() {
  if (place_.empty()) return lose();
  auto again = attach_again(session_, place_, *this);
  if (!again) return lose();
  session_.client = std::move(*again);
  become(Sight::Attaching);
  attached_at_ = loop_.now().steady;
  session_.client->when_started([this](const Answer& answer) {
    if (!answer.ok || stopped_) return;
    if (place_ == session_.id) say("refresh-client -f !ignore-size");
    look();
    ask_for_picture();
  });
  watch_client();
}

void View::lose() {
  watch_.reset();
  become(Sight::Lost);
  listener_.on_view_lost();
}

/// The screen as it is, in place of what we missed. What comes before the picture is in it already.
void View::ask_for_picture() {
  ++pictures_awaited_;
  say(format("display-message -p -t %{} '{}'", session_.pane, kPictureFormat),
      [this](const Answer& answer) { cursor_ = answer.ok ? answer.text : std::string{}; });
  say(format("capture-pane -p -e -t %{}", session_.pane), [this](const Answer& answer) {
    if (pictures_awaited_ > 0) --pictures_awaited_;
    if (sight_ == Sight::Leaving || parted_ || stopped_) return;
    if (!answer.ok) return leave();
    listener_.on_picture(redrawing(cursor_, answer.text));
    ask_for_size();
    become(Sight::Here);
  });
}

void View::wish_for(pty::WindowSize size) {
  size_ = size;
  if (sees()) ask_for_size();
}

/// What it is, after we said what we wish.
void View::ask_for_size() {
  if (!watch_) return;
  ++sizes_awaited_;
  if (place_ == session_.id) say(format("refresh-client -C {}x{}", size_.columns, size_.rows));
  say(format("display-message -p -t %{} '#{{pane_width}} #{{pane_height}}'", session_.pane),
      [this](const Answer& answer) {
        if (sizes_awaited_ > 0 && --sizes_awaited_ > 0) return;
        const auto size = parse_size(answer.text);
        if (answer.ok && size && !stopped_) listener_.on_view_size(*size);
      });
}

void View::part() {
  parted_ = true;
  if (!watch_) return lose();
  read(true);
}

void View::stop() {
  stopped_ = true;
  watch_.reset();
}

}  // namespace relay::tmux
