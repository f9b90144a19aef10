/// Text without white space: agents store the same text with other line ends and indents in several files.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace relay::transcripts {

inline bool is_white_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

inline std::string without_white_space(std::string_view text) {
  std::string rest;
  std::ranges::copy_if(text, std::back_inserter(rest), [](char c) { return !is_white_space(c); });
  return rest;
}

}  // namespace relay::transcripts
