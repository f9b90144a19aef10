#include "events/costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace relay::events {
namespace {

CostReport report_of(const std::vector<UsageSample>& rows, const CostModels& models = {}) {
  CostAggregator aggregator{models};
  for (const auto& row : rows) aggregator.add(row);
  return aggregator.report();
}

std::string refusal_of(std::string_view file) {
  const auto models = CostModels{}.with_file(file);
  return models ? "" : models.error().message();
}

std::string_view model_for(std::string_view name) {
  static const CostModels kModels;
  const auto* model = kModels.find(name);
  return model == nullptr ? "" : std::string_view{model->model};
}

TEST(CostModels, FindsDatedNames) {
  EXPECT_EQ(model_for("claude-sonnet-4-5"), "claude-sonnet-4-5");
  EXPECT_EQ(model_for("claude-sonnet-4-5-20250929"), "claude-sonnet-4-5");
  EXPECT_EQ(model_for("claude-sonnet-4-20250514"), "claude-sonnet-4");
  EXPECT_EQ(model_for("claude-opus-5-5[1m]"), "claude-opus-5-5");
  EXPECT_EQ(model_for("anthropic/claude-opus-4-8"), "claude-opus-4-8");
  EXPECT_EQ(model_for("us.anthropic.claude-haiku-4-5-20251001-v1:0"), "claude-haiku-4-5");
  EXPECT_EQ(model_for("claude-haiku-4-5@20251001"), "claude-haiku-4-5");
  EXPECT_EQ(model_for("gpt-5-2025-08-07"), "gpt-5");
  EXPECT_EQ(model_for("gpt-5-codex"), "gpt-5-codex");
  EXPECT_EQ(model_for("gpt-4o-mini-2024-07-18"), "gpt-4o-mini");
  EXPECT_EQ(model_for("gemini-3.1-pro-preview"), "gemini-3.1-pro");
  EXPECT_EQ(model_for("gemini-3.1-pro-preview-customtools"), "gemini-3.1-pro");
  EXPECT_EQ(model_for("gemini-2.5-flash-lite-preview-09-2025"), "gemini-2.5-flash-lite");
}

TEST(CostModels, DistinguishesNewModelFromOld) {
  for (const auto* name : {"claude-opus-4-9", "claude-opus-6", "gpt-5-turbo", "gpt-5.9", "gpt-55", "o3-pro", "claude",
                           "gemini-3.1-pro2", "", "/", "my-gpt-5", "gpt-5-pro-2025-10-06", "gpt-5-1"})
    EXPECT_EQ(model_for(name), "") << name;
}

TEST(CostModels, FileReplacesAndAdds) {
  for (const auto* file : {R"([{"model":"gpt-5","inputPer1M":1,"outputPer1M":2},
                               {"model":"mine","inputPer1M":0,"outputPer1M":0.5,"cacheReadPer1M":0.1}])",
                           R"({"gpt-5":{"inputPer1M":1,"outputPer1M":2},
                               "mine":{"inputPer1M":0,"outputPer1M":0.5,"cacheReadPer1M":0.1}})",
                           R"({"models":[{"model":"gpt-5","inputPer1M":1,"outputPer1M":2},
                               {"model":"mine","inputPer1M":0,"outputPer1M":0.5,"cacheReadPer1M":0.1}]})"}) {
    const auto models = CostModels{}.with_file(file);
    ASSERT_TRUE(models) << models.error().message();
    EXPECT_EQ(models->find("gpt-5")->input_per_1m, 1);
    EXPECT_FALSE(models->find("gpt-5")->cache_read_per_1m);
    EXPECT_EQ(models->find("mine-20260101")->cache_read_per_1m, 0.1);
    EXPECT_EQ(models->all().size(), CostModels{}.all().size() + 1);
    EXPECT_NE(models->find("claude-opus-5-5"), nullptr) << "the others stay";
  }
  EXPECT_TRUE(CostModels{}.with_file("[]"));
}

