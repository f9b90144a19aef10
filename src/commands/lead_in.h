/// What may stand before a command on its line: blanks, bullets, numbers, quote bars, prompt marks, box drawing.
///
/// Only the start of a line commands; "I told @relay:Bob ..." is prose. A lead-in is how lists, quotes and terminals
/// decorate that start. A backslash, a backtick or a word is no lead-in, so an escaped or quoted command stays text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace relay::commands {

struct LeadIn {
  std::size_t end = 0;                          // where the text after it begins
  std::size_t quote_depth = 0;                  // quote marks in it
  std::optional<std::size_t> list_marker = {};  // where its last list marker stands
};

/// Takes one mark and the blanks after it off the text at `lead.end`; false when none stands there.
bool take_lead_in_mark(std::string_view line, LeadIn& lead);

/// The blanks before anything else.
LeadIn begin_lead_in(std::string_view line);

/// May a line whose first byte after the blanks is this one matter to the grammar at all? One table look-up per line is
/// what ordinary prose costs. Prefixes are added to the table by their users.
bool may_begin_lead_in(unsigned char first);

}  // namespace relay::commands
