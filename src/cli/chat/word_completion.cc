#include "cli/chat/word_completion.h"

#include <algorithm>

#include "text/utf8.h"

namespace relay::cli {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t common_length(std::string_view a, std::string_view b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && lower(a[at]) == lower(b[at])) ++at;
  return at;
}

}  // namespace

WordCompletion complete_word(std::string_view word, const std::vector<std::string>& candidates) {
  WordCompletion done;
  for (const auto& candidate : candidates)
    if (common_length(word, candidate) == word.size()) done.choices.push_back(candidate);
  std::ranges::sort(done.choices);
  done.choices.erase(std::ranges::unique(done.choices).begin(), done.choices.end());
  if (done.choices.empty()) return done;
  const auto& first = done.choices.front();
  auto agreed = first.size();
  for (const auto& choice : done.choices) agreed = std::min(agreed, common_length(first, choice));
  done.text = text::truncate_utf8(first, agreed);
  return done;
}

}  // namespace relay::cli
