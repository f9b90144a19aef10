#include "store/text_search.h"

#include <algorithm>
#include <span>

#include "base/json.h"

namespace relay::store {
namespace {

// ASCII letters and digits, and every byte of a multi-byte character.
bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    if (is_word_byte(c)) {
      if (!inside) words.emplace_back();
      words.back() += lower(c);
    }
    inside = is_word_byte(c);
  }
  return words;
}

// The text contains the piece's words next to each other; the last one may be a prefix.
bool occurs(const std::vector<std::string>& piece, const std::vector<std::string>& text) {
  for (std::size_t at = 0; at + piece.size() <= text.size(); ++at) {
    const auto here = std::span{text}.subspan(at, piece.size());
    if (std::equal(piece.begin(), piece.end() - 1, here.begin()) && here.back().starts_with(piece.back())) return true;
  }
  return false;
}

}  // namespace

std::string body_text(std::string_view payload) {
  const auto object = parse_json_object(payload);
  if (!object) return {};
  return string_member(*object, "body").value_or("");
}

SearchQuery::SearchQuery(std::string_view typed) {
  std::size_t words = 0;
  for (std::size_t at = 0; at < typed.size() && words < kMaxSearchWords;) {
    if (is_space(typed[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < typed.size() && !is_space(typed[end])) ++end;
    auto piece = words_of(typed.substr(at, end - at));
    if (piece.size() > kMaxSearchWords) piece.resize(kMaxSearchWords);
    words += piece.size();
    if (!piece.empty()) pieces_.push_back(std::move(piece));
    at = end;
  }
}

bool SearchQuery::matches(std::string_view body) const {
  if (pieces_.empty()) return false;
  const auto text = words_of(body);
  return std::all_of(pieces_.begin(), pieces_.end(), [&](const auto& piece) { return occurs(piece, text); });
}

std::string SearchQuery::full_text_expression() const {
  std::string expression;
  for (const auto& piece : pieces_) {
    if (!expression.empty()) expression += " AND ";
    expression += '"';
    for (const auto& word : piece) {
      if (expression.back() != '"') expression += ' ';
      expression += word;
    }
    expression += "\"*";
  }
  return expression;
}

}  // namespace relay::store
