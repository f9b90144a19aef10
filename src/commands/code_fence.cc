#include "commands/code_fence.h"

#include <algorithm>

#include "commands/line_shape.h"

namespace relay::commands {
namespace {

constexpr std::size_t kShortestFence = 3;

std::size_t run_of(char mark, std::string_view text) { return std::min(text.find_first_not_of(mark), text.size()); }

/// `>` with the blanks around it, as markdown writes quotes.
bool take_quote_mark(std::string_view& text) {
  const auto rest = text.substr(leading_blanks(text));
  if (!rest.starts_with('>')) return false;
  text = rest.substr(1);
  return true;
}

}  // namespace

std::optional<CodeFence> fence_opening(std::string_view line) {
  CodeFence fence;
  auto text = line;
  while (true) {
    if (take_quote_mark(text)) {
      ++fence.quote_depth;
    } else if (const auto item = list_item(text)) {
      text.remove_prefix(item->content);
    } else {
      break;
    }
  }
  text.remove_prefix(leading_blanks(text));
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return std::nullopt;
  fence.mark = text[0];
  fence.length = run_of(fence.mark, text);
  if (fence.length < kShortestFence) return std::nullopt;
  const auto info = text.substr(fence.length);
  if (fence.mark == '`' && info.find('`') != std::string_view::npos) return std::nullopt;  // code on one line
  return fence;
}

FenceLine classify_fence_line(const CodeFence& fence, std::string_view line) {
  auto text = line;
  for (std::size_t depth = 0; depth < fence.quote_depth; ++depth)
    if (!take_quote_mark(text)) return FenceLine::Left;
  text.remove_prefix(leading_blanks(text));
  const auto length = run_of(fence.mark, text);
  return length >= fence.length && is_blank_line(text.substr(length)) ? FenceLine::Closes : FenceLine::Inside;
}

}  // namespace relay::commands
