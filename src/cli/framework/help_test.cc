#include "cli/framework/help.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/framework/man_page.h"
#include "cli/render/text.h"

namespace relay::cli {
namespace {

TEST(Help, FitsOneScreen) {
  std::istringstream lines{overview()};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(display_width(line), kHelpColumns) << line;
    const auto hint = line.find("[--");
    EXPECT_TRUE(hint == std::string::npos || line[hint - 1] == ' ') << line;
  }
  EXPECT_LE(count, kHelpLines);
}

TEST(Help, SeparatesColumns) {
  const auto text = overview();
  for (const auto* command : command_table()) {
    if (!is_listed(*command)) continue;
    EXPECT_NE(text.find("  " + std::string{command->summary}), std::string::npos) << command->name;
    EXPECT_NE(text.find("  " + std::string{command->hint}), std::string::npos) << command->name;
  }
}

TEST(Help, NamesEveryCommand) {
  const auto text = overview();
  for (const auto* command : command_table())
    EXPECT_NE(text.find(is_listed(*command) ? "\n  " + std::string{command->usage} : std::string{command->name}),
              std::string::npos)
        << command->name;
}

TEST(Help, UsageShowsEveryArgument) {
  EXPECT_EQ(usage_of(*find_command("spawn")), "spawn NAME CLI [TASK]");
  EXPECT_EQ(usage_of(*find_command("input")), "input NAME (TEXT | --key KEYS)");
  EXPECT_EQ(usage_of(*find_command("hooks")), "hooks VERB [AGENT]");
}

TEST(Help, ShowsOptionsAndExampleOfACommand) {
  for (const auto* command : command_table()) {
    const auto text = help_of(*command);
    EXPECT_NE(text.find("usage: agent-relay " + usage_of(*command)), std::string::npos);
    EXPECT_NE(text.find("example: "), std::string::npos);
    for (const auto& option : command->options)
      EXPECT_EQ(text.find("  " + std::string{option.name}) != std::string::npos, !option.hidden) << option.name;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 120U) << line;
  }
}

TEST(Help, FitsANarrowTerminalWithoutBreakingWords) {
  std::vector<std::string> texts = {overview(40)};
  for (const auto* command : command_table()) texts.push_back(help_of(*command, 40));
  for (const auto& text : texts) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 40U) << line;
  }
  EXPECT_TRUE(overview(40).contains("  send TO TEXT\n      send TEXT to TO, or to every agent\n      with '*'\n"))
      << overview(40);
  EXPECT_EQ(overview(80), overview());
}

TEST(Manual, HasASectionForEveryCommand) {
  for (const auto* command : command_table())
    EXPECT_NE(manual_markdown().find("\n### " + std::string{command->name} + "\n"), std::string::npos);
}

TEST(ManPage, HasEveryCommandAndOnlyIntendedRequests) {
  const auto page = man_page();
  EXPECT_TRUE(page.starts_with(".TH AGENT\\-RELAY 1 "));
  for (const auto* command : command_table())
    EXPECT_NE(page.find("\n.B agent\\-relay " + std::string{command->name}), std::string::npos) << command->name;
  std::istringstream lines{page};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.') && !line.starts_with('\'')) continue;
    const auto request = line.substr(0, line.find(' '));
    EXPECT_NE(std::string{".TH .SH .TP .B .I .RS .RE .PP"}.find(request), std::string::npos) << line;
  }
}

TEST(Manual, InRepositoryMatchesCommandTable) {
  const auto page = std::filesystem::path{__FILE__}.parent_path() / "../../../docs/cli.md";
  std::ifstream file{page};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, manual_markdown()) << "regenerate it with: agent-relay completion manual > docs/cli.md";
}

}  // namespace
}  // namespace relay::cli
