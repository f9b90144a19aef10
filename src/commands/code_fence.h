/// Fenced code in markdown: what stands inside is an example, never a command.
///
/// After CommonMark: three or more backticks or tildes open, the same mark at least as long closes, a shorter or other
/// one inside is text. Fences may stand in lists and quotes; leaving the quote ends the fence. More lenient than
/// CommonMark in one point: any indentation is taken, because lists indent theirs.
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

/// The fence this line opens.
std::optional<CodeFence> fence_opening(std::string_view line);

enum class FenceLine {
  Inside,  // code
  Closes,  // the closing mark; itself not text either
  Left,    // the quote around the fence has ended: the fence is over, and this line stands outside
};
FenceLine classify_fence_line(const CodeFence& fence, std::string_view line);

}  // namespace relay::commands
