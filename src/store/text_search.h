/// Finding messages by plain words, the same way whatever the store.
///
/// A person types words, not a query language: each typed piece must occur, the last word of a piece may be a
/// beginning ("buil" finds "builds"), letters compare without case. Pieces with punctuation inside ("foo-bar") are
/// words that must stand next to each other. Nothing a person can type is a syntax error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::store {

inline constexpr std::size_t kMaxSearchWords = 64;  // further words of one search are ignored

/// The text people read in a payload: its `body`, or nothing when it has none.
std::string body_text(std::string_view payload);

class SearchQuery {
 public:
  explicit SearchQuery(std::string_view typed);

  /// Only punctuation was typed: fits nothing.
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] bool matches(std::string_view body) const;

  /// The same question for SQLite's full-text index.
  [[nodiscard]] std::string full_text_expression() const;

 private:
  std::vector<std::vector<std::string>> pieces_;
};

}  // namespace relay::store
