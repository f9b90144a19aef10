/// Usage and its cost, summed in one pass.
///
/// Costs are computed at query time, so that a corrected price corrects the past too. Rows arrive one by one or already
///   summed by the store, which also decides which of them count (time, agent, repeated counts).
/// Invariants: sums are exact and do not depend on the order of rows (dollars are added as whole
///   picodollars); a number that would overflow stays at the largest; a group beyond `kMaxGroups` is counted as
///   `kOtherGroup`. A cost that the agent reported replaces the computed one. A model without a price is named in
///   `unpriced`, and the sums that lack its cost are `partial`.
/// Threading: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "events/cost_models.h"
#include "schema/schema.h"

namespace relay::events {

inline constexpr std::size_t kMaxGroups = 10'000;  // of each kind
inline constexpr std::string_view kOtherGroup = "(others)";
inline constexpr std::string_view kUnknownGroup = "(unknown)";

/// One response of a model, or several of the same agent, model, session and thread: all with a reported cost, or all
/// without.
struct UsageSample {
  WallMs at = 0;
  std::string agent = {};
  std::string model = {};
  std::string session = {};
  std::string thread = {};
  std::string request_id = {};
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  std::int64_t reasoning = 0;                    // part of the output
  std::optional<double> reported_cost_usd = {};  // by the agent
  std::string source = {};
};

struct CostBreakdown {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_read_tokens = 0;
  std::int64_t cache_write_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::int64_t total_tokens = 0;
  std::optional<double> estimated_cost_usd = {};
  bool partial = false;
};

struct CostReport {
  CostBreakdown total = {};
  std::map<std::string, CostBreakdown> by_agent = {};
  std::map<std::string, CostBreakdown> by_model = {};
  std::map<std::string, CostBreakdown> by_session = {};
  std::map<std::string, CostBreakdown> by_thread = {};
  std::vector<std::string> unpriced = {};
};

class CostAggregator {
 public:
  /// The models outlive this.
  explicit CostAggregator(const CostModels& models) : models_{models} {}

  void add(const UsageSample& usage);
  [[nodiscard]] CostReport report() const;

 private:
  struct Sum {
    CostBreakdown tokens = {};
    std::int64_t picodollars = 0;
    bool priced = false;
    bool unpriced = false;
  };
  using Sums = std::map<std::string, Sum, std::less<>>;

  /// In picodollars; nothing when the model has no price.
  [[nodiscard]] std::optional<std::int64_t> cost_of(const UsageSample& usage) const;
  static void add_to(Sum& sum, const UsageSample& usage, std::optional<std::int64_t> cost);
  static void add_to(Sums& sums, std::string_view name, const UsageSample& usage, std::optional<std::int64_t> cost);

  const CostModels& models_;
  Sum total_;
  Sums by_agent_;
  Sums by_model_;
  Sums by_session_;
  Sums by_thread_;
  std::set<std::string, std::less<>> unpriced_;
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kObject<events::CostBreakdown> = object(
    "CostBreakdown", "Tokens and what they cost. Counts do not overlap, but reasoning is part of the output.",
    member<&events::CostBreakdown::input_tokens>("inputTokens", "input tokens that were not in the cache", {.min = 0}),
    member<&events::CostBreakdown::output_tokens>("outputTokens", "output tokens", {.min = 0}),
    member<&events::CostBreakdown::cache_read_tokens>("cacheReadTokens", "input tokens read from the cache",
                                                      {.min = 0}),
    member<&events::CostBreakdown::cache_write_tokens>("cacheWriteTokens", "input tokens written to the cache",
                                                       {.min = 0}),
    member<&events::CostBreakdown::reasoning_tokens>("reasoningTokens", "reasoning tokens, a part of the output",
                                                     {.min = 0}),
    member<&events::CostBreakdown::total_tokens>("totalTokens", "the sum of input, output and both cache counts",
                                                 {.min = 0}),
    member<&events::CostBreakdown::estimated_cost_usd>("estimatedCostUsd", "dollars; absent when no model has a price"),
    member<&events::CostBreakdown::partial>("partial", "true: some models have no price, so the cost is higher"));

template <>
inline constexpr auto kObject<events::CostReport> = object(
    "CostReport", "Usage and its cost at current prices.", member<&events::CostReport::total>("total", "all usage"),
    member<&events::CostReport::by_agent>("byAgent", "by name of the agent"),
    member<&events::CostReport::by_model>("byModel", "by name of the model, as agents report it"),
    member<&events::CostReport::by_session>("bySession", "by session, if reported"),
    member<&events::CostReport::by_thread>("byThread", "by thread of messages, if reported"),
    member<&events::CostReport::unpriced>("unpriced", "models without a price; give them one in cost-models.json"));

}  // namespace relay::schema
