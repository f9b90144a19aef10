#include "speech/injection.h"

#include <algorithm>

#include "speech/lead_in.h"
#include "speech/line_shape.h"
#include "speech/plain_text.h"

namespace relay::speech {
namespace {

constexpr std::size_t kShownIdBytes = 8;
constexpr std::int64_t kImportant = 50;
constexpr std::int64_t kUrgent = 75;

/// A word of the header: no brackets, so that a name or a thread cannot close a tag and open its own.
std::string header_word(std::string_view text) {
  auto word = harmless_line(text);
  std::ranges::replace(word, '[', '(');
  std::ranges::replace(word, ']', ')');
  return std::string{trimmed(word)};
}

bool is_invisible(std::string_view character) {
  return character == "\u200b" || character == "\u200c" || character == "\u200d" || character == "\u2060" ||
         character == "\ufeff" || character == "\u00ad";
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Would a reader take the text for a header? Letters in any case; blanks and invisible characters do not help.
bool poses_as_header(std::string_view text) {
  std::string_view wanted = kInjectedWord;
  LeadIn lead = begin_lead_in(text);
  while (take_lead_in_mark(text, lead)) {}
  text.remove_prefix(lead.end);
  while (!text.empty() && !wanted.empty()) {
    const auto character = text.substr(0, character_bytes(text));
    const bool blank = character == " " || character == "\t" || character == "\u00a0";
    if (is_invisible(character)) {
      text.remove_prefix(character.size());
    } else if (wanted[0] == ' ') {
      if (!blank) return false;
      wanted.remove_prefix(1);
      while (!text.empty()) {
        const auto next = text.substr(0, character_bytes(text));
        if (next != " " && next != "\t" && next != "\u00a0" && !is_invisible(next)) break;
        text.remove_prefix(next.size());
      }
    } else {
      if (character.size() != 1 || lower(character[0]) != lower(wanted[0])) return false;
      text.remove_prefix(1);
      wanted.remove_prefix(1);
    }
  }
  return wanted.empty() || wanted == " ";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? '\'' : c;
  return out + "\"";
}

}  // namespace

std::string injection_text(const InjectedMessage& message) {
  std::string text{kInjectedWord};
  text += header_word(message.from);
  text += " [" + header_word(message.id.substr(0, kShownIdBytes)) + "]";
  if (!message.thread.empty()) text += " [thread:" + header_word(message.thread) + "]";
  if (message.importance && *message.importance > kImportant) text += *message.importance > kUrgent ? " [!!]" : " [!]";
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
  const auto body = harmless_line(message.body);
  text += ": ";
  text += poses_as_header(body) ? quoted(body) : body;
  return text;
}

bool is_injected_line(std::string_view line) {
  LeadIn lead = begin_lead_in(line);
  do {
    if (line.substr(lead.end).starts_with(kInjectedWord)) return true;
  } while (take_lead_in_mark(line, lead));
  return false;
}

}  // namespace relay::speech
