/// Fenced code in markdown: its content is an example, never a command.
///
/// After CommonMark: three or more backticks or tildes open, the same mark of at least that length closes, a shorter or
/// different one inside is text. Fences may be inside lists and quotes; leaving the quote ends the fence. One point is
/// more lenient than CommonMark: any indentation is accepted, because lists indent theirs.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace relay::commands {

struct CodeFence {
  char mark = '`';
  std::size_t length = 3;
  std::size_t quote_depth = 0;
};

/// The fence that this line opens.
std::optional<CodeFence> fence_opening(std::string_view line);

enum class FenceLine {
  Inside,  // code
  Closes,  // the closing mark, which is not text either
  Left,    // the quote around the fence has ended, and with it the fence; this line is outside
};
FenceLine classify_fence_line(const CodeFence& fence, std::string_view line);

}  // namespace relay::commands
