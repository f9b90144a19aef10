#include "tmux/commands.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/format.h"
#include "base/hash.h"

namespace relay::tmux {
namespace {

constexpr std::size_t kHashDigits = 8;
constexpr std::size_t kChunkBytes = 1024;  // per command line, where most bytes become four

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_plain(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

/// Cuts a number off the front.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<Version> parse_version(std::string_view line) {
  if (!line.starts_with("tmux ")) return std::nullopt;
  const auto number = std::ranges::find_if(line, is_digit);
  if (number == line.end()) return Version{std::numeric_limits<int>::max(), 0};
  line.remove_prefix(static_cast<std::size_t>(number - line.begin()));
  const auto major = take_number<int>(line);
  if (!major) return std::nullopt;
  const auto minor = take(line, '.') ? take_number<int>(line) : std::nullopt;
  return Version{*major, minor.value_or(0)};
}

std::string quoted(std::string_view word) {
  std::string text{"\""};
  for (const char c : word) {
    if (is_plain(c))
      text.push_back(c);
    else
      text += format("\\{:03o}", static_cast<unsigned char>(c));
  }
  text.push_back('"');
  return text;
}

std::vector<std::string> paste_commands(std::string_view bytes, const PasteTarget& target) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const auto text = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(text.size());
    if (!text.empty()) {
      for (std::size_t at = 0; at < text.size(); at += kChunkBytes)
        lines.push_back(format("set-buffer {}-b {} -- {}", at > 0 ? "-a " : "", target.buffer,
                               quoted(text.substr(at, kChunkBytes))));
      lines.push_back(format("paste-buffer -d -r {}-b {} -t %{}", target.needs_raw_paste_flag ? "-S " : "",
                             target.buffer, target.pane));
    }
    const auto zeros = std::min(bytes.find_first_not_of('\0'), bytes.size());
    bytes.remove_prefix(zeros);
    if (zeros == 0) continue;
    auto keys = format("send-keys -H -t %{}", target.pane);
    for (std::size_t i = 0; i < zeros; ++i) keys += " 00";
    lines.push_back(std::move(keys));
  }
  return lines;
}

bool needs_raw_paste_flag(std::string_view usage) {
  usage.remove_prefix(std::min(usage.find('['), usage.size()));
  return usage.starts_with("[-") && usage.substr(0, usage.find(']')).contains('S');
}

std::string session_name(std::string_view agent) {
  std::string name{"relay-"};
  for (const char c : agent) name.push_back(is_plain(c) ? c : '_');
  if (!std::ranges::all_of(agent, is_plain)) name += "-" + sha256_hex(agent).substr(0, kHashDigits);
  return name;
}

// A cell is WxH,X,Y and then its pane's number, or the cells inside it in brackets.
std::optional<pty::WindowSize> size_in_layout(std::string_view layout, PaneNumber pane) {
  layout.remove_prefix(std::min(layout.find(','), layout.size()));  // the checksum
  while (!layout.empty()) {
    layout.remove_prefix(1);  // the comma or the bracket before a cell
    const auto columns = take_number<std::uint16_t>(layout);
    const bool sized = columns && take(layout, 'x');
    const auto rows = sized ? take_number<std::uint16_t>(layout) : std::nullopt;
    if (!rows) {  // something between two cells
      layout.remove_prefix(std::min(layout.find_first_of(",{["), layout.size()));
      continue;
    }
    for (int side = 0; side < 2; ++side)
      if (!take(layout, ',') || !take_number<std::uint32_t>(layout)) return std::nullopt;
    auto behind = layout;
    if (!take(behind, ',')) continue;
    const auto number = take_number<PaneNumber>(behind);
    if (!number || behind.starts_with('x')) continue;  // the next cell
    layout = behind;
    if (*number == pane) return pty::WindowSize{.columns = *columns, .rows = *rows};
  }
  return std::nullopt;
}

std::optional<pty::WindowSize> parse_size(std::string_view text) {
  const auto columns = take_number<std::uint16_t>(text);
  const auto rows = columns && take(text, ' ') ? take_number<std::uint16_t>(text) : std::nullopt;
  if (!rows || *columns == 0 || *rows == 0) return std::nullopt;
  return pty::WindowSize{.columns = *columns, .rows = *rows};
}

std::string redraw_bytes(std::string_view place, std::string_view capture) {
  const auto column = take_number<unsigned>(place);
  take(place, ' ');
  const auto row = take_number<unsigned>(place);
  take(place, ' ');
  const bool alternate = place.starts_with('1');
  std::string bytes{"\x18"};  // ends an incomplete sequence
  bytes += alternate ? "\x1b[?1049h" : "\x1b[?1049l";
  bytes += "\x1b[m\x1b[H\x1b[2J";
  for (unsigned line = 1; !capture.empty(); ++line) {
    const auto text = capture.substr(0, capture.find('\n'));
    capture.remove_prefix(std::min(text.size() + 1, capture.size()));
    bytes += format("\x1b[{};1H{}", line, text);  // colors continue from line to line, as tmux wrote them
  }
  bytes += format("\x1b[m\x1b[{};{}H", row.value_or(0) + 1, column.value_or(0) + 1);
  return bytes;
}

}  // namespace relay::tmux
