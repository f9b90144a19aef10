#include "host/prompts/prompt_events.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "host/testing/prompt_fixture.h"

namespace relay::host {
namespace {

using adapters::PromptKind;

struct PromptEventsTest : testing::PromptFixture {};

TEST_F(PromptEventsTest, PermissionIsReportedWithCommand) {
  EXPECT_EQ(
      lines(tracker.on_prompt(bash("p1"))),
      (Lines{
          R"(permission.requested {"requestId":"h7-p1","tool":"Bash","command":"make","description":"Bash: make","riskLevel":"medium"})"}));
  EXPECT_EQ(tracker.request_of("p1"), "h7-p1");
  EXPECT_EQ(tracker.prompt_of("h7-p1"), "p1");
  EXPECT_EQ(tracker.prompt_of("p1"), "p1");
  EXPECT_EQ(
      lines(tracker.on_prompt({.id = "p2", .tool = "Write", .summary = "Write: a", .input = R"({"file_path":"a"})"})),
      (Lines{
          R"(permission.requested {"requestId":"h7-p2","tool":"Write","filePath":"a","description":"Write: a","riskLevel":"medium"})"}));
  EXPECT_EQ(tracker.open().size(), 2U);
}

TEST_F(PromptEventsTest, PatchOfOneFileHasItsPath) {
  const auto patch = [&](std::string id, const char* input) {
    return lines(tracker.on_prompt({.id = std::move(id), .tool = "apply_patch", .summary = "s", .input = input}))[0];
  };
  EXPECT_EQ(
      patch("p1", R"({"command":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"})"),
      R"(permission.requested {"requestId":"h7-p1","tool":"apply_patch","filePath":"a","description":"s","riskLevel":"medium","partial":true})");
  EXPECT_EQ(
      patch("p2", R"({"command":"*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch"})"),
      R"(permission.requested {"requestId":"h7-p2","tool":"apply_patch","description":"s","riskLevel":"medium","partial":true})");
}

TEST_F(PromptEventsTest, PartialPermissionIsNotDecidedByRule) {
  int number = 0;
  const auto partial = [&](std::string tool, std::string input) {
    const auto report =
        lines(tracker.on_prompt({.id = format("p{}", ++number), .tool = std::move(tool), .input = std::move(input)}));
    return report.at(0).find(R"("partial":true)") != std::string::npos;
  };
  EXPECT_FALSE(partial("Read", R"({"file_path":"/p/a"})"));
  EXPECT_TRUE(partial("Read", R"({"file_path":"/p/)" + std::string(5'000, '.') + R"(/../.ssh/id_rsa"})"));
  EXPECT_FALSE(partial("Grep", R"({"pattern":"KEY","path":"/p"})"));
  EXPECT_TRUE(partial("Grep", R"({"pattern":"KEY","path":"/p","glob":".env"})"));
  EXPECT_TRUE(partial("apply_patch",
                      R"({"command":"*** Begin Patch\n*** Update File: src/a\n*** Move to: /etc/b\n*** End Patch"})"));
}

TEST_F(PromptEventsTest, LongInputIsTruncatedAndPartial) {
  const auto line = [&](std::string id, std::string command, bool partial) {
    return lines(tracker.on_prompt({.id = std::move(id),
                                    .tool = "Bash",
                                    .summary = "s",
                                    .input = R"({"command":")" + command + R"(","file_path":"a"})",
                                    .partial = partial}))[0];
  };
  EXPECT_EQ(line("p1", std::string(10'000, 'x'), false).find("partial"), std::string::npos);
  const auto longer = line("p2", std::string(20'000, 'x'), false);
  EXPECT_NE(longer.find(R"("command":"xxx)"), std::string::npos);
  EXPECT_NE(longer.find(R"("filePath":"a")"), std::string::npos);
  EXPECT_NE(longer.find(R"("partial":true)"), std::string::npos);
  EXPECT_NE(line("p3", "make", true).find(R"("partial":true)"), std::string::npos);
}

TEST_F(PromptEventsTest, LongInputStaysValid) {
  const std::string huge(300'000, 'x');
  (void)lines(tracker.on_prompt(
      {.id = "p1", .tool = huge, .summary = huge, .input = R"({"command":")" + huge + R"(","path":")" + huge + "\"}"}));
  (void)lines(tracker.on_prompt(
      {.id = "p2", .kind = PromptKind::Question, .questions = {{huge, std::vector<std::string>(500, "x")}}}));
  (void)close("p1", {.by = "hook"}, AnswerRecord{.by = huge, .reply = {.message = huge}});
}

}  // namespace
}  // namespace relay::host
