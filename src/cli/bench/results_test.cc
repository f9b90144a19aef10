#include "cli/bench/results.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

BenchResults some() {
  BenchResults measured{.storage = "sqlite", .durability = "power", .bytes = 100, .window = 64};
  measured.single = {.messages = 3, .seconds = 1, .delivered_us = {30, 10, 2'000}, .accepted_us = {20, 5, 1'500}};
  measured.raw_single = {.messages = 3, .seconds = 1, .delivered_us = {10, 3, 20}};
  measured.many = {.messages = 100, .seconds = 2};
  measured.raw_many = {.messages = 100, .seconds = 0.5};
  return measured;
}

TEST(BenchResultsTest, MeasurementsAddUp) {
  Measurement whole;
  whole.add({.messages = 2, .seconds = 1, .delivered_us = {1, 2}, .accepted_us = {3}});
  whole.add({.messages = 4, .seconds = 2, .delivered_us = {5}});
  EXPECT_EQ(whole.per_second(), 2);
  EXPECT_EQ(whole.delivered_us, (std::vector<double>{1, 2, 5}));
  EXPECT_EQ(whole.accepted_us, std::vector<double>{3});
}

TEST(BenchResultsTest, SpeedIsARatioToTheForwarder) {
  EXPECT_EQ(some().latency_ratio(), 3);
  EXPECT_EQ(some().rate_ratio(), 0.25);
  EXPECT_EQ(BenchResults{}.latency_ratio(), 0) << "of nothing";
}

TEST(BenchResultsTest, JsonIsOneObject) {
  EXPECT_EQ(json_of(some()),
            R"({"storage":{"driver":"sqlite","durability":"power"},"size":100,)"
            R"("single":{"messages":3,"deliveredUs":{"p50":30,"p99":2000,"p999":2000},)"
            R"("acceptedUs":{"p50":20,"p99":1500,"p999":1500},"forwarderUs":{"p50":10,"p99":20,"p999":20},"ratio":3},)"
            R"("many":{"messages":100,"window":64,"perSecond":50,"forwarderPerSecond":200,"ratio":0.25}})");
}

TEST(BenchResultsTest, TextHasTwoTables) {
  const auto text = text_of(some(), Styler{false});
  EXPECT_NE(text.find("survive a power cut"), std::string::npos);
  EXPECT_NE(text.find("delivered       30 µs  2.0 ms  2.0 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("3.0 times as long as through a raw forwarder"), std::string::npos);
  EXPECT_NE(text.find("0.250 of the rate of a raw forwarder"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli
