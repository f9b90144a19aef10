/// Recordings of real agents with a known model output: exactly the sent messages are extracted.
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

TEST(Recordings, MarkdownYieldsExactlyTheSentMessages) {
  const auto file = testing::load_cases("recordings.json");
  for (const auto& value : file.as_array()) {
    const auto& each = value.as_object();
    std::vector<Command> commands;
    Extractor extractor;
    for (const auto& text : each.at("texts").as_array()) {
      for (auto& command : extractor.feed(text.as_string())) commands.push_back(std::move(command));
      for (auto& command : extractor.finish()) commands.push_back(std::move(command));
    }
    json::array expected;
    for (const auto& command : each.at("expected").as_array())
      expected.push_back(
          json::object{{"to", command.at("to")}, {"kind", command.at("kind")}, {"body", command.at("body")}});
    EXPECT_EQ(without_data(testing::sends_as_json(commands)), expected) << each.at("recordings");
    for (const auto& command : commands) EXPECT_FALSE(std::holds_alternative<CommandError>(command));
  }
}

TEST(Recordings, ScreenYieldsSameMessagesAsModel) {
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
    const auto commands = without_data(testing::sends_as_json(extract_from_screen(rows)));
    EXPECT_EQ(commands, expected) << each.at("recording") << " " << each.at("label") << "\n"
                                  << json::serialize(commands) << "\n"
                                  << json::serialize(expected);
  }
}

}  // namespace
}  // namespace relay::commands
