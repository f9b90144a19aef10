/// The marks that may precede a command on its line: blanks, bullets, numbers, quote bars, prompt marks, box drawing.
///
/// A command must be at the start of a line; "I told @relay:Bob ..." is prose. A lead-in is how lists, quotes and
/// terminals decorate that start. A backslash, a backtick or a word is not a lead-in, so an escaped or quoted command
/// stays text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace relay::commands {

struct LeadIn {
  std::size_t end = 0;                          // where the text after it starts
  std::size_t quote_depth = 0;                  // the number of quote marks in it
  std::optional<std::size_t> list_marker = {};  // the position of its last list marker
};

/// Extends the lead-in by one mark and the blanks after it; false when there is no mark at `lead.end`.
bool take_lead_in_mark(std::string_view line, LeadIn& lead);

/// The blanks at the start of the line.
LeadIn start_lead_in(std::string_view line);

/// May a line with this first byte after the blanks contain a command or a mark of the grammar? One table lookup per
/// line is the whole cost of ordinary prose. The users of the table add their prefixes.
bool may_start_lead_in(unsigned char first);

}  // namespace relay::commands
