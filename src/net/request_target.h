/// Parsers of the path and the query of a request. Pure.
///
/// Why segments are decoded after the split: "%2F" in a name is a character of that name, not a separator.
/// Invariants: all output is UTF-8 without control characters; no segment is empty, "." or ".."; counts and lengths are
///   bounded. Input that cannot be decoded is an error with a message, never a guess.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::net {

enum class TargetErrc { BadEscape, BadText, BadSegment, TooMany, TooLong };
std::string_view describe(TargetErrc code);

inline constexpr std::size_t kMaxPathSegments = 32;
inline constexpr std::size_t kMaxQueryPairs = 64;
inline constexpr std::size_t kMaxTargetPartBytes = 4 * 1024;  // of one segment, name or value, decoded

/// "/api/v1/agents/J%C3%BCrgen" is {"api", "v1", "agents", "Jürgen"}; "/" is {}. One trailing slash is allowed.
Result<std::vector<std::string>> path_segments(std::string_view path);

struct QueryPair {
  std::string name;
  std::string value;

  bool operator==(const QueryPair&) const = default;
};

/// The pairs behind '?', in order: "a=1&b=x+y&flag" is {a: "1"}, {b: "x y"}, {flag: ""}. '+' is a space, as in forms.
class QueryParameters {
 public:
  static Result<QueryParameters> parse(std::string_view text);

  /// The first pair with this name; names are case-sensitive.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] const std::vector<QueryPair>& pairs() const { return pairs_; }

 private:
  std::vector<QueryPair> pairs_;
};

/// Escapes the text so that both parsers above restore it: for links we generate.
std::string percent_encoded(std::string_view text);

}  // namespace relay::net
