/// What models cost, in dollars per million tokens.
///
/// Prices change: those that come with the program have a date, and `cost-models.json` in the home replaces or adds to
///   them. A model without a price has no cost, which is not the same as costing nothing.
/// What is left out: prices that depend on the length of a prompt, on speed or on how long a cache is kept. The usual
///   price is taken, so a cost is an estimate; where an agent tells the cost itself, that is taken instead (costs.h).
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
  /// Those that come with the program.
  CostModels();

  /// These, and those of a `cost-models.json` instead or besides: a list of models, or a map from their names. One wrong
  /// entry refuses the file, in one sentence; whoever gets it keeps what there was.
  [[nodiscard]] Result<CostModels> with_file(std::string_view text) const;

  /// By its name, also when a maker stands before it (`anthropic/...`) or a date, a version or a mode behind it
  /// (`-20250929`, `-2025-08-07`, `-latest`, `-preview`, `@...`, `:...`, `[1m]`); the longest that fits.
  [[nodiscard]] const CostModel* find(std::string_view model) const;

  [[nodiscard]] const std::vector<CostModel>& all() const { return models_; }

 private:
  void set(CostModel model);

  std::vector<CostModel> models_;  // by name
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kObject<events::CostModel> = object(
    "CostModel", "What a model costs.",
    member<&events::CostModel::model>("model", "its name, without a date", {.min = 1, .max = 256}),
    member<&events::CostModel::input_per_1m>("inputPer1M", "dollars for a million tokens read"),
    member<&events::CostModel::output_per_1m>("outputPer1M", "the same for tokens written"),
    member<&events::CostModel::cache_read_per_1m>("cacheReadPer1M", "for those read from the cache; else as input"),
    member<&events::CostModel::cache_write_per_1m>("cacheWritePer1M", "for those put into the cache; else as input"));

}  // namespace relay::schema
