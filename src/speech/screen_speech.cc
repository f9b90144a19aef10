#include "speech/screen_speech.h"

#include "speech/line_grammar.h"

namespace relay::speech {

std::vector<Utterance> hear_screen(std::span<const DrawnLine> rows, GrammarOptions options) {
  options.surface = Surface::Screen;
  LineGrammar grammar{std::move(options)};
  for (const auto& line : unwrap(rows, grammar.prefixes()))
    grammar.take({.text = std::string_view{line.text}.substr(0, kMaxLineBytes),
                  .offset = line.first_row,
                  .number = line.first_row + 1,
                  .cut = line.text.size() > kMaxLineBytes,
                  .may_hold_trigger = line.text.find(kFileWordEnd) != std::string::npos});
  grammar.finish();
  return grammar.heard();
}

}  // namespace relay::speech
