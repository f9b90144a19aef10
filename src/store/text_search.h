/// Search for messages by plain words, the same in every store.
///
/// A search is words, not a query language: each typed piece must occur, and the last word of a piece may be a prefix
/// ("buil" finds "builds"); case does not matter. A piece with punctuation ("foo-bar") is a sequence of adjacent words.
/// No input is a syntax error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::store {

inline constexpr std::size_t kMaxSearchWords = 64;  // more words are ignored

/// The readable text of a payload: its `body`, empty when it has none.
std::string body_text(std::string_view payload);

class SearchQuery {
 public:
  explicit SearchQuery(std::string_view typed);

  /// The input had only punctuation: no message matches.
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] bool matches(std::string_view body) const;

  /// The same query for SQLite's full-text index.
  [[nodiscard]] std::string full_text_expression() const;

 private:
  std::vector<std::vector<std::string>> pieces_;
};

}  // namespace relay::store
