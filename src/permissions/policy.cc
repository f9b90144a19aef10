#include "permissions/policy.h"

#include "base/format.h"
#include "permissions/assessment.h"

namespace relay::permissions {

Policy::Policy(std::vector<Rule> own, std::string_view preset) : preset_{preset}, own_{std::move(own)} {
  RELAY_ASSERT(preset_rules(preset) != nullptr);
}

std::vector<std::string> Policy::own_rules_for(std::string_view agent) const {
  std::vector<std::string> words;
  for (const auto& rule : own_)
    if (rule.is_about(agent)) words.push_back(rule.text().words);
  return words;
}

Decision Policy::decide(const PermissionRequest& ask) const {
  const ParsedRequest seen{ask};
  auto assessed = assess(seen);
  Decision decision{.risk = assessed.risk, .risk_reason = std::move(assessed.danger)};
  for (const auto* rules : {&own_, preset_rules(preset_)}) {
    for (const auto& rule : *rules) {
      if (!rule.covers(seen)) continue;
      const auto& text = rule.text();
      decision.action = text.action;
      decision.risk = text.risk.value_or(assessed.risk);
      decision.rule = text.words;
      decision.timeout = text.timeout;
      return decision;
    }
  }
  const bool has_rules = !own_.empty() || preset_ != kNoPreset;
  decision.rule = !has_rules || seen.not_simple.empty()
                      ? "no rule speaks of it"
                      : format("no rule approves what is not one simple command: {}", seen.not_simple);
  return decision;
}

}  // namespace relay::permissions
