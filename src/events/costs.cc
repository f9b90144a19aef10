#include "events/costs.h"

#include <cmath>
#include <limits>

namespace relay::events {
namespace {

constexpr std::int64_t kMaxValue = std::numeric_limits<std::int64_t>::max();
constexpr double kPicodollars = 1e12;         // in a dollar
constexpr double kPicodollarsPerToken = 1e6;  // at one dollar for a million

void add_saturating(std::int64_t& sum, std::int64_t more) {
  if (more <= 0) return;  // sums never shrink
  if (__builtin_add_overflow(sum, more, &sum)) sum = kMaxValue;
}

std::int64_t whole(double picodollars) {
  if (!(picodollars > 0)) return 0;
  return picodollars >= static_cast<double>(kMaxValue) ? kMaxValue : std::llround(picodollars);
}

std::int64_t price_of(std::int64_t tokens, double per_1m) {
  if (tokens <= 0) return 0;
  return whole(static_cast<double>(tokens) * std::round(per_1m * kPicodollarsPerToken));
}

CostBreakdown breakdown_of(CostBreakdown tokens, std::int64_t picodollars, bool priced, bool unpriced) {
  if (priced) tokens.estimated_cost_usd = static_cast<double>(picodollars) / kPicodollars;
  tokens.partial = unpriced;
  return tokens;
}

}  // namespace

std::optional<std::int64_t> CostAggregator::cost_of(const UsageSample& usage) const {
  if (usage.reported_cost_usd && std::isfinite(*usage.reported_cost_usd))
    return whole(*usage.reported_cost_usd * kPicodollars);
  const auto* model = models_.find(usage.model);
  if (model == nullptr) return std::nullopt;
  std::int64_t cost = price_of(usage.input, model->input_per_1m);
  add_saturating(cost, price_of(usage.output, model->output_per_1m));
  add_saturating(cost, price_of(usage.cache_read, model->cache_read_per_1m.value_or(model->input_per_1m)));
  add_saturating(cost, price_of(usage.cache_write, model->cache_write_per_1m.value_or(model->input_per_1m)));
  return cost;
}

void CostAggregator::add(const UsageSample& usage) {
  const auto cost = cost_of(usage);
  const auto named = [](const std::string& name) { return name.empty() ? kUnknownGroup : std::string_view{name}; };
  if (!cost && unpriced_.size() < kMaxGroups) unpriced_.emplace(named(usage.model));
  add_to(total_, usage, cost);
  add_to(by_agent_, named(usage.agent), usage, cost);
  add_to(by_model_, named(usage.model), usage, cost);
  if (!usage.session.empty()) add_to(by_session_, usage.session, usage, cost);
  if (!usage.thread.empty()) add_to(by_thread_, usage.thread, usage, cost);
}

void CostAggregator::add_to(Sum& sum, const UsageSample& usage, std::optional<std::int64_t> cost) {
  add_saturating(sum.tokens.input_tokens, usage.input);
  add_saturating(sum.tokens.output_tokens, usage.output);
  add_saturating(sum.tokens.cache_read_tokens, usage.cache_read);
  add_saturating(sum.tokens.cache_write_tokens, usage.cache_write);
  add_saturating(sum.tokens.reasoning_tokens, usage.reasoning);
  for (const auto tokens : {usage.input, usage.output, usage.cache_read, usage.cache_write})
    add_saturating(sum.tokens.total_tokens, tokens);
  add_saturating(sum.picodollars, cost.value_or(0));
  sum.priced = sum.priced || cost;
  sum.unpriced = sum.unpriced || !cost;
}

void CostAggregator::add_to(Sums& sums, std::string_view name, const UsageSample& usage,
                            std::optional<std::int64_t> cost) {
  auto found = sums.find(name);
  if (found == sums.end() && sums.size() >= kMaxGroups - 1) {
    name = kOtherGroup;
    found = sums.find(name);
  }
  if (found == sums.end()) found = sums.emplace(name, Sum{}).first;
  add_to(found->second, usage, cost);
}

CostReport CostAggregator::report() const {
  const auto breakdown = [](const Sum& sum) {
    return breakdown_of(sum.tokens, sum.picodollars, sum.priced, sum.unpriced);
  };
  const auto all = [&](const Sums& sums) {
    std::map<std::string, CostBreakdown> groups;
    for (const auto& [name, sum] : sums) groups.emplace(name, breakdown(sum));
    return groups;
  };
  return {.total = breakdown(total_),
          .by_agent = all(by_agent_),
          .by_model = all(by_model_),
          .by_session = all(by_session_),
          .by_thread = all(by_thread_),
          .unpriced = {unpriced_.begin(), unpriced_.end()}};
}

}  // namespace relay::events
