#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "transcripts/testing/records.h"

namespace relay::transcripts {
namespace {

using testing::only;

/// A whole session of Claude Code 2.1.325: tools, hooks, peers, an interrupted turn, a rate limit, a compaction.
const Entries& session() {
  static const Entries entries = [] {
    const auto reader = claude_reader();
    return testing::read_all(*reader, testing::record_lines("claude-session.jsonl"));
  }();
  return entries;
}

std::vector<ModelInput> prompts_by(Origin origin) {
  auto prompts = only<ModelInput>(session());
  std::erase_if(prompts, [&](const ModelInput& prompt) { return prompt.origin != origin; });
  return prompts;
}

TEST(ClaudeReader, ParsesEveryRowOfASession) {
  for (const auto& unknown : only<Unknown>(session())) ADD_FAILURE() << unknown.type << ": " << unknown.problem;
  ASSERT_EQ(only<SessionInfo>(session()).size(), 1U);
  EXPECT_EQ(only<SessionInfo>(session())[0].id, "0afa002a-b5c8-424d-bac6-e08362869ffa");
}

TEST(ClaudeReader, DistinguishesUserAndProgramPrompts) {
  std::vector<std::string> texts;
  for (const auto& prompt : prompts_by(Origin::User)) texts.push_back(prompt.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"please greet bob", "two texts please", "show a fence", "ponder this",
                                             "two texts please", "think slowly", "hit the limit"}));
  const auto program = prompts_by(Origin::Program);
  EXPECT_TRUE(
      std::ranges::any_of(program, [](const ModelInput& it) { return it.text.starts_with("This session is"); }));
}

TEST(ClaudeReader, ReadsSenderAndIdOfPeerMessages) {
  const auto peers = prompts_by(Origin::Peer);
  ASSERT_EQ(peers.size(), 8U);
  EXPECT_NE(peers[0].text.find("Relay message from Carol [m-0001]: hello over the socket"), std::string::npos);
  EXPECT_EQ(peers[0].from, "relay:Carol");
  EXPECT_EQ(peers[0].message_id, "") << "its id is not a UUID, and Claude records only UUIDs";
  EXPECT_EQ(peers[1].from, "unknown");
  EXPECT_EQ(peers[2].text, "Relay message from Carol [m-0003]: hello while busy") << "taken between two tool calls";
  EXPECT_EQ(peers[3].message_id, "0a0a0a0a-1111-4222-8333-000000000011");
  EXPECT_EQ(peers[7].message_id, "0a0a0a0a-1111-4222-8333-000000000016");
}

TEST(ClaudeReader, EmitsHookContext) {
  std::map<std::string, int> events;
  for (const auto& prompt : prompts_by(Origin::Hook)) ++events[prompt.from];
  EXPECT_EQ(events, (std::map<std::string, int>{{"PostToolUse", 2}, {"UserPromptSubmit", 15}}));
  EXPECT_EQ(prompts_by(Origin::Hook)[0].text, "Relay message from Carol [abc-UserPromptSubmit]: context by hook");
}

TEST(ClaudeReader, EmitsQueueChanges) {
  const auto queued = only<Queued>(session());
  const auto waiting = std::ranges::count_if(queued, &Queued::waiting);
  EXPECT_EQ(waiting, 8);
  EXPECT_TRUE(std::ranges::any_of(queued, [](const Queued& it) { return it.reason == "absorbed_mid_turn"; }));
}

TEST(ClaudeReader, CountsAReplyThatSpansRowsOnce) {
  std::map<std::string, TokenUsage> standing;
  for (const auto& usage : only<TokenUsage>(session())) standing[usage.id] = usage;
  EXPECT_EQ(standing.size(), 12U);
  EXPECT_EQ(only<TokenUsage>(session()).size(), 12U);
  const auto pondered = std::ranges::find_if(standing, [](const auto& it) { return it.second.input == 100; });
  ASSERT_NE(pondered, standing.end());
  EXPECT_EQ(pondered->second.model, "claude-opus-5-5");
  EXPECT_EQ(pondered->second.cache_read, 30);
  EXPECT_EQ(pondered->second.cache_write, 40);
  EXPECT_EQ(pondered->second.output, 20);
}

