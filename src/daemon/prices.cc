#include "daemon/prices.h"

#include "base/log.h"
#include "daemon/private_file.h"
#include "events/costs.h"

namespace relay::daemon {

events::CostModels load_prices(const std::string& path) {
  const events::CostModels built_in;
  bool exists = false;
  const auto text = read_small_file(path, exists);
  if (text && !exists) return built_in;
  auto models = text ? built_in.with_file(*text) : Result<events::CostModels>{Failure{text.error()}};
  if (models) return *std::move(models);
  log::warn("using the built-in prices", {{"file", path}, {"reason", models.error().message()}});
  return built_in;
}

records::PriceOf price_by(const std::string& path) {
  return [path](const std::vector<records::UsageSum>& sums) {
    const auto models = load_prices(path);
    events::CostAggregator costs{models};
    for (const auto& sum : sums)
      costs.add({.agent = sum.agent.value(),
                 .model = sum.model,
                 .session = sum.session.value(),
                 .thread = sum.thread,
                 .input = sum.input,
                 .output = sum.output,
                 .cache_read = sum.cache_read,
                 .cache_write = sum.cache_write,
                 .reasoning = sum.reasoning,
                 .reported_cost_usd = sum.cost});
    return costs.report().total.estimated_cost_usd;
  };
}

}  // namespace relay::daemon
