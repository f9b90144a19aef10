/// Any cost-models.json: prices or one error. Every price found is usable in arithmetic.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "check.h"
#include "events/costs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace relay::events;
  static const CostModels kDefaults;
  const std::string text{reinterpret_cast<const char*>(bytes), size};
  (void)kDefaults.find(text);
  const auto models = kDefaults.with_file(text);
  if (!models) {
    FUZZ_CHECK(!models.error().message().empty());
    return 0;
  }
  CostAggregator aggregator{*models};
  for (const auto& model : models->all()) {
    FUZZ_CHECK(models->find(model.model) != nullptr);
    aggregator.add({.model = model.model, .input = 1'000, .output = 1'000, .cache_read = 1, .cache_write = 1});
  }
  const auto cost = aggregator.report().total.estimated_cost_usd;
  FUZZ_CHECK(cost && std::isfinite(*cost) && *cost >= 0);
  return 0;
}
