#include <gtest/gtest.h>

#include "transcripts/testing/records.h"

namespace relay::transcripts {
namespace {

using testing::only;

/// A whole session of Gemini CLI 0.61: a tool, hooks, a cancelled turn after which everything is written again.
const Entries& session() {
  static const Entries entries = [] {
    const auto reader = gemini_reader();
    return testing::read_all(*reader, testing::record_lines("gemini-session.jsonl"));
  }();
  return entries;
}

std::string texts_of(const Entries& entries) {
  std::string all;
  for (const auto& text : only<Text>(entries)) all += "[" + text.text + "]";
  return all;
}

TEST(GeminiReader, ParsesEveryLineOfASession) {
  for (const auto& unknown : only<Unknown>(session())) ADD_FAILURE() << unknown.type << ": " << unknown.problem;
  ASSERT_EQ(only<SessionInfo>(session()).size(), 1U);
  EXPECT_EQ(only<SessionInfo>(session())[0].id, "283e45ef-f2c7-410d-b71b-16be9a364eca");
}

TEST(GeminiReader, EmitsARepeatedMessageOnce) {
  EXPECT_EQ(only<Text>(session()).size(), 6U);
  EXPECT_EQ(only<TokenUsage>(session()).size(), 6U);
  EXPECT_EQ(only<ToolCall>(session()).size(), 1U);
  EXPECT_EQ(only<ToolResult>(session()).size(), 1U);
}

TEST(GeminiReader, DistinguishesUserAndHookText) {
  std::vector<std::string> user, hook;
  for (const auto& prompt : only<ModelInput>(session())) {
    if (prompt.origin == Origin::User) user.push_back(prompt.text);
    if (prompt.origin == Origin::Hook) hook.push_back(prompt.from + ": " + prompt.text);
  }
  ASSERT_EQ(user.size(), 6U);
  EXPECT_EQ(user[0], "please greet bob");
  ASSERT_EQ(hook.size(), 7U);
  EXPECT_EQ(hook[0], "BeforeAgent: Relay message from Carol [abc-BeforeAgent]: context by hook");
  EXPECT_EQ(hook[2], "AfterTool: Relay message from Carol [abc-AfterTool]: context by hook");
}

TEST(GeminiReader, EndsACancelledTurn) {
  const auto ended = only<TurnEnded>(session());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].outcome, TurnOutcome::Interrupted);
  EXPECT_EQ(only<TurnStarted>(session()).size(), 6U);
}

TEST(GeminiReader, EmitsOnlyTheAddedPartOfAMessage) {
  const auto reader = gemini_reader();
  const auto read = [&](const char* line) { return texts_of(reader->read(line)); };
  EXPECT_EQ(read(R"({"type":"gemini","id":"1","content":"one\n\n@relay:Bob a"})"), "[one\n\n@relay:Bob a]");
  EXPECT_EQ(read(R"({"type":"gemini","id":"1","content":[{"text":"one\n"},{"text":"@relay:Bob a\n"}]})"), "");
  EXPECT_EQ(read(R"({"type":"gemini","id":"1","content":"one\n@relay:Bob a\n@relay:Bob b"})"), "[\n@relay:Bob b]");
  EXPECT_EQ(read(R"({"$set":{"messages":[{"type":"gemini","id":"1","content":"something else"}]}})"),
            "[something else]");
  EXPECT_EQ(read(R"({"type":"gemini","id":"2","content":"something else"})"), "[something else]");
}

TEST(GeminiReader, EmitsNewTextAfterARewind) {
  const auto reader = gemini_reader();
  reader->read(R"({"type":"gemini","id":"1","content":"@relay:Bob a"})");
  EXPECT_TRUE(reader->read(R"({"$rewindTo":"0"})").empty());
  EXPECT_EQ(texts_of(reader->read(R"({"type":"gemini","id":"3","content":"@relay:Bob a"})")), "[@relay:Bob a]");
}

TEST(GeminiReader, SeparatesThoughtsAndCountsThemAsOutput) {
  const auto reader = gemini_reader();
  const auto entries = reader->read(
      R"({"type":"gemini","id":"1","content":"","thoughts":[{"subject":"s","description":"@relay:Bob maybe"}],)"
      R"("tokens":{"input":100,"output":20,"cached":30,"thoughts":5,"tool":0,"total":125},"model":"m"})");
  EXPECT_TRUE(only<Text>(entries).empty());
  ASSERT_EQ(only<Thought>(entries).size(), 1U);
  EXPECT_EQ(only<Thought>(entries)[0].text, "@relay:Bob maybe");
  ASSERT_EQ(only<TokenUsage>(entries).size(), 1U);
  const TokenUsage expected{.id = "1", .model = "m", .input = 70, .cache_read = 30, .output = 25, .reasoning = 5};
  EXPECT_EQ(only<TokenUsage>(entries)[0], expected);
}

TEST(GeminiReader, SkipsTextInASubagentsFile) {
  const auto reader = gemini_reader();
  reader->read(R"({"sessionId":"s","kind":"subagent"})");
  EXPECT_EQ(texts_of(reader->read(R"({"type":"gemini","id":"1","content":"@relay:Bob from below"})")), "");
}

/// Four files were to be written; the fourth was refused, and then the conversation was recorded again.
TEST(GeminiReader, EmitsNothingTwiceAfterARefusedCall) {
  const auto reader = gemini_reader();
  const auto entries = testing::read_all(*reader, testing::record_lines("gemini-refused.jsonl"));
  EXPECT_EQ(texts_of(entries), "[Writing.][Done.][Writing.][Done.][Writing.][Done.][Writing.]");
  const auto results = only<ToolResult>(entries);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_TRUE(results[3].failed);
  EXPECT_EQ(only<FileChange>(entries).size(), 3U);
}

TEST(GeminiReader, EmitsChangesAndEndTimesOfCalls) {
  const auto reader = gemini_reader();
  const auto entries = testing::read_all(*reader, testing::record_lines("gemini-work.jsonl"));
  const auto changes = only<FileChange>(entries);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].change, Change::Edited);
  EXPECT_TRUE(changes[0].diff.ends_with("@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+und mehr\n three\n"));
  EXPECT_EQ(changes[1].change, Change::Created);
  EXPECT_EQ(only<ToolResult>(entries)[0].at, 1'794'811'510'262);
}

}  // namespace
}  // namespace relay::transcripts
