/// What may be approved without a person.
///
/// Rules are tried in order, and the first that covers an ask decides: a person's own rules, then those of the preset
///   they switched on, then a person. docs/permissions.md says what that means for people.
/// Invariants: see Rule; without a rule that covers it nothing is approved or denied.
/// Threading: immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "permissions/permission_request.h"
#include "permissions/presets.h"
#include "permissions/rule.h"

namespace relay::permissions {

class Policy {
 public:
  /// No rule: a person decides everything. Also used when the rules cannot be read, because one of them may have been
  /// about this.
  Policy() = default;
  /// Own rules before those of the preset, which must exist.
  explicit Policy(std::vector<Rule> own, std::string_view preset = kNoPreset);

  [[nodiscard]] Decision decide(const PermissionRequest& ask) const;

  [[nodiscard]] std::string_view preset() const { return preset_; }
  /// The person's own rules that are about an agent of that name, as `config.toml:12`.
  [[nodiscard]] std::vector<std::string> own_rules_for(std::string_view agent) const;

 private:
  std::string preset_{kNoPreset};
  std::vector<Rule> own_;
};

}  // namespace relay::permissions