TEST(CostModels, InvalidFileGivesOneSentence) {
  EXPECT_TRUE(refusal_of("{").starts_with("cost-models.json cannot be used: ")) << refusal_of("{");
  EXPECT_EQ(refusal_of("3"),
            "cost-models.json cannot be used: it must be a list of models, or a map from their names to their prices");
  EXPECT_EQ(refusal_of(R"([{"model":"a","inputPer1M":1}])"),
            R"(cost-models.json cannot be used: model 1: "outputPer1M" is missing)");
  EXPECT_EQ(refusal_of(R"({"a":{"inputPer1M":1,"outputPer1M":-1}})"),
            R"(cost-models.json cannot be used: model 1: a: "outputPer1M" must be from 0 to 100000 dollars)");
  EXPECT_EQ(refusal_of(R"([{"model":"a","inputPer1M":1,"outputPer1M":1}, 3])"),
            "cost-models.json cannot be used: model 2: it is not an object");
  EXPECT_NE(refusal_of(R"([{"model":"","inputPer1M":1,"outputPer1M":1}])"), "");
  EXPECT_NE(refusal_of(R"([{"model":"a","inputPer1M":1e999,"outputPer1M":1}])"), "");
  EXPECT_NE(refusal_of(R"([{"model":"a","inputPer1M":1,"outputPer1M":1,"cacheRead":1}])"), "")
      << "a mistake is reported";
}

