#include "protocol/control.h"

#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

TEST(Lane, CodeRoundTrips) {
  for (std::uint8_t code = 0; code < kLanes; ++code) EXPECT_EQ(lane_code(*lane_from_code(code)), code);
  EXPECT_EQ(lane_code(Lane{}), 0);
  EXPECT_EQ(lane_from_code(kLanes), std::nullopt);
  EXPECT_EQ(lane_from_code(1)->priority, Priority::Urgent);
}

TEST(DeliveryModes, AreASet) {
  DeliveryModes modes;
  EXPECT_TRUE(modes.empty());
  modes.add(DeliveryMode::Manual);
  EXPECT_TRUE(modes.has(DeliveryMode::Manual));
  EXPECT_FALSE(modes.has(DeliveryMode::OnIdle));
  for (const auto mode : kDeliveryModes) EXPECT_TRUE(DeliveryModes::all().has(mode));
}

TEST(Control, ReadsEveryAction) {
  const auto flush = parse_control(R"({"action":"flush","agent":"Bob","mode":"manual"})");
  ASSERT_TRUE(flush);
  EXPECT_EQ(flush->action, ControlAction::Flush);
  EXPECT_EQ(flush->agent, "Bob");
  EXPECT_EQ(flush->mode, DeliveryMode::Manual);
  EXPECT_EQ(parse_control(R"({"action":"retry","deliveryId":"d-1"})")->delivery_id, "d-1");
  EXPECT_TRUE(parse_control(R"({"action":"redeliver","all":true,"states":["dead"]})")->all);
  EXPECT_EQ(parse_control(R"({"action":"pause","agent":"Bob","reason":"lunch"})")->reason, "lunch");
  const auto policy = parse_control(
      R"({"action":"policy","agent":"Bob","rules":[{"from":"Eve","action":"refuse"},{"from":"*","action":"hold"}]})");
  ASSERT_TRUE(policy);
  EXPECT_EQ(decide(*policy->rules, "Eve"), DeliveryPolicyAction::Refuse);
  EXPECT_EQ(decide(*policy->rules, "Alice"), DeliveryPolicyAction::Hold);
  EXPECT_EQ(parse_policy(write_policy(*policy->rules)), *policy->rules);
  EXPECT_EQ(decide({}, "Alice"), DeliveryPolicyAction::Accept);
  EXPECT_TRUE(parse_control(R"({"action":"reset-loop"})"));
}

TEST(Control, RefusesIncompleteRequests) {
  for (const auto* bad :
       {R"({})", R"({"action":"explode"})", R"({"action":"flush"})", R"({"action":"cancel"})",
        R"({"action":"redeliver"})", R"({"action":"redeliver","all":true,"deliveryId":"d-1"})",
        R"({"action":"flush","agent":"Bob","mode":"soon"})", R"({"action":"pause","agent":"a b"})",
        R"({"action":"redeliver","all":true,"states":["queued"]})", R"({"action":"policy","agent":"Bob","rules":{}})",
        R"({"action":"policy","agent":"Bob","rules":[{"from":"*","action":"maybe"}]})"}) {
    const auto request = parse_control(bad);
    ASSERT_FALSE(request) << bad;
    EXPECT_GT(request.error().message().size(), 10u) << bad;
  }
}

TEST(Control, CommandsForSessionsRoundTrip) {
  EXPECT_TRUE(parse_pause(write_pause({.paused = true, .reason = "lunch"}))->paused);
  EXPECT_EQ(parse_cancel(write_cancel({.delivery_id = "d-1", .reason = "old"}))->reason, "old");
  EXPECT_FALSE(parse_cancel("{}"));
}

TEST(DeadLetterRequest, SelectsByAgentAndState) {
  const auto request = parse_dead(R"({"agent":"Bob","states":["in_doubt"],"limit":5,"beforeKey":7})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->states, std::vector<std::string>{"in_doubt"});
  EXPECT_EQ(request->limit, 5u);
  EXPECT_FALSE(parse_dead(R"({"states":["delivered"]})"));
}

}  // namespace
}  // namespace relay::protocol
