#include "tmux/control_parser.h"

#include <charconv>
#include <utility>

namespace relay::tmux {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view word) {
  Number number{};
  const auto* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

constexpr bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// The numbers behind %begin, %end and %error: time, command number, and a flag for our own commands.
struct Guard {
  std::uint64_t number = 0;
  bool requested = false;
};

std::optional<Guard> parse_guard(std::string_view rest) {
  const auto time = parse_number<std::uint64_t>(take_word(rest));
  const auto number = parse_number<std::uint64_t>(take_word(rest));
  const auto flags = parse_number<std::uint32_t>(take_word(rest));
  if (!time || !number || !flags) return std::nullopt;
  return Guard{*number, (*flags & 1U) != 0};
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  if (!text.empty()) text.remove_prefix(1);
  return word;
}

std::optional<PaneNumber> parse_pane(std::string_view word) {
  if (!word.starts_with('%')) return std::nullopt;
  return parse_number<PaneNumber>(word.substr(1));
}

void append_unescaped(std::string_view escaped, std::string& bytes) {
  while (!escaped.empty()) {
    const auto plain = escaped.substr(0, escaped.find('\\'));
    bytes.append(plain);
    escaped.remove_prefix(plain.size());
    if (escaped.empty()) return;
    if (escaped.size() >= 4 && escaped[1] <= '3' && is_octal(escaped[1]) && is_octal(escaped[2]) &&
        is_octal(escaped[3])) {
      bytes.push_back(static_cast<char>((escaped[1] - '0') * 64 + (escaped[2] - '0') * 8 + (escaped[3] - '0')));
      escaped.remove_prefix(4);
    } else {
      bytes.push_back('\\');
      escaped.remove_prefix(1);
    }
  }
}

void ControlParser::feed(std::string_view bytes, ControlHandler& handler) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const bool whole = end != std::string_view::npos;
    const auto part = bytes.substr(0, end);
    bytes.remove_prefix(whole ? end + 1 : bytes.size());
    if (!skipping_ && line_.size() + part.size() > kMaxLineBytes) {
      skipping_ = true;
      std::string{}.swap(line_);
      if (!reply_) handler.on_skipped_line();
    }
    if (skipping_) {
      skipping_ = !whole;
    } else if (!whole) {
      line_.append(part);
    } else if (line_.empty()) {
      take_line(part, handler);
    } else {
      line_.append(part);
      take_line(line_, handler);
      line_.clear();
    }
  }
}

void ControlParser::take_line(std::string_view line, ControlHandler& handler) {
  if (line.ends_with('\r')) line.remove_suffix(1);  // only if there is a terminal between
  auto rest = line;
  const auto word = take_word(rest);
  if (reply_) {
    const bool end = word == "%end", error = word == "%error";
    const auto guard = end || error ? parse_guard(rest) : std::nullopt;
    if (!guard || guard->number != reply_->number) return take_text(line);
    reply_->ok = end;
    const auto answer = *std::exchange(reply_, std::nullopt);
    return handler.on_reply(answer);
  }
  if (!line.starts_with('%')) return handler.on_notice({}, line);
  if (word == "%begin") {
    if (const auto guard = parse_guard(rest)) {
      reply_ = CommandResult{.number = guard->number, .requested = guard->requested, .ok = false, .text = {}};
      return;
    }
  }
  if (word == "%output") {
    if (const auto pane = parse_pane(take_word(rest))) return take_output(rest, *pane, Millis{}, handler);
  }
  if (word == "%extended-output") {  // %pane age [fields of later versions] : bytes
    const auto pane = parse_pane(take_word(rest));
    const auto colon = rest.find(" : ");
    if (pane && colon != std::string_view::npos) {
      const auto bytes = rest.substr(colon + 3);
      const auto age = parse_number<std::uint32_t>(take_word(rest));
      return take_output(bytes, *pane, Millis{age.value_or(0)}, handler);
    }
  }
  handler.on_notice(word.substr(1), rest);
}

void ControlParser::take_output(std::string_view escaped, PaneNumber pane, Millis age, ControlHandler& handler) {
  decoded_.clear();
  append_unescaped(escaped, decoded_);
  if (!decoded_.empty()) handler.on_pane_output({.pane = pane, .bytes = decoded_, .age = age});
}

void ControlParser::take_text(std::string_view line) {
  auto& text = reply_->text;
  if (text.size() + line.size() + 1 > kMaxReplyBytes) return;
  text.append(line).push_back('\n');
}

}  // namespace relay::tmux
