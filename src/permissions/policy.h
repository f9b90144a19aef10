/// What may be approved without a person.
///
/// Rules are asked in order, and the first that covers an ask decides; behind a person's own rules stand the default
///   ones, and behind these a person. docs/permissions.md says what that means for people.
/// Invariants: see Rule; without a rule that covers it nothing is approved or denied.
/// Threading: immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "permissions/ask.h"
#include "permissions/rule.h"

namespace relay::permissions {

/// Looking is approved, what destroys is critical, all else is asked.
const std::vector<Rule>& default_rules();

class Policy {
 public:
  /// The default rules alone.
  Policy() : Policy{std::vector<Rule>{}} {}
  /// Own rules before the default ones.
  explicit Policy(std::vector<Rule> own);
  /// A person decides everything: for when the rules cannot be read, because one of them may have been about this.
  static Policy ask_always();

  [[nodiscard]] Decision decide(const Ask& ask) const;

 private:
  std::vector<Rule> rules_;
};

}  // namespace relay::permissions
