#include "permissions/policy.h"

#include "base/format.h"
#include "permissions/assessment.h"

namespace relay::permissions {

Policy::Policy(std::vector<Rule> own, std::string_view preset) : preset_{preset}, own_{std::move(own)} {
  RELAY_ASSERT(preset_rules(preset) != nullptr);
}

std::vector<std::string> Policy::own_rules_for(std::string_view agent) const {
  std::vector<std::string> labels;
  for (const auto& rule : own_)
    if (rule.is_about(agent)) labels.push_back(rule.spec().label);
  return labels;
}

Decision Policy::decide(const PermissionRequest& ask) const {
  const ParsedRequest parsed{ask};
  auto assessed = assess(parsed);
  Decision decision{.risk = assessed.risk, .risk_reason = std::move(assessed.reason)};
  for (const auto* rules : {&own_, preset_rules(preset_)}) {
    for (const auto& rule : *rules) {
      if (!rule.covers(parsed)) continue;
      const auto& spec = rule.spec();
      decision.action = spec.action;
      decision.risk = spec.risk.value_or(assessed.risk);
      decision.rule = spec.label;
      decision.timeout = spec.timeout;
      return decision;
    }
  }
  const bool has_rules = !own_.empty() || preset_ != kNoPreset;
  decision.rule = !has_rules || parsed.not_simple.empty()
                      ? "no rule applies"
                      : format("no rule approves it, because it is not one simple command: {}", parsed.not_simple);
  return decision;
}

}  // namespace relay::permissions
