/// What Tab makes of a word when these are the words there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

struct WordCompletion {
  std::string text;                  // what the word becomes: as far as all candidates agree
  std::vector<std::string> choices;  // those that begin like the word, sorted, each once
};

/// Capitals and small letters of ASCII are the same; the text has those of the candidate.
WordCompletion complete_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace relay::cli
