#include "host/delivery/evidence_matcher.h"

#include <algorithm>

namespace relay::host {
namespace {

std::string without_entities(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const bool less = rest.starts_with("&lt;"), more = rest.starts_with("&gt;");
    plain += less ? '<' : more ? '>' : rest.front();
    at += less || more ? 4 : 1;
  }
  return plain;
}

}  // namespace

EvidenceMatcher::EvidenceMatcher(std::string_view text) : text_{without_entities(text)} {}

bool EvidenceMatcher::can_start_at(std::size_t position) const {
  if (position == 0 || text_[position - 1] == '\n') return true;
  return text_[position - 1] == ' ' &&
         std::ranges::any_of(used_, [&](const auto& span) { return span.second + 1 == position; });
}

bool EvidenceMatcher::matches(std::string_view delivery) {
  const auto wanted = without_entities(delivery);
  if (wanted.empty()) return false;
  for (auto at = text_.find(wanted); at != std::string::npos; at = text_.find(wanted, at + 1)) {
    const auto end = at + wanted.size();
    const auto overlaps = [&](const auto& span) { return at < span.second && span.first < end; };
    if (!can_start_at(at) || std::ranges::any_of(used_, overlaps)) continue;
    used_.emplace_back(at, end);
    return true;
  }
  return false;
}

}  // namespace relay::host
