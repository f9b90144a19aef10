#include "broker/spawn_policy.h"

#include <gtest/gtest.h>

namespace relay::broker {
namespace {

protocol::SpawnRequest request_for(std::vector<std::string> argv) {
  protocol::SpawnRequest request;
  request.name = "Dev";
  request.argv = std::move(argv);
  return request;
}

SpawnPolicy policy_of(SpawnByAgents mode) { return {.by_agents = mode, .programs = {"claude", "codex"}}; }

TEST(SpawnPolicy, AgentsStartNothingByDefault) {
  const auto reason = refusal_of_spawn({}, request_for({"claude"}));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("by_agents"), std::string::npos) << *reason;
}

TEST(SpawnPolicy, OnlyProgramWithProfileIsStartedByItsPlainName) {
  for (const auto mode : {SpawnByAgents::Ask, SpawnByAgents::Profiles}) {
    EXPECT_FALSE(refusal_of_spawn(policy_of(mode), request_for({"claude"})));
    for (const auto* program : {"sh", "/bin/sh", "./claude", "../claude", "/usr/bin/claude", "env", "Claude", ""})
      EXPECT_TRUE(refusal_of_spawn(policy_of(mode), request_for({program, "-c", "id"}))) << program;
  }
}

TEST(SpawnPolicy, WithoutUserNoArgumentsAndNoModelAreAccepted) {
  const auto profiles = policy_of(SpawnByAgents::Profiles), ask = policy_of(SpawnByAgents::Ask);
  EXPECT_TRUE(refusal_of_spawn(profiles, request_for({"claude", "--mcp-config", "{}"})));
  EXPECT_FALSE(refusal_of_spawn(ask, request_for({"claude", "--mcp-config", "{}"})));
  auto with_model = request_for({"claude"});
  with_model.model = "opus";
  EXPECT_TRUE(refusal_of_spawn(profiles, with_model));
  EXPECT_FALSE(refusal_of_spawn(ask, with_model));
}

TEST(SpawnPolicy, CommandLineQuotesArguments) {
  EXPECT_EQ(command_line_of(request_for({"claude", "-p", "two argv", "it's", ""})),
            R"(claude -p 'two argv' 'it'\''s' '')");
  auto with_model = request_for({"claude"});
  with_model.model = "opus 5";
  EXPECT_EQ(command_line_of(with_model), "claude with the model 'opus 5'");
}

TEST(SpawnPolicy, UnknownModeIsOff) {
  EXPECT_EQ(parse_spawn_by_agents("off"), SpawnByAgents::Off);
  EXPECT_EQ(parse_spawn_by_agents("ask"), SpawnByAgents::Ask);
  EXPECT_EQ(parse_spawn_by_agents("profiles"), SpawnByAgents::Profiles);
  EXPECT_EQ(parse_spawn_by_agents("yes"), SpawnByAgents::Off);
}

}  // namespace
}  // namespace relay::broker
