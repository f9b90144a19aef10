#include "permissions/policy.h"

#include "base/format.h"
#include "permissions/assessment.h"

namespace relay::permissions {

Policy::Policy(std::vector<Rule> own) : rules_{std::move(own)} {
  rules_.insert(rules_.end(), default_rules().begin(), default_rules().end());
}

Policy Policy::ask_always() {
  Policy policy;
  policy.rules_.clear();
  return policy;
}

Decision Policy::decide(const Ask& ask) const {
  const Seen seen{ask};
  auto assessed = assess(seen);
  Decision decision{.risk = assessed.risk, .danger = std::move(assessed.danger)};
  for (const auto& rule : rules_) {
    if (!rule.covers(seen)) continue;
    const auto& text = rule.text();
    decision.action = text.action;
    decision.risk = text.risk.value_or(assessed.risk);
    decision.rule = text.words;
    decision.timeout = text.timeout;
    return decision;
  }
  decision.rule = seen.not_simple.empty()
                      ? "no rule speaks of it"
                      : format("no rule approves what is not one simple command: {}", seen.not_simple);
  return decision;
}

}  // namespace relay::permissions
