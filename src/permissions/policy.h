/// Decides which permission requests are approved without the user.
///
/// Rules are tried in order, and the first that covers a request decides: the user's own rules, then those of the
///   preset the user switched on; without one the user decides. docs/permissions.md explains it for users.
/// Invariants: see Rule; without a rule that covers it no request is approved or denied.
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
  /// No rules: the user decides everything. Also used when the rules cannot be read, because one of them might have
  ///   applied.
  Policy() = default;
  /// The user's own rules before those of the preset, which must exist.
  explicit Policy(std::vector<Rule> own, std::string_view preset = kNoPreset);

  [[nodiscard]] Decision decide(const PermissionRequest& ask) const;

  [[nodiscard]] std::string_view preset() const { return preset_; }
  /// The user's own rules that apply to an agent of that name, as `config.toml:12`.
  [[nodiscard]] std::vector<std::string> own_rules_for(std::string_view agent) const;

 private:
  std::string preset_{kNoPreset};
  std::vector<Rule> own_;
};

}  // namespace relay::permissions
