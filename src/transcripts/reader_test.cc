/// What every reader must accept: lines that are malformed, cut, unusual, or of a later version.
#include <gtest/gtest.h>

#include "base/format.h"
#include "transcripts/limits.h"
#include "transcripts/testing/records.h"

namespace relay::transcripts {
namespace {

using testing::only;

class AnyReader : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Reader> reader = testing::reader_for(GetParam());
  std::vector<std::string> lines = testing::record_lines(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Agents, AnyReader,
                         ::testing::Values("claude-tool.jsonl", "codex-tool.jsonl", "gemini-session.jsonl"),
                         [](const auto& each) {
                           const std::string name{each.param};
                           return name.substr(0, name.find('-'));
                         });

TEST_P(AnyReader, ReportsAMalformedLineAndReadsTheNext) {
  for (const char* broken : {"", "{", "not json", "[1,2]", "null", "\xff\xfe", "{\"type\":\"user\"} tail"}) {
    const auto entries = reader->read(broken);
    ASSERT_EQ(entries.size(), 1U) << broken;
    EXPECT_FALSE(std::get<Unknown>(entries[0]).problem.empty());
  }
  EXPECT_FALSE(only<Text>(testing::read_all(*reader, lines)).empty());
}

TEST_P(AnyReader, AcceptsALineCutAnywhere) {
  for (const auto& line : lines)
    for (std::size_t cut = 0; cut < line.size(); cut += 1 + line.size() / 64) {
      const auto entries = reader->read(std::string_view{line}.substr(0, cut));
      ASSERT_EQ(entries.size(), 1U);
      EXPECT_TRUE(std::holds_alternative<Unknown>(entries[0]));
    }
}

TEST_P(AnyReader, ReportsAnUnknownTypeOnce) {
  const char* line = R"({"type":"hologram","uuid":"u","id":"u","payload":{"type":"hologram"}})";
  const auto entries = reader->read(line);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(std::get<Unknown>(entries[0]).type, "hologram");
  EXPECT_TRUE(reader->read(R"({"type":"hologram","uuid":"v","id":"v","payload":{"type":"hologram"}})").empty());
}

TEST_P(AnyReader, AcceptsFieldsOfUnexpectedTypes) {
  for (const char* strange :
       {R"({"type":"assistant","uuid":7,"message":[]})", R"({"type":"assistant","message":{"content":"plain"}})",
        R"({"type":"assistant","message":{"content":[1,null,{"type":"text"},{"type":"text","text":5}],"usage":3}})",
        R"({"type":"user","message":{"content":{"text":"x"}},"origin":"human"})", R"({"type":"attachment"})",
        R"({"type":"queue-operation","content":[]})", R"({"type":"response_item","payload":{"type":"message"}})",
        R"({"type":"response_item","payload":{"type":"function_call_output","output":{"content":null}}})",
        R"({"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"primary":{}}}})",
        R"({"type":"event_msg","payload":{"type":"task_complete","error":{"codex_error_info":{}}}})",
        R"({"type":"session_meta","payload":{"id":null}})", R"({"$set":7})", R"({"$set":{"messages":[1,{}]}})",
        R"({"type":"gemini","id":{},"content":7,"toolCalls":[1,{"result":[1,{}]}],"tokens":[]})"})
    for (const auto& text : only<Text>(reader->read(strange))) EXPECT_TRUE(text.text.empty()) << strange;
}

TEST_P(AnyReader, ReportsTooDeepNesting) {
  const auto entries = reader->read(std::string(100'000, '[') + std::string(100'000, ']'));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Unknown>(entries[0]));
}

TEST(ClaudeLines, ReplacesALoneSurrogate) {
  const auto reader = claude_reader();
  const auto texts = only<Text>(reader->read(
      R"({"type":"assistant","uuid":"u","message":{"content":[{"type":"text","text":"cut \ud83d here \\ud83d \ud83d\ude00"}]}})"));
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts[0].text, "cut \xEF\xBF\xBD here \\ud83d \xF0\x9F\x98\x80");
}

TEST(ClaudeLines, TruncatesLongFieldsBetweenCharacters) {
  const auto reader = claude_reader();
  std::string input;
  while (input.size() <= kMaxToolText) input += "\xC3\xA4";
  const auto tools = only<ToolCall>(reader->read(relay::format(
      R"({{"type":"assistant","uuid":"u","message":{{"content":[{{"type":"tool_use","id":"t","name":"n","input":"{}"}}]}}}})",
      input)));
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_TRUE(tools[0].cut);
  EXPECT_EQ(tools[0].input, input.substr(0, kMaxToolText));
}

TEST(DedupCache, BoundsRememberedIds) {
  const auto reader = claude_reader();
  const auto row = [](std::size_t number) {
    return relay::format(R"({{"type":"assistant","uuid":"{}","message":{{"content":[{{"type":"text","text":"x"}}]}}}})",
                         number);
  };
  for (std::size_t number = 0; number <= kMaxRememberedIds; ++number) reader->read(row(number));
  EXPECT_TRUE(reader->read(row(kMaxRememberedIds)).empty());
  EXPECT_TRUE(reader->read(row(1)).empty());
  EXPECT_FALSE(reader->read(row(0)).empty()) << "dropped, because memory is bounded";
}

}  // namespace
}  // namespace relay::transcripts
