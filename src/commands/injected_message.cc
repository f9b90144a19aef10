#include "commands/injected_message.h"

#include <algorithm>

#include "base/format.h"
#include "commands/lead_in.h"
#include "commands/line_shape.h"
#include "commands/visual_skeleton.h"
#include "text/sanitize.h"

namespace relay::commands {
namespace {

constexpr std::size_t kShownIdBytes = 8;
constexpr std::int64_t kImportant = 50;
constexpr std::int64_t kUrgent = 75;

/// A word of the header without brackets, so that a name or a thread cannot close a tag and open another.
std::string header_word(std::string_view text) {
  auto word = text::sanitize_line(text);
  std::ranges::replace(word, '[', '(');
  std::ranges::replace(word, ']', ')');
  return std::string{trimmed(word)};
}

/// Also equates ASCII characters that resemble each other.
bool resembles(char actual, char expected) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (expected == 'l' && (actual == '1' || actual == 'I' || actual == '|')) return true;
  return lower(actual) == lower(expected) || (expected == 'o' && actual == '0');
}

/// Would the character extend the last word of the prefix (`Message from your users`)?
bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// Does the text start with a header prefix? `skeleton` is a visual skeleton.
bool starts_like_header(std::string_view skeleton) {
  return std::ranges::any_of(kHeaderPrefixes, [&](std::string_view prefix) {
    prefix.remove_suffix(1);
    return skeleton.size() >= prefix.size() &&
           std::ranges::equal(skeleton.substr(0, prefix.size()), prefix, resembles) &&
           (skeleton.size() == prefix.size() || !is_alphanumeric(skeleton[prefix.size()]));
  });
}

/// Could a reader mistake the line for a header?
bool looks_like_header(std::string_view line) {
  const auto skeleton = visual_skeleton(line);
  LeadIn lead = start_lead_in(skeleton);
  while (take_lead_in_mark(skeleton, lead)) {}
  return starts_like_header(std::string_view{skeleton}.substr(lead.end));
}

/// A header inside the line, with its brackets: a narrow terminal could move it to the start of a row.
bool has_header_inside(std::string_view line) {
  const auto skeleton = visual_skeleton(line);
  const auto last_bracket = skeleton.rfind('[');
  if (last_bracket == std::string::npos) return false;
  for (std::size_t at = 0; at < last_bracket; ++at)
    if (starts_like_header(std::string_view{skeleton}.substr(at))) return true;
  return false;
}

bool is_deceptive(std::string_view body) {
  const auto one_line = text::sanitize_line(body, text::Invisible::Keep);
  if (looks_like_header(one_line) || has_header_inside(one_line)) return true;
  while (!body.empty()) {
    const auto end = std::min(body.find_first_of("\r\n"), body.size());
    if (looks_like_header(text::sanitize_line(body.substr(0, end), text::Invisible::Keep))) return true;
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return false;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? '\'' : c;
  return out + "\"";
}

/// Agents drop blanks at the end of input, and must be able to show the injected text completely.
std::string_view without_blank_end(std::string_view line) {
  while (!line.empty()) {
    auto last = line.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(line[last]) & 0xc0) == 0x80) --last;
    if (visual_skeleton(line.substr(last)) != " ") break;
    line = line.substr(0, last);
  }
  return line;
}

/// Quotes a name or path that could end its position in the line or that starts like a header.
std::string file_word(std::string_view text) {
  const auto line = text::sanitize_line(text);
  const auto word = trimmed(line);
  const auto skeleton = visual_skeleton(word);
  const bool plain = skeleton.find_first_of("()[]\":,") == std::string::npos && !looks_like_header(word);
  return plain ? std::string{word} : quoted(word);
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::uint64_t kKilo = 1024;
  if (bytes < kKilo) return format("{} bytes", bytes);
  if (bytes < kKilo * kKilo) return format("{} KB", (bytes + kKilo - 1) / kKilo);
  return format("{} MB", (bytes + kKilo * kKilo - 1) / (kKilo * kKilo));
}

}  // namespace

std::string header_tags(std::string_view kind, std::string_view topic, std::string_view reply_to) {
  std::string tags;
  if (!kind.empty() && kind != "message") tags += " [kind:" + header_word(kind) + "]";
  if (!topic.empty()) tags += " [topic:" + header_word(topic) + "]";
  if (!reply_to.empty()) tags += " [reply:" + header_word(reply_to.substr(0, kShownIdBytes)) + "]";
  return tags;
}

std::string_view importance_tag(std::optional<std::int64_t> importance) {
  if (!importance || *importance <= kImportant) return "";
  return *importance > kUrgent ? " [!!]" : " [!]";
}

std::string format_injected(const InjectedMessage& message) {
  std::string text{message.as_user ? kUserPrefix : kInjectedPrefix};
  text += header_word(message.from);
  text += " [" + header_word(message.id.substr(0, kShownIdBytes)) + "]";
  text += header_tags(message.kind, message.topic, message.reply_to);
  if (!message.thread.empty()) text += " [thread:" + header_word(message.thread) + "]";
  text += importance_tag(message.importance);
  if (message.to == "*")
    text += " [#general]";
  else if (message.to.starts_with('#'))
    text += " [" + header_word(message.to) + "]";
  if (!message.attachments.empty()) {
    text += " [Attachments: ";
    for (std::size_t i = 0; i < message.attachments.size(); ++i)
      text += (i == 0 ? "" : ", ") + header_word(message.attachments[i]);
    text += "]";
  }
  const auto line = text::sanitize_line(message.body);
  const auto body = without_blank_end(line);
  text += ": ";
  text += is_deceptive(message.body) ? quoted(body) : std::string{body};
  for (const auto& file : message.files) text += "\n" + attached_line(file);
  if (message.answer_expected)
    text += message.thread.empty() ? format("\n(answer expected: write to {})", header_word(message.from))
                                   : format("\n(answer expected: write to {} with [thread:{}])",
                                            header_word(message.from), header_word(message.thread));
  return text;
}

std::string attached_line(const AttachedFile& file) {
  return format("(attached: {}, {}: {})", file_word(file.name), format_size(file.bytes), file_word(file.path));
}

bool is_injected_text(std::string_view text) {
  return std::ranges::any_of(kHeaderPrefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool is_injected_line(std::string_view line) {
  LeadIn lead = start_lead_in(line);
  do {
    if (is_injected_text(line.substr(lead.end))) return true;
  } while (take_lead_in_mark(line, lead));
  return false;
}

}  // namespace relay::commands
