// `agent-relay bench` against the real daemon: its output and its cleanup, not the speed.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

using Words = std::vector<std::string>;

class Bench : public ::testing::Test {
 protected:
  /// The workspace is as it was before an agent joined.
  void expect_clean_workspace() {
    EXPECT_EQ(box_.run({"agents", "--all"}).out, "");
    EXPECT_EQ(box_.run({"log"}).out, "");
    const auto status = box_.ok_json({"status"});
    EXPECT_EQ(integer_member(status, "knownAgents"), 0);
    EXPECT_EQ(integer_member(*object_member(status, "storage"), "messages"), 0);
    EXPECT_EQ(box_.run({"events"}).out, "");
    const auto listed = box_.ok_json({"workspaces"});
    EXPECT_EQ(array_member(listed, "workspaces")->size(), 1U) << "the benchmark's workspace is removed";
    EXPECT_FALSE(std::filesystem::exists(box_.home() + "/bench"));
  }
  /// Waits until both agents have joined the workspace of the benchmark.
  bool is_measuring() {
    return eventually([&] {
      const auto listed = box_.ok_json({"workspaces"});
      return std::ranges::any_of(*array_member(listed, "workspaces"), [](const json::value& each) {
        return each.at("root").as_string().ends_with("/bench") && each.at("connected") == 2;
      });
    });
  }

  Sandbox box_;
};

TEST_F(Bench, ComparesDaemonWithRawForwarderAndCleansUp) {
  box_.ok({"up", "--durability", "process"});
  const auto results =
      box_.ok_json({"bench", "--seconds", "200ms", "--messages", "1500", "--size", "10", "--window", "8"});
  const auto& storage = *object_member(results, "storage");
  EXPECT_EQ(string_member(storage, "driver"), "sqlite");
  EXPECT_EQ(string_member(storage, "durability"), "process");
  EXPECT_EQ(integer_member(results, "size"), 10);
  const auto& single = *object_member(results, "single");
  EXPECT_GT(integer_member(single, "messages"), 0);
  for (const auto* times : {"deliveredUs", "acceptedUs", "forwarderUs"})
    for (const auto* share : {"p50", "p99", "p999"})
      EXPECT_GT(object_member(single, times)->at(share).to_number<double>(), 0) << times << " " << share;
  EXPECT_GT(single.at("ratio").to_number<double>(), 0);
  const auto& many = *object_member(results, "many");
  EXPECT_EQ(integer_member(many, "window"), 8);
  EXPECT_LE(integer_member(many, "messages"), 1500);
  for (const auto* rate : {"perSecond", "forwarderPerSecond", "ratio"})
    EXPECT_GT(many.at(rate).to_number<double>(), 0) << rate;
  expect_clean_workspace();
}

TEST_F(Bench, TextStatesDurability) {
  box_.ok({"up", "--storage", "memory"});
  const auto text = box_.ok({"bench", "--seconds", "100ms", "--size", "65536", "--window", "256"});
  EXPECT_NE(text.find("memory: messages are lost when the daemon stops"), std::string::npos) << text;
  EXPECT_NE(text.find("raw forwarder"), std::string::npos) << text;
  expect_clean_workspace();
}

TEST_F(Bench, CleansUpAfterInterrupt) {
  box_.ok({"up"});
  const auto bench = box_.start({"bench", "--seconds", "1m"});
  ASSERT_TRUE(is_measuring());
  bench->signal(SIGINT);
  const auto ran = bench->finish();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("interrupted"), std::string::npos) << ran.err;
  expect_clean_workspace();
}

TEST_F(Bench, CleansUpAfterKilledRun) {
  box_.ok({"up"});
  const auto bench = box_.start({"bench", "--seconds", "1m"});
  ASSERT_TRUE(is_measuring());
  bench->signal(SIGKILL);
  bench->finish();
  box_.ok({"bench", "--seconds", "50ms"});
  expect_clean_workspace();
}

TEST_F(Bench, SecondRunOnSameDaemonIsRefused) {
  box_.ok({"up"});
  const auto first = box_.start({"bench", "--seconds", "1m"});
  ASSERT_TRUE(first->prints_error("measuring"));
  const auto second = box_.run({"bench"});
  EXPECT_EQ(second.code, 5);
  EXPECT_NE(second.err.find("another benchmark of this daemon is running"), std::string::npos) << second.err;
  first->signal(SIGINT);
  EXPECT_EQ(first->finish().code, 1);
}

TEST_F(Bench, NeedsDaemonAndValidOptions) {
  const auto no_daemon = box_.run({"bench"});
  EXPECT_EQ(no_daemon.code, 3);
  EXPECT_NE(no_daemon.err.find("agent-relay up"), std::string::npos) << no_daemon.err;
  for (const Words& words : {Words{"--seconds", "0"}, {"--size", "0"}, {"--window", "100000"}, {"--messages", "no"}})
    EXPECT_EQ(box_.run({"bench", words.at(0), words.at(1)}).code, 2) << words.at(0);
}

}  // namespace
}  // namespace relay::cli_tests
