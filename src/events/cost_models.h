/// The prices of models, in dollars per million tokens.
///
/// Prices change: the built-in prices have a date, and `cost-models.json` in the home replaces or adds to them. A model
///   without a price has no cost, which is not the same as costing nothing.
/// Left out: prices that depend on the length of a prompt, on speed or on how long a cache is kept. The standard price
///   is used, so a cost is an estimate; a cost that the agent reports replaces it (costs.h).
/// Threading: values; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/schema.h"

namespace relay::events {

struct CostModel {
  std::string model = {};
  double input_per_1m = 0;
  double output_per_1m = 0;
  std::optional<double> cache_read_per_1m = {};   // absent: as input
  std::optional<double> cache_write_per_1m = {};  // absent: as input
};

inline constexpr std::string_view kDefaultPricesOf = "2026-10";
inline constexpr std::size_t kMaxCostModels = 2'000;

class CostModels {
 public:
  /// The built-in prices.
  CostModels();

  /// The current prices, with those of a `cost-models.json` added or replaced: a list of models, or a map from their
  /// names. One wrong entry rejects the file, with one sentence; the caller then keeps the prices it had.
  [[nodiscard]] Result<CostModels> with_file(std::string_view text) const;

  /// Finds a model by its name, also with a maker before it (`anthropic/...`) or with a date, a version or a mode after
  /// it (`-20250929`, `-2025-08-07`, `-latest`, `-preview`, `@...`, `:...`, `[1m]`); the longest match wins.
  [[nodiscard]] const CostModel* find(std::string_view model) const;

  [[nodiscard]] const std::vector<CostModel>& all() const { return models_; }

 private:
  void set(CostModel model);

  std::vector<CostModel> models_;  // by name
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kObject<events::CostModel> =
    object("CostModel", "The price of a model.",
           member<&events::CostModel::model>("model", "its name, without a date", {.min = 1, .max = 256}),
           member<&events::CostModel::input_per_1m>("inputPer1M", "dollars per million input tokens"),
           member<&events::CostModel::output_per_1m>("outputPer1M", "dollars per million output tokens"),
           member<&events::CostModel::cache_read_per_1m>(
               "cacheReadPer1M", "dollars per million tokens read from the cache; absent: as input"),
           member<&events::CostModel::cache_write_per_1m>(
               "cacheWritePer1M", "dollars per million tokens written to the cache; absent: as input"));

}  // namespace relay::schema
