/// Real agents, recorded against a model whose words are known: what it sent is heard, all of it and nothing else.
#include <gtest/gtest.h>

#include "commands/extractor.h"
#include "commands/screen_extractor.h"
#include "commands/testing/case_files.h"

namespace relay::commands {
namespace {

json::array without_data(json::array commands) {
  for (auto& command : commands) command.as_object().erase("data");
  return commands;
}

TEST(Recordings, TheModelsMarkdownGivesExactlyWhatItSent) {
  const auto file = testing::load_cases("recordings.json");
  for (const auto& value : file.as_array()) {
    const auto& each = value.as_object();
    std::vector<Command> heard;
    Extractor extractor;
    for (const auto& text : each.at("texts").as_array()) {
      for (auto& utterance : extractor.feed(text.as_string())) heard.push_back(std::move(utterance));
      for (auto& utterance : extractor.finish()) heard.push_back(std::move(utterance));
    }
    json::array expected;
    for (const auto& command : each.at("expected").as_array())
      expected.push_back(
          json::object{{"to", command.at("to")}, {"kind", command.at("kind")}, {"body", command.at("body")}});
    EXPECT_EQ(without_data(testing::commands_of(heard)), expected) << each.at("recordings");
    for (const auto& utterance : heard) EXPECT_FALSE(std::holds_alternative<CommandError>(utterance));
  }
}

TEST(Recordings, TheScreenGivesTheSameWordsAsTheModel) {
  const auto file = testing::load_cases("screens.json");
  for (const auto& value : file.as_array()) {
    const auto& each = value.as_object();
    std::vector<ScreenLine> rows;
    const auto width = static_cast<std::size_t>(each.at("width").as_int64());
    for (const auto& row : each.at("rows").as_array())
      rows.push_back({.text = std::string{row.as_string()}, .indent = 0, .width = width, .soft = false});
    json::array expected;
    for (const auto& command : each.at("expected").as_array())
      expected.push_back(
          json::object{{"to", command.at("to")}, {"kind", command.at("kind")}, {"body", command.at("body")}});
    const auto heard = without_data(testing::commands_of(extract_from_screen(rows)));
    EXPECT_EQ(heard, expected) << each.at("recording") << " " << each.at("label") << "\n"
                               << json::serialize(heard) << "\n"
                               << json::serialize(expected);
  }
}

}  // namespace
}  // namespace relay::commands
