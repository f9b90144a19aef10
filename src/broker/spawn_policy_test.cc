#include "broker/spawn_policy.h"

#include <gtest/gtest.h>

namespace relay::broker {
namespace {

protocol::SpawnRequest wanted(std::vector<std::string> words) {
  protocol::SpawnRequest request;
  request.name = "Dev";
  request.argv = std::move(words);
  return request;
}

SpawnPolicy policy_of(SpawnByAgents mode) { return {.by_agents = mode, .programs = {"claude", "codex"}}; }

TEST(SpawnPolicy, AgentsStartNothingByDefault) {
  const auto why = refusal_of_spawn({}, wanted({"claude"}));
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("by_agents"), std::string::npos) << *why;
}

TEST(SpawnPolicy, OnlyAProgramWithAProfileIsStartedByItsPlainName) {
  for (const auto mode : {SpawnByAgents::Ask, SpawnByAgents::Profiles}) {
    EXPECT_FALSE(refusal_of_spawn(policy_of(mode), wanted({"claude"})));
    for (const auto* program : {"sh", "/bin/sh", "./claude", "../claude", "/usr/bin/claude", "env", "Claude", ""})
      EXPECT_TRUE(refusal_of_spawn(policy_of(mode), wanted({program, "-c", "id"}))) << program;
  }
}

TEST(SpawnPolicy, WithoutUserNoArgumentsAndNoModelAreAccepted) {
  const auto profiles = policy_of(SpawnByAgents::Profiles), ask = policy_of(SpawnByAgents::Ask);
  EXPECT_TRUE(refusal_of_spawn(profiles, wanted({"claude", "--mcp-config", "{}"})));
  EXPECT_FALSE(refusal_of_spawn(ask, wanted({"claude", "--mcp-config", "{}"})));
  auto with_model = wanted({"claude"});
  with_model.model = "opus";
  EXPECT_TRUE(refusal_of_spawn(profiles, with_model));
  EXPECT_FALSE(refusal_of_spawn(ask, with_model));
}

TEST(SpawnPolicy, CommandLineQuotesArguments) {
  EXPECT_EQ(command_line_of(wanted({"claude", "-p", "two words", "it's", ""})),
            R"(claude -p 'two words' 'it'\''s' '')");
  auto with_model = wanted({"claude"});
  with_model.model = "opus 5";
  EXPECT_EQ(command_line_of(with_model), "claude with the model 'opus 5'");
}

TEST(SpawnPolicy, AnUnknownModeIsOff) {
  EXPECT_EQ(parse_spawn_by_agents("off"), SpawnByAgents::Off);
  EXPECT_EQ(parse_spawn_by_agents("ask"), SpawnByAgents::Ask);
  EXPECT_EQ(parse_spawn_by_agents("profiles"), SpawnByAgents::Profiles);
  EXPECT_EQ(parse_spawn_by_agents("yes"), SpawnByAgents::Off);
}

}  // namespace
}  // namespace relay::broker
