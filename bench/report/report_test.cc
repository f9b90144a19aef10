/// Tests of the reports. No server is started.
#include <gtest/gtest.h>

#include "base/json.h"
#include "figures.h"
#include "report/numbers.h"
#include "report/results.h"
#include "report/svg.h"

namespace relay::bench {
namespace {

const Workload kMessaging{.name = "messaging", .title = "two agents", .headline = Metric::DeliverP50};
const Traits kFloor{.name = "floor", .title = "raw forwarder"};
const Traits kPower{.name = "power", .title = "agent-relay, power", .guarantee = AckGuarantee::Power};

Results messaging_results() {
  Results results{{kMessaging}, {kFloor, kPower}};
  for (const double us : {10.0, 12.0, 11.0}) results.add(kMessaging, kFloor, {{"1 KB", {{Metric::DeliverP50, us}}}});
  for (const double us : {20.0, 22.0, 24.0}) results.add(kMessaging, kPower, {{"1 KB", {{Metric::DeliverP50, us}}}});
  return results;
}

TEST(Results, SummarizeMedianAndSpreadOfTheRounds) {
  const auto summary = messaging_results().summary(kMessaging, "1 KB", kPower, Metric::DeliverP50);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->median, 22);
  EXPECT_NEAR(summary->spread, 2.0 / 22, 1e-9);
  EXPECT_FALSE(messaging_results().summary(kMessaging, "1 KB", kPower, Metric::Rate));
}

TEST(Results, CompareTimesAndRatesInOppositeDirections) {
  EXPECT_EQ(times_better(Metric::DeliverP50, 10, 20), 2);
  EXPECT_EQ(times_better(Metric::Rate, 20, 10), 2);
}

TEST(Table, ListsEverySubjectWithItsRatioToTheFloor) {
  const auto table = table_of(messaging_results(), "here");
  EXPECT_NE(table.find("agent-relay, power"), std::string::npos);
  EXPECT_NE(table.find("2.00"), std::string::npos) << table;
}

TEST(Table, ReportsWhyASubjectHasNoNumbers) {
  Results results{{kMessaging}, {kFloor, kPower}};
  results.add_note(kMessaging, kFloor, "missing: not installed");
  EXPECT_NE(table_of(results, "here").find("raw forwarder: missing: not installed"), std::string::npos);
}

TEST(Table, ComparesCandidatesWithTheYardstickOfTheirWorkload) {
  const Workload reading{.name = "reading",
                         .title = "readers",
                         .headline = Metric::Throughput,
                         .candidates = {{.traits = {.name = "plain", .title = "plain reader"}, .run = {}},
                                        {.traits = {.name = "own", .title = "own reader", .own = true}, .run = {}}},
                         .yardsticks = {"plain"}};
  Results results{{kMessaging, reading}, {kFloor, kPower}};
  results.add(reading, reading.candidates[0].traits, {{"a log", {{Metric::Throughput, 50}}}});
  results.add(reading, reading.candidates[1].traits, {{"a log", {{Metric::Throughput, 200}}}});
  const auto page = markdown_of(results, "here");
  EXPECT_NE(page.find("|  | output MB/s | spread | plain x |"), std::string::npos) << page;
  EXPECT_NE(page.find("| own reader | 200 | 0% | 0.25 |"), std::string::npos) << page;
  EXPECT_NE(json_of(results, "here").find(R"("own":{"megabytes_per_second")"), std::string::npos);
}

TEST(Markdown, HasARowForEverySubject) {
  const auto page = markdown_of(messaging_results(), "here");
  EXPECT_NE(page.find("\n| agent-relay, power | power | 22.0 | 9% | 2.00 |"), std::string::npos) << page;
}

TEST(Json, KeepsEveryRound) {
  const auto root = parse_json_object(json_of(messaging_results(), "here"));
  ASSERT_TRUE(root);
  const auto& variant = root->at("work").at(0).at("variants").at(0);
  EXPECT_EQ(variant.at("subjects").at("floor").at("deliver_p50_us").at("rounds").as_array().size(), 3);
}

TEST(Svg, DrawsEachBarAndEscapesText) {
  const auto page = svg_page("a < b", {{.title = "t", .unit = "us", .bars = {{.label = "one & two", .value = 3}}}}, {});
  EXPECT_NE(page.find("a &lt; b"), std::string::npos);
  EXPECT_NE(page.find("one &amp; two"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

TEST(Numbers, HaveThreeFigures) {
  EXPECT_EQ(three_figures(0.1234), "0.12");
  EXPECT_EQ(three_figures(12.34), "12.3");
  EXPECT_EQ(short_number(1'234'567), "1.23 M");
}

}  // namespace
}  // namespace relay::bench