TEST(Costs, AreExactToTheToken) {
  const auto report = report_of({{.agent = "A",
                                  .model = "claude-sonnet-4-5-20250929",
                                  .session = "s1",
                                  .thread = "t1",
                                  .input = 1'000'000,
                                  .output = 100'000,
                                  .cache_read = 2'000'000,
                                  .cache_write = 400'000,
                                  .reasoning = 30'000},
                                 {.agent = "B", .model = "gpt-5-nano", .session = "s2", .input = 1, .cache_read = 1},
                                 {.agent = "A", .model = "gpt-5-nano", .session = "s1", .output = 1}});
  const auto& sonnet = report.by_model.at("claude-sonnet-4-5-20250929");
  EXPECT_EQ(sonnet.estimated_cost_usd, 3 + 1.5 + 0.6 + 1.5);
  EXPECT_EQ(sonnet.total_tokens, 3'500'000);
  EXPECT_EQ(sonnet.cache_read_tokens, 2'000'000);
  EXPECT_EQ(sonnet.cache_write_tokens, 400'000);
  EXPECT_EQ(sonnet.reasoning_tokens, 30'000);
  EXPECT_EQ(report.by_agent.at("B").estimated_cost_usd, 0.000000055);
  EXPECT_EQ(report.by_agent.at("A").estimated_cost_usd, 6.6000004);
  EXPECT_EQ(report.by_session.at("s1").estimated_cost_usd, 6.6000004);
  EXPECT_EQ(report.by_thread.at("t1").estimated_cost_usd, 6.6);
  EXPECT_EQ(report.by_thread.size(), 1u) << "what has no thread is in none";
  EXPECT_EQ(report.total.estimated_cost_usd, 6.600000455);
  EXPECT_FALSE(report.total.partial);
  EXPECT_TRUE(report.unpriced.empty());
}

TEST(Costs, DoNotDependOnOrderOrGrouping) {
  std::vector<UsageSample> rows(
      10'000, UsageSample{.agent = "A", .model = "gpt-5-nano", .input = 7, .output = 3, .cache_read = 1});
  const UsageSample summed{
      .agent = "A", .model = "gpt-5-nano", .input = 70'000, .output = 30'000, .cache_read = 10'000};
  EXPECT_EQ(report_of(rows).total.estimated_cost_usd, report_of({summed}).total.estimated_cost_usd);
  EXPECT_EQ(report_of(rows).total.estimated_cost_usd, 0.01555);
}

TEST(Costs, ModelWithoutPriceHasNoCost) {
  const auto alone = report_of({{.agent = "A", .model = "new-model", .input = 10}});
  EXPECT_FALSE(alone.total.estimated_cost_usd);
  EXPECT_TRUE(alone.total.partial);
  EXPECT_EQ(alone.total.input_tokens, 10);
  EXPECT_EQ(alone.unpriced, std::vector<std::string>{"new-model"});

  const auto mixed = report_of({{.agent = "A", .model = "new-model", .input = 10},
                                {.agent = "B", .model = "gpt-5", .input = 1'000'000},
                                {.agent = "B", .model = "", .input = 1}});
  EXPECT_EQ(mixed.total.estimated_cost_usd, 1.25);
  EXPECT_TRUE(mixed.total.partial);
  EXPECT_FALSE(mixed.by_model.at("gpt-5").partial);
  EXPECT_FALSE(mixed.by_agent.at("A").estimated_cost_usd);
  EXPECT_EQ(mixed.unpriced, (std::vector<std::string>{"(unknown)", "new-model"}));
}

TEST(Costs, ReportedCostReplacesComputedCost) {
  const auto report = report_of({{.agent = "A", .model = "gpt-5", .input = 1'000'000, .reported_cost_usd = 0.5},
                                 {.agent = "A", .model = "new-model", .input = 5, .reported_cost_usd = 0.0},
                                 {.agent = "A", .model = "gpt-5", .input = 1'000'000}});
  EXPECT_EQ(report.total.estimated_cost_usd, 1.75);
  EXPECT_FALSE(report.total.partial);
  EXPECT_EQ(report.by_model.at("new-model").estimated_cost_usd, 0.0);
}

TEST(Costs, InvalidCountsNeitherOverflowNorSubtract) {
  constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
  const auto report = report_of({{.model = "gpt-5", .input = kHuge, .output = kHuge, .cache_read = -5},
                                 {.model = "gpt-5", .input = kHuge, .reported_cost_usd = 1e300},
                                 {.model = "gpt-5", .reported_cost_usd = -3.0},
                                 {.model = "gpt-5", .reported_cost_usd = std::nan("")}});
  EXPECT_EQ(report.total.total_tokens, kHuge);
  EXPECT_EQ(report.total.cache_read_tokens, 0);
  EXPECT_TRUE(std::isfinite(*report.total.estimated_cost_usd));
}

TEST(Costs, GroupsAreBounded) {
  const CostModels models;
  CostAggregator aggregator{models};
  for (std::size_t i = 0; i < kMaxGroups + 100; ++i)
    aggregator.add({.agent = "a" + std::to_string(i), .model = "gpt-5", .input = 1});
  const auto report = aggregator.report();
  EXPECT_EQ(report.by_agent.size(), kMaxGroups);
  EXPECT_EQ(report.by_agent.at(std::string{kOtherGroup}).input_tokens, 101);
  EXPECT_EQ(report.total.input_tokens, static_cast<std::int64_t>(kMaxGroups + 100));
}

TEST(Costs, ReportRoundTripsThroughItsTable) {
  const auto report = report_of({{.agent = "A", .model = "gpt-5", .input = 1'000'000, .output = 2}});
  const auto written = schema::write(report);
  EXPECT_EQ(json::serialize(written.at("total")),
            R"({"inputTokens":1000000,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0,)"
            R"("totalTokens":1000002,"estimatedCostUsd":1.25002E0,"partial":false})");
  EXPECT_EQ(schema::write(schema::read<CostReport>(written).value()), written);
  schema::Components components;
  const auto described = schema::json_schema(schema::object_of<CostReport>(), components);
  EXPECT_TRUE(described.at("properties").as_object().contains("byThread"));
  EXPECT_TRUE(components.take().contains("CostBreakdown"));
}

}  // namespace
}  // namespace relay::events
