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
inline constexpr std::size_t kMaxOracleDepth = 1'024;

enum class RootKind { Object, Other, NotJson };

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

struct OracleResult {
  RootKind root = RootKind::NotJson;
  std::size_t depth = 0;   // nesting of objects and arrays
  bool undecided = false;  // the oracle cannot judge this text
};

/// simdjson refuses numbers beyond 64 bits or the range of a double, which JSON allows. JavaScript writes such
/// integers, so the scanner accepts them, and a second oracle decides there.
inline OracleResult parse_with_boost(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kMaxOracleDepth;
  boost::json::error_code error;
  const auto value = boost::json::parse(boost::json::string_view{text.data(), text.size()}, error, {}, options);
  if (error == boost::json::error::exponent_overflow || error == boost::json::error::too_deep)
    return {.undecided = true};
  if (error) return {};
  return {value.is_object() ? RootKind::Object : RootKind::Other, depth_of(value)};
}

inline OracleResult parse_with_dom(std::string_view text) {
  static simdjson::dom::parser parser;
  const simdjson::padded_string padded{text};
  simdjson::dom::element root;
  const auto error = parser.parse(padded).get(root);
  if (error == simdjson::NUMBER_ERROR) return parse_with_boost(text);
  if (error == simdjson::DEPTH_ERROR) return {.undecided = true};
  if (error != simdjson::SUCCESS) return {};
  return {root.is_object() ? RootKind::Object : RootKind::Other, depth_of(root)};
}

}  // namespace relay::fuzz
