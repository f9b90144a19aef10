/// Transcripts of real agents with known output: every command is extracted once, and no other text is.
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"
#include "commands/extractor.h"
#include "transcripts/testing/records.h"

namespace relay::transcripts {
namespace {

json::value parsed(const std::string& path) {
  auto value = parse_json(testing::read_whole(path));
  RELAY_ASSERT(value.has_value());
  return *std::move(value);
}

json::array commands_in(const Entries& entries) {
  json::array commands;
  for (const auto& text : testing::only<Text>(entries))
    for (const auto& utterance : commands::extract(complete_lines(text))) {
      const auto* command = std::get_if<commands::SendCommand>(&utterance);
      EXPECT_NE(command, nullptr) << "neither a command nor a command error: " << text.text;
      if (command != nullptr) commands.push_back(json::array{command->to, command->body});
    }
  return commands;
}

TEST(Extraction, YieldsExactlyTheCommandsOfTheModel) {
  const auto golden = parsed(RELAY_TRANSCRIPTS_TESTDATA "/commands.json");
  for (const auto& [file, expected] : golden.as_object()) {
    const std::string name{file};
    const auto reader = testing::reader_for(name);
    EXPECT_EQ(commands_in(testing::read_all(*reader, testing::record_lines(name))), expected) << name;
  }
}

TEST(Extraction, YieldsNothingTwiceForARepeatedTranscript) {
  const auto golden = parsed(RELAY_TRANSCRIPTS_TESTDATA "/commands.json");
  for (const auto& [file, expected] : golden.as_object()) {
    const std::string name{file};
    const auto reader = testing::reader_for(name);
    const auto lines = testing::record_lines(name);
    testing::read_all(*reader, lines);
    reader->restart();
    EXPECT_EQ(commands_in(testing::read_all(*reader, lines)), json::array{}) << name;
  }
}

std::vector<std::string> as_records(const std::string& text, std::size_t number) {
  const auto id = relay::format("{}", number);
  return {json::serialize(json::object{
              {"type", "assistant"},
              {"uuid", id},
              {"message", json::object{{"id", id}, {"content", {json::object{{"type", "text"}, {"text", text}}}}}}}),
          json::serialize(json::object{
              {"type", "response_item"},
              {"payload", json::object{{"type", "message"},
                                       {"id", id},
                                       {"role", "assistant"},
                                       {"content", {json::object{{"type", "output_text"}, {"text", text}}}}}}}),
          json::serialize(json::object{{"type", "gemini"}, {"id", id}, {"content", text}})};
}

/// The source of all recorded screens, in each agent's form of a record.
TEST(Extraction, YieldsTheSameCommandsForEveryAgent) {
  std::vector<std::unique_ptr<Reader>> readers;
  readers.push_back(claude_reader());
  readers.push_back(codex_reader());
  readers.push_back(gemini_reader());
  std::size_t texts = 0;
  const auto recordings = parsed(RELAY_COMMANDS_TESTDATA "/recordings.json");
  for (const auto& value : recordings.as_array()) {
    const auto& each = value.as_object();
    json::array expected;
    for (const auto& command : each.at("expected").as_array())
      expected.push_back(json::array{command.at("to"), command.at("body")});
    std::vector<Entries> entries(readers.size());
    for (const auto& text : each.at("texts").as_array()) {
      const auto records = as_records(std::string{text.as_string()}, ++texts);
      for (std::size_t agent = 0; agent < readers.size(); ++agent)
        for (auto& entry : readers[agent]->read(records[agent])) entries[agent].push_back(std::move(entry));
    }
    for (const auto& each_entries : entries) EXPECT_EQ(commands_in(each_entries), expected) << each.at("recordings");
  }
  EXPECT_EQ(texts, 47U);
}

}  // namespace
}  // namespace relay::transcripts
