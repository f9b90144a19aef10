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
      EXPECT_TRUE(option.implicit_value.empty() ||
                  option.choices.find(option.implicit_value) != std::string_view::npos);
    }
    for (const auto& argument : command->arguments) EXPECT_FALSE(argument.description.empty()) << argument.name;
  }
}

TEST(CommandTable, EveryReadCommandHasJson) {
  for (const auto* name : {"status", "agents", "inbox", "log", "read", "trace", "search", "doctor", "config", "extract",
                           "dead", "channels", "policy", "loops", "workspaces"}) {
    const auto* command = find_command(name);
    ASSERT_NE(command, nullptr) << name;
    bool has_json = false;
    for (const auto& option : command->options) has_json = has_json || option.name == "--json";
    EXPECT_TRUE(has_json) << name;
  }
}

}  // namespace
}  // namespace relay::cli
