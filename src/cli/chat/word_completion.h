/// Completes a word from a list of candidates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

struct WordCompletion {
  std::string text;                  // the word, extended to the common prefix of all choices
  std::vector<std::string> choices;  // the candidates with this prefix, sorted, without duplicates
};

/// Ignores ASCII case; the result has the case of the candidate.
WordCompletion complete_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace relay::cli