TEST(ClaudeReader, EmitsOneStartAndOneEndPerTurn) {
  std::string open;
  std::vector<std::string> endings;
  for (const auto& entry : session()) {
    if (const auto* started = std::get_if<TurnStarted>(&entry)) {
      EXPECT_EQ(open, "") << started->id;
      open = started->id;
    } else if (const auto* ended = std::get_if<TurnEnded>(&entry)) {
      EXPECT_EQ(ended->id, open);
      open.clear();
      endings.emplace_back(name_of(ended->outcome));
    }
  }
  EXPECT_EQ(endings, (std::vector<std::string>{"done", "done", "done", "done", "done", "done", "done", "interrupted",
                                               "failed", "done", "done"}));
}

TEST(ClaudeReader, MarksAnInterruptedText) {
  const auto texts = only<Text>(session());
  const auto torn = std::ranges::find(texts, false, &Text::whole);
  ASSERT_NE(torn, texts.end());
  EXPECT_EQ(torn->text, "This takes a while: one two three fo");
  EXPECT_EQ(complete_lines(*torn), "");
  EXPECT_EQ(std::ranges::count(texts, false, &Text::whole), 1);
}

TEST(ClaudeReader, EmitsFailuresAsRecorded) {
  const auto failures = only<TurnFailure>(session());
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].kind, FailureKind::RateLimit);
  EXPECT_EQ(failures[0].code, "rate_limit");
  EXPECT_EQ(failures[0].status, 429);
  EXPECT_TRUE(failures[0].text.starts_with("API Error")) << failures[0].text;
}

TEST(ClaudeReader, EmitsToolCallsWithResults) {
  const auto tools = only<ToolCall>(session());
  const auto results = only<ToolResult>(session());
  ASSERT_EQ(tools.size(), 2U);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(tools[0].name, "Bash");
  EXPECT_EQ(tools[0].input, R"({"command":"sleep 2; echo all green","description":"Run a command"})");
  EXPECT_EQ(results[0].id, tools[0].id);
  EXPECT_EQ(results[0].text, "all green");
  EXPECT_FALSE(results[0].failed);
}

TEST(ClaudeReader, SkipsSubagentTextButCountsItsTokens) {
  const auto reader = claude_reader();
  const auto entries = reader->read(
      R"({"type":"assistant","uuid":"u","isSidechain":true,"requestId":"r","message":{"id":"m","model":"x",)"
      R"("content":[{"type":"text","text":"@relay:Bob from below"}],"usage":{"input_tokens":7,"output_tokens":1}}})");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(std::get<TokenUsage>(entries[0]).input, 7);
}

TEST(ClaudeReader, ReplacesEarlierUsageOfAReply) {
  const auto reader = claude_reader();
  const auto row = [](int number, int output) {
    return R"({"type":"assistant","uuid":")" + std::to_string(number) +
           R"(","requestId":"r","message":{"id":"m","content":[],"usage":{"output_tokens":)" + std::to_string(output) +
           "}}}";
  };
  EXPECT_EQ(only<TokenUsage>(reader->read(row(1, 3))).size(), 1U);
  EXPECT_EQ(only<TokenUsage>(reader->read(row(2, 3))).size(), 0U);
  const auto later = only<TokenUsage>(reader->read(row(3, 9)));
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].id, "m/r");
  EXPECT_EQ(later[0].output, 9);
}

TEST(ClaudeReader, SkipsTextThatTheProgramGenerated) {
  const auto reader = claude_reader();
  EXPECT_TRUE(reader
                  ->read(R"({"type":"assistant","uuid":"u","message":{"model":"<synthetic>",)"
                         R"("content":[{"type":"text","text":"No response requested."}]}})")
                  .empty());
}

TEST(ClaudeReader, EmitsToolEffectsBeforeResults) {
  const auto reader = claude_reader();
  const auto entries = testing::read_all(*reader, testing::record_lines("claude-work.jsonl"));
  const auto changes = only<FileChange>(entries);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].change, Change::Edited);
  EXPECT_EQ(changes[0].path, "/home/agent/proj/poem.txt");
  EXPECT_EQ(changes[0].diff, "@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+und mehr\n three\n");
  EXPECT_EQ(changes[1].change, Change::Created);
  EXPECT_EQ(changes[1].content, "first\nsecond\n");
  const auto commands = only<CommandRun>(entries);  // the failed one has only its result
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].exit_code, 0);
  EXPECT_EQ(commands[0].output, "poem.txt:2:zwei");
}

}  // namespace
}  // namespace relay::transcripts
