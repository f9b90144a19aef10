#include "store/damage.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"

namespace relay::store {

void Damage::add(Damage other) {
  for (auto& finding : other.findings)
    if (std::ranges::find(findings, finding) == findings.end()) findings.push_back(std::move(finding));
  std::ranges::move(other.files, std::back_inserter(files));
  lost_messages += other.lost_messages;
  more_lost = more_lost || other.more_lost;
  counted = counted && other.counted;
  refused = std::max(refused, other.refused);
}

std::string Damage::joined_findings() const {
  std::string text;
  for (const auto& finding : findings) text += (text.empty() ? "" : "; ") + finding;
  return text;
}

std::string Damage::message() const {
  const auto text = joined_findings();
  if (text.empty()) return text;
  if (lost_messages == 0 && !counted) return text;
  if (lost_messages == 0) return text + "; no acknowledged message is lost";
  return text + format("; at {} {} acknowledged message{} lost", more_lost ? "least" : "most", lost_messages,
                       lost_messages == 1 ? " is" : "s are");
}

Damage damage_at_runtime(const Error& error) {
  return {.findings = {error.message()}, .lost_messages = 0, .counted = false, .refused = 0, .files = {}};
}

}  // namespace relay::store
