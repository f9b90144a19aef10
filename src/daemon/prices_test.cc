#include "daemon/prices.h"

#include <gtest/gtest.h>

#include <fstream>

#include "net/testing/temporary_directory.h"

namespace relay::daemon {
namespace {

TEST(Prices, AreReadFromTheFileAtEachCall) {
  const net::testing::TemporaryDirectory home;
  const auto path = home.file("cost-models.json");
  const auto price = price_by(path);
  const std::vector<records::UsageSum> used{
      {.agent = AgentName{"Bob"}, .model = "house-model", .thread = {}, .session = {}, .input = 1'000'000}};
  EXPECT_FALSE(price(used));
  std::ofstream{path} << R"([{"model":"house-model","inputPer1M":2.5,"outputPer1M":10}])";
  EXPECT_EQ(price(used), 2.5) << "written after the workspace was opened";
}

}  // namespace
}  // namespace relay::daemon
