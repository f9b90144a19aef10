#include "activity/outcome.h"

#include <gtest/gtest.h>

namespace relay::activity {
namespace {

void expect(std::string_view result, std::optional<std::int64_t> code, std::string_view output) {
  const auto outcome = parse_outcome(result);
  EXPECT_EQ(outcome.exit_code, code) << result;
  EXPECT_EQ(outcome.output, output) << result;
}

TEST(Outcome, OfClaudeCode) {
  expect("Exit code 2\nls: cannot access 'x'", 2, "ls: cannot access 'x'");
  expect("Exit code 1", 1, "");
  expect("Exit code unknown", std::nullopt, "Exit code unknown");
}

TEST(Outcome, OfCodex) {
  expect("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno such file\n", 1, "no such file\n");
  expect("Chunk ID: 3f\nWall time: 1.0 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhi\n", 0,
         "hi\n");
  expect("Wall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\npart\n", std::nullopt, "part\n");
  expect(R"({"output":"done\n","metadata":{"exit_code":0,"duration_seconds":0.2}})", 0, "done\n");
}

TEST(Outcome, OfGeminiCli) {
  expect("<untrusted_context>\nOutput: all green\nProcess Group PGID: 31984\n</untrusted_context>", 0, "all green");
  expect(
      "<untrusted_context>\nOutput: a\nb\nExit Code: 3\nProcess Group PGID: "
      "1\n</untrusted_context>\n\n<hook_context>x</hook_context>",
      3, "a\nb");
  expect("Output: (empty)\nSignal: 9", std::nullopt, "");
}

TEST(Outcome, TreatsOtherTextAsOutput) {
  expect("all green", std::nullopt, "all green");
  expect("", std::nullopt, "");
  expect("{", std::nullopt, "{");
  expect("Exit code: 1 is what I expect", std::nullopt, "Exit code: 1 is what I expect");
  expect("{\"metadata\":7}", std::nullopt, "{\"metadata\":7}");
}

}  // namespace
}  // namespace relay::activity
