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
  WordCompletion completion;
  for (const auto& candidate : candidates)
    if (common_length(word, candidate) == word.size()) completion.choices.push_back(candidate);
  std::ranges::sort(completion.choices);
  completion.choices.erase(std::ranges::unique(completion.choices).begin(), completion.choices.end());
  if (completion.choices.empty()) return completion;
  const auto& first = completion.choices.front();
  auto common = first.size();
  for (const auto& choice : completion.choices) common = std::min(common, common_length(first, choice));
  completion.text = text::truncate_utf8(first, common);
  return completion;
}

}  // namespace relay::cli
