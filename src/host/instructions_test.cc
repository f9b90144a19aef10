#include "host/instructions.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

TEST(Instructions, GoBehindTheProgramsNameAndOverwriteNothing) {
  pty::Command command{.argv = {"claude", "--resume"}, .environment = {"SET=mine"}, .directory = {}};
  instruct(command,
           {.arguments = {"--append", "{text}", "k={quoted}", "{other}"},
            .environment = {{"SET", "{text}"}, {"NEW", R"({"files":["{file}"]})"}}},
           "say \"hi\"", "/p/relay.md");
  EXPECT_EQ(command.argv,
            (std::vector<std::string>{"claude", "--append", "say \"hi\"", R"(k="say \"hi\"")", "{other}", "--resume"}));
  EXPECT_EQ(command.environment, (std::vector<std::string>{"SET=mine", R"(NEW={"files":["/p/relay.md"]})"}));
}

TEST(Instructions, WithoutAFileNothingNamesIt) {
  pty::Command command{.argv = {"opencode"}, .environment = {}, .directory = {}};
  instruct(command, {.arguments = {}, .environment = {{"CONFIG", "[{file}]"}, {"OTHER", "{text}"}}}, "text", "");
  EXPECT_EQ(command.environment, std::vector<std::string>{"OTHER=text"});
}

}  // namespace
}  // namespace relay::host
