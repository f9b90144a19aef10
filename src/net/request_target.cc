#include "net/request_target.h"

#include <algorithm>

#include "base/format.h"
#include "text/utf8.h"

namespace relay::net {
namespace {

enum class Plus { Literal, Space };

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }

Result<std::string> decode(std::string_view text, Plus plus) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus == Plus::Space) {
      out.push_back(' ');
    } else if (text[at] != '%') {
      out.push_back(text[at]);
    } else {
      const int high = at + 1 < text.size() ? hex_value(text[at + 1]) : -1;
      const int low = at + 2 < text.size() ? hex_value(text[at + 2]) : -1;
      if (high < 0 || low < 0)
        return fail(TargetErrc::BadEscape,
                    "'%' in an address must be followed by two hexadecimal digits; write %25 for '%' itself");
      out.push_back(static_cast<char>(high * 16 + low));
      at += 2;
    }
  }
  if (out.size() > kMaxTargetPartBytes)
    return fail(TargetErrc::TooLong, format("a part of the address is longer than {} bytes", kMaxTargetPartBytes));
  if (!text::is_utf8(out)) return fail(TargetErrc::BadText, "a part of the address is not UTF-8");
  if (std::any_of(out.begin(), out.end(), is_control))
    return fail(TargetErrc::BadText, "a part of the address has a control character");
  return out;
}

}  // namespace

std::string_view describe(TargetErrc code) {
  switch (code) {
    case TargetErrc::BadEscape: return "a broken escape";
    case TargetErrc::BadText: return "not text";
    case TargetErrc::BadSegment: return "an empty or relative segment";
    case TargetErrc::TooMany: return "too many parts";
    case TargetErrc::TooLong: return "too long a part";
  }
  return "a bad address";
}

Result<std::vector<std::string>> path_segments(std::string_view path) {
  if (!path.starts_with('/')) return fail(TargetErrc::BadSegment, "a path must start with '/'");
  path.remove_prefix(1);
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> segments;
  for (bool more = !path.empty(); more;) {
    const auto slash = path.find('/');
    more = slash != std::string_view::npos;
    auto segment = RELAY_TRY(decode(path.substr(0, slash), Plus::Literal));
    if (segment.empty() || segment == "." || segment == "..")
      return fail(TargetErrc::BadSegment, "a path must not have segments that are empty, '.' or '..'");
    if (segments.size() == kMaxPathSegments)
      return fail(TargetErrc::TooMany, format("a path may have at most {} segments", kMaxPathSegments));
    segments.push_back(std::move(segment));
    if (more) path.remove_prefix(slash + 1);
  }
  return segments;
}

Result<QueryParameters> QueryParameters::parse(std::string_view text) {
  QueryParameters query;
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    if (query.pairs_.size() == kMaxQueryPairs)
      return fail(TargetErrc::TooMany, format("a query may have at most {} parameters", kMaxQueryPairs));
    const auto name = pair.substr(0, pair.find('='));
    const auto value = pair.substr(std::min(name.size() + 1, pair.size()));
    query.pairs_.push_back({RELAY_TRY(decode(name, Plus::Space)), RELAY_TRY(decode(value, Plus::Space))});
  }
  return query;
}

std::optional<std::string_view> QueryParameters::find(std::string_view name) const {
  for (const auto& pair : pairs_)
    if (pair.name == name) return pair.value;
  return std::nullopt;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.contains(c);
    if (plain)
      out.push_back(c);
    else
      out += format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace relay::net
