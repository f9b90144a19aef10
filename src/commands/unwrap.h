/// Lines as a person would have typed them, from rows as a program drew them.
///
/// Agents wrap their text themselves, so the terminal's own wrap marks say nothing. What tells is room: if the next
/// row's first word would have fitted on this one, the break was meant; if not, the program had to wrap. A word longer
/// than a row, a path broken after `/` and text without blanks are joined without one; everything else with one blank.
/// Empty rows, list items, table rows, headings and rules end a paragraph whatever the room.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "commands/prefix_table.h"

namespace relay::commands {

/// One row of a region of the screen that holds what the agent said, without the region's own mark and indentation.
struct ScreenLine {
  std::string text = {};
  std::size_t indent = 0;  // columns between the region's edge and the text
  std::size_t width = 0;   // columns of the region; 0 when unknown
  bool soft = false;       // the terminal itself wrapped here: the next row goes on without a break
};

struct UnwrappedLine {
  std::string text = {};      // with its indentation
  std::size_t first_row = 0;  // index of the row it begins in
  std::size_t rows = 1;

  bool operator==(const UnwrappedLine&) const = default;
};

/// `prefixes` says what begins a command: such a row is a line of its own unless it stands in mid-sentence.
std::vector<UnwrappedLine> unwrap(std::span<const ScreenLine> rows, const PrefixTable& prefixes);

}  // namespace relay::commands
