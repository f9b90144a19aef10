#include "cli/framework/command.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace relay::cli {
namespace {

TEST(CommandTable, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const auto* command : command_table()) {
    EXPECT_TRUE(names.insert(command->name).second) << command->name;
    EXPECT_TRUE(command->usage.starts_with(command->name)) << command->name;
    EXPECT_FALSE(command->summary.empty() || command->summary.ends_with('.')) << command->name;
    EXPECT_NE(command->example.find("agent-relay "), std::string_view::npos) << command->name;
    EXPECT_NE(command->run, nullptr) << command->name;
    EXPECT_EQ(find_command(command->name), command);
    for (const auto& option : command->options) {
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_FALSE(option.description.empty()) << option.name;
      EXPECT_TRUE(option.otherwise.empty() || option.choices.find(option.otherwise) != std::string_view::npos);
    }
    for (const auto& argument : command->arguments) EXPECT_FALSE(argument.description.empty()) << argument.name;
  }
}

TEST(CommandTable, EveryReadCommandSpeaksJson) {
  for (const auto* name : {"status", "agents", "inbox", "log", "read", "trace", "search", "doctor", "config", "extract",
                           "dead", "channels", "policy", "loops", "workspaces"}) {
    const auto* command = find_command(name);
    ASSERT_NE(command, nullptr) << name;
    bool speaks = false;
    for (const auto& option : command->options) speaks = speaks || option.name == "--json";
    EXPECT_TRUE(speaks) << name;
  }
}

}  // namespace
}  // namespace relay::cli
