#include "store/damage.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"

namespace relay::store {

void Damage::add(Damage other) {
  std::ranges::move(other.findings, std::back_inserter(findings));
  std::ranges::move(other.kept, std::back_inserter(kept));
  lost_messages += other.lost_messages;
}

std::string Damage::sentence() const {
  std::string text;
  for (const auto& finding : findings) text += (text.empty() ? "" : "; ") + finding;
  if (text.empty()) return text;
  if (lost_messages == 0) return text + "; no acknowledged message is lost";
  return text + format("; at most {} acknowledged message{} lost", lost_messages, lost_messages == 1 ? " is" : "s are");
}

}  // namespace relay::store
