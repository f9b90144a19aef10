#include "cli/render/extract_output.h"

#include <gtest/gtest.h>

#include "commands/extractor.h"

namespace relay::cli {
namespace {

std::string as_json(std::string_view text) {
  std::string lines;
  for (const auto& command : commands::extract(text)) lines += json::serialize(command_json(command)) + "\n";
  return lines;
}

TEST(ExtractOutput, PrintsOneObjectPerCommand) {
  EXPECT_EQ(
      as_json("@relay:web:Bob [thread:t1] hi\n"),
      R"({"t":null,"line":1,"column":0,"type":"command","kind":"message","to":"Bob","body":"hi","thread":"t1","project":"web"})"
      "\n");
  EXPECT_EQ(as_json("\n- @relay:spawn W claude \"go\"\n@relay:release W\nsee ->relay-file:m1\n"),
            R"({"t":null,"line":2,"column":2,"type":"spawn","name":"W","cli":"claude","task":"go"})"
            "\n"
            R"({"t":null,"line":3,"column":0,"type":"release","name":"W"})"
            "\n"
            R"({"t":null,"line":4,"column":4,"type":"file","id":"m1"})"
            "\n");
}

TEST(ExtractOutput, ReportsErrorAndUsage) {
  const auto line = as_json("@relay:Bob\n");
  EXPECT_NE(line.find(R"("type":"error")"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("usage":"@relay:Bob your text")"), std::string::npos) << line;
}

TEST(ExtractOutput, IsSafeForATerminal) {
  const auto commands = commands::extract(
      "@relay:Bob a\x07"
      "b:\n  c\n");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(command_line(commands[0]), "1: message to Bob: a^Gb:   c\n");
}

}  // namespace
}  // namespace relay::cli
