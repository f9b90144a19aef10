#include "observer/observed_agent.h"

#include <gtest/gtest.h>

#include "protocol/names.h"

namespace relay::observer {
namespace {

TEST(ObservedName, HasAgentCliAndHashPrefix) {
  const auto name = observed_name({.session = "47649650-e4f1-4292-9cf9-0eb95c7a65fe", .agent = "claude"});
  EXPECT_TRUE(protocol::check_agent_name(name)) << name;
  EXPECT_TRUE(name.starts_with("claude-"));
  EXPECT_NE(name, observed_name({.session = "another", .agent = "claude"}));
  EXPECT_TRUE(protocol::check_agent_name(observed_name({.session = "../../etc", .agent = "gemini"})));
}

TEST(TranscriptReader, ExistsForSupportedAgents) {
  for (const auto* agent : {"claude", "codex", "gemini"}) EXPECT_NE(transcript_reader(agent), nullptr);
  EXPECT_EQ(transcript_reader("mcp"), nullptr);
}

TEST(ClaudeConfig, IsTheDirectoryAboveProjects) {
  EXPECT_EQ(claude_config_of("/home/ann/.claude/projects/-home-ann-p/47649650.jsonl"), "/home/ann/.claude");
  EXPECT_EQ(claude_config_of("/home/ann/p/session.jsonl"), "");
  EXPECT_EQ(claude_config_of(""), "");
}

}  // namespace
}  // namespace relay::observer
