/// Restores the lines of a text from the rows in which a program drew it.
///
/// Agents wrap their text themselves, so the terminal's own wrap marks are of no use. The available room decides: if
/// the next row's first word would have fitted on this one, the break was intended; if not, the program had to wrap. A
/// word longer than a row, a path broken after `/` and text without blanks are joined without a blank; everything else
/// with one. Empty rows, list items, table rows, headings and rules always end a paragraph.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "commands/prefix_table.h"

namespace relay::commands {

/// One row of a screen region with text of the agent, without the region's own mark and indentation.
struct ScreenLine {
  std::string text = {};
  std::size_t indent = 0;  // columns between the region's edge and the text
  std::size_t width = 0;   // columns of the region; 0 when unknown
  bool soft = false;       // the terminal itself wrapped here: the next row continues without a break
};

struct UnwrappedLine {
  std::string text = {};      // with its indentation
  std::size_t first_row = 0;  // index of its first row
  std::size_t rows = 1;

  bool operator==(const UnwrappedLine&) const = default;
};

/// `prefixes` detects commands: such a row is its own line unless it is inside a sentence.
std::vector<UnwrappedLine> unwrap(std::span<const ScreenLine> rows, const PrefixTable& prefixes);

}  // namespace relay::commands
