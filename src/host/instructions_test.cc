#include "host/instructions.h"

#include <gtest/gtest.h>

#include <sstream>

#include "commands/extractor.h"
#include "host/delivery/delivery.h"
#include "net/testing/temporary_directory.h"

namespace relay::host {
namespace {

/// The examples of the skill, in their order and without their indent. A blank line between two indented lines belongs
/// to one example.
std::vector<std::string> examples() {
  constexpr std::string_view kIndent = "    ";
  std::vector<std::string> all;
  std::size_t blank_lines = 0;
  bool inside = false;
  std::istringstream lines{std::string{skill_text()}};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      ++blank_lines;
      continue;
    }
    const bool indented = line.starts_with(kIndent);
    if (indented && inside)
      all.back() += std::string(blank_lines, '\n') + line.substr(kIndent.size()) + "\n";
    else if (indented)
      all.push_back(line.substr(kIndent.size()) + "\n");
    inside = indented;
    blank_lines = 0;
  }
  return all;
}

/// The example that holds `words`.
std::string example_with(std::string_view words) {
  for (auto& example : examples())
    if (example.contains(words)) return example;
  return {};
}

/// The messages that `text` sends.
std::vector<commands::SendCommand> commands_in(std::string_view text) {
  std::vector<commands::SendCommand> all;
  for (auto& each : commands::extract(text)) {
    auto* command = std::get_if<commands::SendCommand>(&each);
    EXPECT_NE(command, nullptr) << text;
    if (command == nullptr) continue;
    command->location = {};
    all.push_back(std::move(*command));
  }
  return all;
}

TEST(Instructions, ArgumentsFollowProgramAndOverwriteNothing) {
  pty::Command command{.argv = {"claude", "--resume"}, .environment = {"SET=mine"}, .directory = {}};
  instruct(command,
           {.arguments = {"--append", "{text}", "k={quoted}", "{other}"},
            .environment = {{"SET", "{text}"}, {"NEW", R"({"files":["{file}"]})"}}},
           "say \"hi\"", "/p/relay.md");
  EXPECT_EQ(command.argv,
            (std::vector<std::string>{"claude", "--append", "say \"hi\"", R"(k="say \"hi\"")", "{other}", "--resume"}));
  EXPECT_EQ(command.environment, (std::vector<std::string>{"SET=mine", R"(NEW={"files":["/p/relay.md"]})"}));
}

TEST(Instructions, VariableNeedsFile) {
  pty::Command command{.argv = {"opencode"}, .environment = {}, .directory = {}};
  instruct(command, {.arguments = {}, .environment = {{"CONFIG", "[{file}]"}, {"OTHER", "{text}"}}}, "text", "");
  EXPECT_EQ(command.environment, std::vector<std::string>{"OTHER=text"});
}

TEST(Skill, ShowsAcceptedForms) {
  const auto forms = commands_in(example_with("@relay:*"));
  ASSERT_EQ(forms.size(), 3U);
  EXPECT_EQ(forms[0].to, "Bob");
  EXPECT_EQ(forms[1].to, "*");
  EXPECT_EQ(forms[2].to, "#channel");
  for (const auto& form : forms) EXPECT_TRUE(form.body.starts_with("your words")) << form.body;
  EXPECT_EQ(commands_in(example_with("<<<")),
            (std::vector{commands::SendCommand{.to = "Bob", .body = "first paragraph\n\nsecond paragraph"}}));
}

TEST(Skill, ShowsExampleOfRequestAndReply) {
  EXPECT_EQ(example_with("--ask"),
            "$ agent-relay send --ask Bob \"which port does the server use?\" --timeout 2m\n8080\n");

  const auto example = example_with("(answer expected:");
  const net::testing::TemporaryDirectory directory;
  MessageFiles texts{directory.path(), {"messages"}};
  const IncomingMessage question{.from = "Alice",
                                 .id = "k3v9x2ab",
                                 .to = "",
                                 .thread = "ask-1f",
                                 .body = "which port does the server use?",
                                 .answer_expected = true};
  const auto shown = text_for_agent(question, 8'000, texts) + "\n";
  ASSERT_TRUE(example.starts_with(shown)) << example << "is not what an agent is shown:\n" << shown;
  EXPECT_TRUE(commands_in(shown).empty());
  EXPECT_EQ(commands_in(example),
            (std::vector{commands::SendCommand{.to = "Alice", .thread = "ask-1f", .body = "8080"}}));

  ASSERT_TRUE(skill_text().contains("`@relay:Alice 8080`"));
  EXPECT_EQ(commands_in("@relay:Alice 8080\n"), (std::vector{commands::SendCommand{.to = "Alice", .body = "8080"}}));
}

}  // namespace
}  // namespace relay::host
