#include "host/delivery/inbox_file.h"

#include <sstream>
#include <string_view>

#include "base/format.h"
#include "text/invisible.h"
#include "text/iso_time.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

constexpr std::string_view kFile = "inbox.md";
constexpr std::string_view kOldFile = "inbox.old.md";
constexpr std::string_view kHeading = "## From ";
constexpr std::string_view kUser = "your user ";  // as in the header of a typed message
constexpr std::size_t kMaxFileBytes = kMaxInboxBytes + 4 * protocol::kMaxFrameBytes;

/// The id in `## From Alice [id] at 2026-01-01T00:00:00.000Z`: the text in the first brackets.
std::string parse_id(std::string_view line) {
  const auto open = line.find('[');
  const auto close = line.find(']', open);
  if (!line.starts_with(kHeading) || close == std::string_view::npos) return {};
  return std::string{line.substr(open + 1, close - open - 1)};
}

std::string without_brackets(std::string_view text) {
  auto line = text::sanitize_line(text);
  for (char& c : line) c = c == '[' ? '(' : c == ']' ? ')' : c;
  return line;
}

/// The body without terminal control sequences and with marks for invisible characters. Lines that start with `#` or `(`
/// are indented, so that none looks like the next message or a line of the relay.
void append_body(std::string& out, std::string_view raw) {
  const auto visible = text::show_invisible(raw);
  const std::string_view body{visible};
  bool at_line_start = true;
  for (std::size_t at = 0; at < body.size();) {
    const auto start = at;
    const auto point = text::next_code_point(body, at);
    const bool control = (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0);
    if (control || point == text::kInvalidCodePoint) continue;
    if (at_line_start && (point == '#' || point == '(')) out += ' ';
    at_line_start = point == '\n' || point == 0x2028 || point == 0x2029;
    out.append(body.substr(start, at - start));
  }
  if (!out.ends_with('\n')) out += '\n';
}

}  // namespace

Result<void> InboxFile::load() {
  const auto content = RELAY_TRY(directory_.read(std::string{kFile}, kMaxFileBytes)).value_or("");
  bytes_ = content.size();
  std::istringstream lines{content};
  for (std::string line; std::getline(lines, line);)
    if (auto id = parse_id(line); !id.empty()) ids_.insert(std::move(id));
  return {};
}

Result<void> InboxFile::rotate_if_full() {
  if (bytes_ < kMaxInboxBytes) return {};
  RELAY_TRY(directory_.replace(std::string{kOldFile}, std::string{kFile}));
  ids_.clear();
  bytes_ = 0;
  return {};
}

Result<void> InboxFile::append(const std::string& text) {
  const std::string name{kFile};
  auto file = bytes_ == 0 ? directory_.create(name) : directory_.open_append(name);
  if (!file && bytes_ > 0) {  // the agent has removed it
    ids_.clear();
    bytes_ = 0;
    file = directory_.create(name);
  }
  if (!file) return Failure{std::move(file).error()};
  RELAY_TRY((*file)->append(text));
  bytes_ += text.size();
  return {};
}

Result<void> InboxFile::add(const IncomingMessage& message, WallMs now) {
  const auto id = without_brackets(message.id);
  if (ids_.contains(id)) return {};
  RELAY_TRY(rotate_if_full());
  auto text =
      format("{}{}{} [{}]{}{} at {}\n\n", kHeading, message.as_user ? kUser : "", without_brackets(message.from), id,
             commands::header_tags(message.kind, message.topic, message.reply_to),
             commands::importance_tag(message.importance), text::format_iso_time(now));
  append_body(text, message.body);
  for (const auto& file : message.files) text += commands::attached_line(file) + "\n";
  if (message.answer_expected) text += "(answer expected)\n";
  text += '\n';
  const auto added = append(text);
  ids_.insert(id);
  return added;
}

Result<void> InboxFile::add_notice(std::string_view notice, WallMs now) {
  RELAY_TRY(rotate_if_full());
  auto text = format("{}Relay at {}\n\n", kHeading, text::format_iso_time(now));
  append_body(text, notice);
  text += '\n';
  return append(text);
}

}  // namespace relay::host
