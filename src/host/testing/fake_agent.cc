#include "host/testing/fake_agent.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/format.h"
#include "profiles/profile_file.h"

namespace relay::host::testing {
namespace {

using Kind = AgentKey::Kind;

constexpr std::string_view kProfile = R"(
name = "fake"
title = "the fake agent"
commands = ["fake_agent"]
reports_status = true
working_rows = ['esc to interrupt\)$']

[typing]
interrupt = "\u0003"

[composer]
first = '^│ [> ] (.*?) *│$'
continuation = '^│ '
below = '^╰─{5,}'

[dialogs]
keys = "cursor"
approve = '^Yes$'
deny = '^No$'
first_row = '^─{20,}'
footer = '^ Enter to confirm '

[[pattern]]
name = "run"
role = "permission"
regex = '^(?P<tool>Run) (?P<command>.+)\?$'

[[pattern]]
name = "choice"
role = "choice"
regex = '^(?P<mark>❯ )?(?P<number>\d+)\. (?P<label>\S.*)$'

[[row]]
kind = "user"
pattern = '^> '

[[row]]
kind = "assistant"
pattern = '^● '
)";

constexpr std::string_view kPasteStart = "\x1b[200~", kPasteEnd = "\x1b[201~";
constexpr std::size_t kComposerRows = 6;
constexpr Millis kPieceGap{3};

std::string repeat(std::string_view text, std::size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

std::vector<std::string> wrap_ascii(std::string_view text, std::size_t width) {
  std::vector<std::string> rows;
  for (; text.size() > width; text.remove_prefix(width)) rows.emplace_back(text.substr(0, width));
  rows.emplace_back(text);
  return rows;
}

}  // namespace

FakeAgent::FakeAgent(net::EventLoop& loop, pty::ProgramListener& listener, pty::WindowSize size, Options options)
    : loop_{loop}, listener_{listener}, size_{size}, options_{std::move(options)} {
  pieces_.push_back({"\x1b[?2004h\x1b[H\x1b[2J", std::nullopt});
  changed();
}

profiles::Profile FakeAgent::profile() { return profiles::read_profile(kProfile, "fake_agent").value(); }

std::size_t FakeAgent::write(std::string_view bytes) {
  if (ended_) return bytes.size();
  unparsed_ += bytes;
  while (auto key = next_key()) {
    key->dialog_shown = shown_.dialog;
    options_.on_written(*key, shown_);
    keys_.push_back(*std::move(key));
  }
  if (!keys_.empty() && !read_timer_) read_timer_ = loop_.after(options_.read_delay(), [this] { read_one(); });
  return bytes.size();
}

std::optional<AgentKey> FakeAgent::next_key() {
  auto& rest = unparsed_;
  if (rest.empty()) return std::nullopt;
  const auto take = [&](Kind kind, std::size_t bytes) {
    AgentKey key{kind, rest.substr(0, bytes)};
    rest.erase(0, bytes);
    return key;
  };
  if (rest.starts_with(kPasteStart)) {
    const auto end = rest.find(kPasteEnd);
    if (end == std::string::npos) return std::nullopt;
    AgentKey key{Kind::Paste, rest.substr(kPasteStart.size(), end - kPasteStart.size())};
    rest.erase(0, end + kPasteEnd.size());
    return key;
  }
  if (rest.starts_with(kUserEnter)) return take(Kind::UserEnter, kUserEnter.size());
  if (rest.starts_with("\x1b[A")) return take(Kind::Up, 3);
  if (rest.starts_with("\x1b[B")) return take(Kind::Down, 3);
  switch (rest.front()) {
    case '\x1b': return take(rest == kUserEscape ? Kind::Escape : Kind::Other, 1);
    case '\r': return take(Kind::Enter, 1);
    case '\x7f': return take(Kind::Backspace, 1);
    case '\x15': return take(Kind::Clear, 1);
    case '\x03': return take(Kind::Interrupt, 1);
    default: break;
  }
  const auto end = rest.find_first_of("\x1b\r\x7f\x15\x03");
  return take(Kind::Text, std::min(end, rest.size()));
}

void FakeAgent::read_one() {
  read_timer_ = nullptr;
  if (ended_ || keys_.empty()) return;
  const auto key = std::move(keys_.front());
  keys_.pop_front();
  if (key.kind == Kind::Paste && dialog_.empty() && options_.paste_meets_dialog()) open_dialog();
  dialog_.empty() ? on_key(key) : on_dialog_key(key);
  changed();
  if (keys_.empty()) return;
  const bool same_write = keys_.front().kind == Kind::Backspace;  // many are written at once, and read at once
  read_timer_ = loop_.after(same_write ? Millis{0} : options_.read_delay(), [this] { read_one(); });
}

void FakeAgent::on_key(const AgentKey& key) {
  switch (key.kind) {
    case Kind::Text:
    case Kind::Paste: composer_ += key.text; return;
    case Kind::Backspace:
      if (!composer_.empty()) composer_.pop_back();
      return;
    case Kind::Clear: composer_.clear(); return;
    case Kind::Enter:
    case Kind::UserEnter:
      if (composer_.empty() || options_.loses_enter()) return;
      options_.on_submit(composer_, key.kind == Kind::Enter);
      return take_prompt(std::exchange(composer_, {}));
    case Kind::Escape:
    case Kind::Interrupt:
      if (!working_) return;
      queued_.clear();
      conversation_.emplace_back("Interrupted.");
      return become_idle();
    case Kind::Up:
    case Kind::Down:
    case Kind::Other: return;
  }
}

void FakeAgent::on_dialog_key(const AgentKey& key) {
  options_.on_dialog_key(key);
  switch (key.kind) {
    case Kind::Up: approve_marked_ = true; return;
    case Kind::Down: approve_marked_ = false; return;
    case Kind::Enter:
    case Kind::UserEnter: break;
    case Kind::Escape: approve_marked_ = false; break;
    default: return;
  }
  options_.on_dialog_closed(std::exchange(dialog_, {}), approve_marked_, key.by_host());
  if (working_) turn_timer_ = loop_.after(options_.turn(), [this] { end_turn(); });
}

void FakeAgent::receive(std::string prompt) {
  if (ended_) return;
  options_.on_receive(prompt);
  take_prompt(std::move(prompt));
  changed();
}

void FakeAgent::take_prompt(std::string prompt) {
  prompts_.push_back(prompt);
  conversation_.push_back("> " + prompt);
  working_ ? queued_.push_back(std::move(prompt)) : start_turn();
}

void FakeAgent::start_turn() {
  working_ = true;
  opens_dialog_ = options_.opens_dialog_in_turn();
  turn_timer_ = loop_.after(options_.turn(), [this] { end_turn(); });
}

void FakeAgent::end_turn() {
  turn_timer_ = nullptr;
  if (!dialog_.empty()) return;  // continues after the answer
  if (std::exchange(opens_dialog_, false)) return open_dialog();
  const auto reply = std::exchange(reply_, {});
  conversation_.push_back("● " + (reply.empty() ? "Done." : reply));
  if (queued_.empty()) return become_idle();
  queued_.pop_front();
  start_turn();
  changed();
}

void FakeAgent::become_idle() {
  working_ = false;
  turn_timer_ = nullptr;
  changed();
}

void FakeAgent::open_dialog(std::string command) {
  if (ended_ || !dialog_.empty()) return;
  dialog_ = std::move(command);
  approve_marked_ = true;
  changed();
}

void FakeAgent::changed() {
  if (!ended_ && !draw_timer_) draw_timer_ = loop_.after(options_.draw_delay(), [this] { draw(); });
}

void FakeAgent::draw() {
  draw_timer_ = nullptr;
  AgentView view{.drawn = true,
                 .dialog = !dialog_.empty(),
                 .command = dialog_,
                 .approve_marked = approve_marked_,
                 .working = working_,
                 .composer = composer_};
  auto bytes = frame();
  if (options_.tears_frame()) {
    const auto half = bytes.find("\r\n", bytes.size() / 2);
    pieces_.push_back({bytes.substr(0, half), std::nullopt});
    bytes.erase(0, half);
  }
  pieces_.push_back({std::move(bytes), std::move(view)});
  if (!piece_timer_ && !paused_) show_piece();
}

void FakeAgent::show_piece() {
  piece_timer_ = nullptr;
  if (pieces_.empty() || paused_) return;
  auto piece = std::move(pieces_.front());
  pieces_.pop_front();
  if (!pieces_.empty()) piece_timer_ = loop_.after(kPieceGap, [this] { show_piece(); });
  half_drawn_ = piece.completes || pieces_.empty() ? std::nullopt : pieces_.front().completes;
  if (piece.completes) shown_ = *std::move(piece.completes);
  listener_.on_output(piece.bytes);
}

std::string FakeAgent::frame() const {
  const std::size_t columns = size_.columns, height = size_.rows;
  std::vector<std::string> live{working_ ? "* Working (esc to interrupt)" : ""};
  std::size_t cursor_row = 0, cursor_column = 1;
  if (!dialog_.empty()) {
    live.push_back(repeat("─", columns));
    live.push_back(format(" Run {}?", dialog_));
    live.emplace_back(approve_marked_ ? " ❯ 1. Yes" : "   1. Yes");
    live.emplace_back(approve_marked_ ? "   2. No" : " ❯ 2. No");
    cursor_row = live.size();
    live.emplace_back(" Enter to confirm · Esc to cancel");
  } else {
    const auto width = columns - 7;
    auto draft = composer_;
    std::ranges::replace(draft, '\n', ' ');
    auto rows = wrap_ascii(draft, width);
    if (rows.size() > kComposerRows) rows.erase(rows.begin(), rows.end() - kComposerRows);
    live.push_back("╭" + repeat("─", columns - 2) + "╮");
    for (std::size_t i = 0; i < rows.size(); ++i)
      live.push_back(format("│ {} {}{} │", i == 0 ? ">" : " ", rows[i], std::string(width + 1 - rows[i].size(), ' ')));
    cursor_row = live.size() - 1;
    cursor_column = 5 + rows.back().size();
    live.push_back("╰" + repeat("─", columns - 2) + "╯");
  }
  std::vector<std::string> past;
  for (const auto& entry : conversation_) {
    const bool marked = entry.starts_with("> ") || entry.starts_with("● ");
    auto text = entry;
    std::ranges::replace(text, '\n', ' ');
    bool first = true;
    for (auto& row : wrap_ascii(text, columns - 4))
      past.push_back(std::exchange(first, false) || !marked ? row : "  " + row);
    past.emplace_back();
  }
  const auto room = height > live.size() ? height - live.size() : 0;
  if (past.size() > room) past.erase(past.begin(), past.end() - static_cast<std::ptrdiff_t>(room));
  const auto above = past.size();
  std::string bytes;
  if (options_.reports_status)
    bytes += !dialog_.empty() ? "\x1b]7501;state=blocked:app=fake:kind=permission\a"
             : working_       ? "\x1b]7501;state=working:app=fake\a"
                              : "\x1b]7501;state=idle:app=fake\a";
  bytes += "\x1b[H";
  for (auto* rows : {&past, &live})
    for (const auto& row : *rows) bytes += (row.empty() && rows == &past ? "" : row) + "\x1b[K\r\n";
  bytes.resize(bytes.size() - 2);
  return bytes + format("\x1b[J\x1b[{};{}H", above + cursor_row + 1, cursor_column);
}

void FakeAgent::resume_output() {
  if (!std::exchange(paused_, false) || pieces_.empty() || piece_timer_) return;
  piece_timer_ = loop_.after(Millis{0}, [this] { show_piece(); });
}

Result<void> FakeAgent::resize(pty::WindowSize size) {
  size_ = size;
  pieces_.push_back({"\x1b[H\x1b[2J", std::nullopt});
  changed();
  return {};
}

void FakeAgent::exit(int code) {
  if (ended_) return;
  ended_ = pty::ExitStatus{.kind = pty::ExitStatus::Kind::Exited, .value = code};
  end_timer_ = loop_.after(Millis{0}, [this] { listener_.on_exit(*ended_); });
}

void FakeAgent::end(Millis) {
  if (ended_) return;
  ended_ = pty::ExitStatus{.kind = pty::ExitStatus::Kind::Signalled, .value = SIGTERM};
  end_timer_ = loop_.after(Millis{5}, [this] { listener_.on_exit(*ended_); });
}

}  // namespace relay::host::testing
