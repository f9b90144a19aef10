#include "cli/render/cost_table.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace relay::cli {
namespace {

std::string dollars(const events::CostBreakdown& costs) {
  if (!costs.estimated_cost_usd) return "?";
  return relay::format("${:.4f}{}", *costs.estimated_cost_usd, costs.partial ? "+" : "");
}

std::vector<std::string> row(std::string name, const events::CostBreakdown& costs) {
  return {std::move(name),
          short_count(costs.input_tokens),
          short_count(costs.output_tokens),
          short_count(costs.cache_read_tokens),
          short_count(costs.cache_write_tokens),
          dollars(costs)};
}

}  // namespace

std::string short_count(std::int64_t count) {
  if (count < 10'000) return relay::format("{}", count);
  if (count < 10'000'000) return relay::format("{:.1f} k", static_cast<double>(count) / 1e3);
  return relay::format("{:.1f} M", static_cast<double>(count) / 1e6);
}

std::string cost_table(std::string_view by, const std::map<std::string, events::CostBreakdown>& groups,
                       const events::CostBreakdown& total, const Styler& paint, std::size_t columns) {
  std::vector<std::pair<std::string, events::CostBreakdown>> rows{groups.begin(), groups.end()};
  std::ranges::sort(rows, [](const auto& one, const auto& other) {
    const auto cost = one.second.estimated_cost_usd.value_or(0), its = other.second.estimated_cost_usd.value_or(0);
    return cost != its ? cost > its : one.first < other.first;
  });
  Table table{{std::string{by}, "in", "out", "from cache", "to cache", "cost"}};
  for (const auto& [name, costs] : rows) table.add(row(sanitize(name, Lines::Join), costs));
  if (rows.size() > 1) table.add(row("all", total));
  return table.text(paint, columns);
}

}  // namespace relay::cli
