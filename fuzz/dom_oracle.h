/// Independent JSON parsers as test oracles: first simdjson's DOM, which shares no code with the scanner.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace relay::fuzz {

/// Far beyond the scanner's limit, and shallow enough for the recursive oracles.
inline constexpr std::size_t kDeepest = 1'024;

enum class Verdict { Object, Other, NotJson };

inline std::size_t depth_of(const simdjson::dom::element& element) {
  std::size_t deepest = 0;
  if (element.is_object()) {
    for (const auto field : simdjson::dom::object{element}) deepest = std::max(deepest, depth_of(field.value));
    return deepest + 1;
  }
  if (element.is_array()) {
    for (const auto child : simdjson::dom::array{element}) deepest = std::max(deepest, depth_of(child));
    return deepest + 1;
  }
  return 0;
}

inline std::size_t depth_of(const boost::json::value& value) {
  std::size_t deepest = 0;
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) deepest = std::max(deepest, depth_of(member.value()));
    return deepest + 1;
  }
  if (const auto* array = value.if_array()) {
    for (const auto& child : *array) deepest = std::max(deepest, depth_of(child));
    return deepest + 1;
  }
  return 0;
}

struct Opinion {
  Verdict verdict = Verdict::NotJson;
  std::size_t depth = 0;  // nesting of objects and arrays
  bool silent = false;    // the oracle has no result for this text
};

/// simdjson refuses numbers beyond 64 bits or the range of a double, which JSON allows. JavaScript writes such
/// integers, so the scanner accepts them, and a second oracle decides there.
inline Opinion ask_second_oracle(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kDeepest;
  boost::json::error_code error;
  const auto value = boost::json::parse(boost::json::string_view{text.data(), text.size()}, error, {}, options);
  if (error == boost::json::error::exponent_overflow || error == boost::json::error::too_deep) return {.silent = true};
  if (error) return {};
  return {value.is_object() ? Verdict::Object : Verdict::Other, depth_of(value)};
}

inline Opinion ask_dom(std::string_view text) {
  static simdjson::dom::parser parser;
  const simdjson::padded_string padded{text};
  simdjson::dom::element root;
  const auto error = parser.parse(padded).get(root);
  if (error == simdjson::NUMBER_ERROR) return ask_second_oracle(text);
  if (error == simdjson::DEPTH_ERROR) return {.silent = true};
  if (error != simdjson::SUCCESS) return {};
  return {root.is_object() ? Verdict::Object : Verdict::Other, depth_of(root)};
}

}  // namespace relay::fuzz
