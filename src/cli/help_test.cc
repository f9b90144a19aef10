#include "cli/help.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/text.h"

namespace relay::cli {
namespace {

TEST(Help, FitsOneScreen) {
  std::istringstream lines{overview()};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(display_width(line), static_cast<std::size_t>(kHelpColumns)) << line;
    const auto hint = line.find("[--");
    EXPECT_TRUE(hint == std::string::npos || line[hint - 1] == ' ') << line;
  }
  EXPECT_LE(count, kHelpLines);
}

TEST(Help, NamesEveryCommand) {
  const auto text = overview();
  for (const auto* command : command_table())
    EXPECT_NE(text.find("\n  " + std::string{command->usage}), std::string::npos) << command->name;
}

TEST(Help, OfACommandShowsItsOptionsAndAnExample) {
  for (const auto* command : command_table()) {
    const auto text = help_of(*command);
    EXPECT_NE(text.find("usage: agent-relay " + std::string{command->usage}), std::string::npos);
    EXPECT_NE(text.find("example: "), std::string::npos);
    for (const auto& option : command->options)
      EXPECT_EQ(text.find("  " + std::string{option.name}) != std::string::npos, !option.hidden) << option.name;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 120U) << line;
  }
}

TEST(Manual, HasASectionForEveryCommand) {
  for (const auto* command : command_table())
    EXPECT_NE(manual_markdown().find("\n### " + std::string{command->name} + "\n"), std::string::npos);
}

TEST(Manual, InTheRepositoryIsTheTables) {
  const auto page = std::filesystem::path{__FILE__}.parent_path() / "../../docs/cli.md";
  std::ifstream file{page};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, manual_markdown()) << "renew it with: agent-relay completion manual > docs/cli.md";
}

}  // namespace
}  // namespace relay::cli
