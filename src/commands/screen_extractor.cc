#include "commands/screen_extractor.h"

#include "commands/line_grammar.h"

namespace relay::commands {

std::vector<Command> extract_from_screen(std::span<const ScreenLine> rows, GrammarOptions options) {
  options.surface = Surface::Screen;
  LineGrammar grammar{std::move(options)};
  for (const auto& line : unwrap(rows, grammar.prefixes()))
    grammar.take({.text = std::string_view{line.text}.substr(0, kMaxLineBytes),
                  .offset = line.first_row,
                  .number = line.first_row + 1,
                  .cut = line.text.size() > kMaxLineBytes,
                  .may_hold_trigger = line.text.find(kFilePrefixEnd) != std::string::npos});
  grammar.finish();
  return grammar.take_commands();
}

}  // namespace relay::commands
