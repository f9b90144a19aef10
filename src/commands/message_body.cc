#include "commands/message_body.h"

#include <algorithm>

#include "commands/line_shape.h"

namespace relay::commands {
namespace {

constexpr std::string_view kOpens = "<<<";
constexpr std::string_view kCloses = ">>>";

bool closes_at_start(std::string_view text) {
  return text.starts_with(kCloses) && (text.size() == kCloses.size() || text[kCloses.size()] != '>');
}

bool closes_at_end(std::string_view text) {
  if (!text.ends_with(kCloses)) return false;
  const auto before = text.substr(0, text.size() - kCloses.size());
  return !before.ends_with('>') && !before.ends_with('\\');
}

/// Markdown renderers take `>>>` for nested quotes and draw `│ >>`, `▎▎▎` and the like: three marks and no other text.
bool closes_as_drawn(std::string_view text) {
  const auto unquoted = without_quote_marks(text, kCloses.size());
  return unquoted.depth == kCloses.size() && is_blank_line(unquoted.text);
}

}  // namespace

bool opens_body(std::string_view text) {
  return text.starts_with(kOpens) && (text.size() == kOpens.size() || text[kOpens.size()] != '<');
}

std::string_view without_lead(std::string_view line, const LeadIn& lead) {
  line = without_quote_marks(line, lead.quote_depth).text;
  if (lead.quote_depth == 0) line.remove_prefix(std::min(leading_blanks(line), lead.end));
  return line;
}

MessageBody::Step MessageBody::take(std::string_view line) {
  const auto text = without_lead(line, lead_);
  const auto bare = trimmed(text);
  if (code_) {
    if (bare == kCloses) return {.closed = true, .rest = {}};
    if (classify_fence_line(*code_, text) != FenceLine::Inside) code_.reset();
    append(text);
    return {};
  }
  if (closes_at_start(bare)) return {.closed = true, .rest = trimmed(bare.substr(kCloses.size()))};
  if (surface_ == Surface::Screen && closes_as_drawn(bare)) return {.closed = true, .rest = {}};
  if (closes_at_end(bare)) {
    const auto end = trimmed_right(text);
    append(end.substr(0, end.size() - kCloses.size()));
    return {.closed = true, .rest = {}};
  }
  code_ = fence_opening(text);
  append(text);
  return {};
}

void MessageBody::append(std::string_view line) {
  if (overlong_ || text_.size() + line.size() + 1 > max_bytes_) {
    overlong_ = true;
    return;
  }
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto next = line.substr(at + 1);
    if (line[at] == '\\' && (next.starts_with(kOpens) || next.starts_with(kCloses))) continue;
    text_ += line[at];
  }
  text_ += '\n';
}

std::string MessageBody::text() const { return std::string{trimmed(text_)}; }

}  // namespace relay::commands
