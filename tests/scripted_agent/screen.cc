#include "scripted_agent/screen.h"

#include <algorithm>

#include "base/format.h"
#include "scripted_agent/wrap.h"

namespace relay::scripted_agent {
namespace {

constexpr std::size_t kBoxRows = 5;       // spinner, box of three, hint: what a long reply must leave free
constexpr std::size_t kComposerRows = 6;  // of a longer text only the last rows are visible

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

/// What a program shows of text that others gave it: no control characters, line ends as `line_end`.
std::string printable(std::string_view text, std::string_view line_end) {
  std::string shown;
  for (const char byte : text) {
    if (byte == '\n')
      shown += line_end;
    else
      shown += static_cast<unsigned char>(byte) < 0x20 || byte == '\x7f' ? '?' : byte;
  }
  return shown;
}

}  // namespace

void Screen::resize(std::size_t columns, std::size_t rows) {
  columns_ = std::max<std::size_t>(columns, 10);
  rows_ = std::max<std::size_t>(rows, 8);
  forget();
}

void Screen::add_entry(std::string_view text, std::string_view first_prefix, std::string_view next_prefix) {
  entries_.push_back({printable(text, "\n"), std::string{first_prefix}, std::string{next_prefix}});
  if (entries_.size() <= kMaxEntries) return;
  entries_.erase(entries_.begin());
  if (drawn_entries_ > 0) --drawn_entries_;
}

std::vector<std::string> Screen::lines_of(const Entry& entry) const {
  auto lines = wrap(entry.text, columns_, entry.first_prefix, entry.next_prefix);
  lines.emplace_back();
  return lines;
}

std::vector<std::string> Screen::live_lines(const View& view, std::size_t& cursor_row,
                                            std::size_t& cursor_column) const {
  std::vector<std::string> lines;
  if (!view.reply.empty()) {
    lines = wrap(view.reply, columns_, "● ", "  ");
    const auto room = rows_ - std::min(rows_ - 1, kBoxRows + 1);
    if (lines.size() > room) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(room));
  }
  lines.push_back(view.spinner);
  const auto inner = columns_ - 4;  // between "│ " and " │"
  if (view.dialog != nullptr) {
    lines.push_back(repeated("─", columns_));
    for (auto& line : wrap(view.dialog->title, columns_, " ", " ")) lines.push_back(std::move(line));
    for (std::size_t i = 0; i < view.dialog->options.size(); ++i)
      lines.push_back(format(" {} {}. {}", i == view.chosen ? "❯" : " ", i + 1, view.dialog->options[i]));
    cursor_row = lines.size();
    cursor_column = 1;
    lines.emplace_back(" Enter to confirm · Esc to cancel");
    return lines;
  }
  const auto room = inner - 3;  // behind "> ", and one for the cursor
  const auto composer = printable(view.composer, "↵");
  auto rows = wrap(tail(composer, room * kComposerRows), room, "", "");
  if (rows.size() > kComposerRows) rows.erase(rows.begin(), rows.end() - kComposerRows);
  lines.push_back("╭" + repeated("─", columns_ - 2) + "╮");
  for (std::size_t i = 0; i < rows.size(); ++i)
    lines.push_back(format("│ {} {}{} │", i == 0 ? ">" : " ", rows[i], std::string(room + 1 - width(rows[i]), ' ')));
  cursor_row = lines.size() - 1;
  cursor_column = 5 + width(rows.back());
  lines.push_back("╰" + repeated("─", columns_ - 2) + "╯");
  lines.push_back(view.hint);
  return lines;
}

std::string Screen::draw(const View& view) {
  std::size_t cursor_row = 0, cursor_column = 0;
  auto live = live_lines(view, cursor_row, cursor_column);
  if (surface_ == Options::Surface::Alternate) return draw_all(std::move(live), cursor_row, cursor_column);
  auto bytes = erase();
  for (; drawn_entries_ < entries_.size(); ++drawn_entries_)
    for (const auto& line : lines_of(entries_[drawn_entries_])) bytes += line + "\r\n";
  for (std::size_t i = 0; i < live.size(); ++i) bytes += (i > 0 ? "\r\n" : "") + live[i];
  if (const auto up = live.size() - 1 - cursor_row; up > 0) bytes += format("\x1b[{}A", up);
  bytes += format("\x1b[{}G", cursor_column);
  cursor_row_ = cursor_row;
  return bytes;
}

std::string Screen::erase() {
  if (std::exchange(must_clear_, false)) return "\x1b[H\x1b[2J";
  auto bytes = cursor_row_ > 0 ? format("\x1b[{}A", cursor_row_) : std::string{};
  cursor_row_ = 0;
  return bytes + "\r\x1b[J";
}

std::string Screen::draw_all(std::vector<std::string> live, std::size_t cursor_row, std::size_t cursor_column) const {
  std::vector<std::string> lines;
  for (const auto& entry : entries_)
    for (auto& line : lines_of(entry)) lines.push_back(std::move(line));
  const auto past = rows_ > live.size() ? rows_ - live.size() : 0;
  if (lines.size() > past) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(past));
  lines.resize(past);  // the composer stays at the bottom
  std::ranges::move(live, std::back_inserter(lines));
  std::string bytes = "\x1b[H";
  for (std::size_t i = 0; i < lines.size() && i < rows_; ++i) bytes += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[K";
  return bytes + format("\x1b[{};{}H", past + cursor_row + 1, cursor_column);
}

}  // namespace relay::scripted_agent
