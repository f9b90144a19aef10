#include "cli/agent/hook_records.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

using hooks::HookEvent;
using hooks::HookEventKind;

std::string kinds_of(const HookEvent& event) {
  std::string kinds;
  for (const auto& record : records_of(event, {})) kinds += std::string{capture::name_of(record.kind)} + " ";
  return kinds;
}

TEST(HookRecords, EveryEventHasAKind) {
  const std::pair<HookEventKind, std::string> rows[] = {{HookEventKind::SessionStart, "session_start "},
                                                        {HookEventKind::Prompt, "prompt "},
                                                        {HookEventKind::BeforeTool, "tool_call "},
                                                        {HookEventKind::AfterTool, "tool_result "},
                                                        {HookEventKind::Permission, "permission "},
                                                        {HookEventKind::Notification, "notification "},
                                                        {HookEventKind::TurnEnd, "turn_end "},
                                                        {HookEventKind::TurnFailed, "failed "},
                                                        {HookEventKind::Display, ""},
                                                        {HookEventKind::Interrupt, "interrupt "},
                                                        {HookEventKind::SessionEnd, "session_end "},
                                                        {HookEventKind::Other, "other "}};
  for (const auto& [kind, expected] : rows) EXPECT_EQ(kinds_of({.kind = kind, .name = "x"}), expected);
  EXPECT_EQ(kinds_of({.kind = HookEventKind::TurnEnd, .name = "Stop", .text = "done"}), "message turn_end ");
  EXPECT_EQ(kinds_of({.kind = HookEventKind::TurnFailed, .name = "StopFailure", .reason = "rate_limit"}),
            "rate_limited ");
}

TEST(HookRecords, RecordsAgentAndContent) {
  const auto records = records_of({.agent = hooks::AgentCli::Codex,
                                   .kind = HookEventKind::BeforeTool,
                                   .name = "PreToolUse",
                                   .session = "s",
                                   .working_directory = "/w",
                                   .turn = "t",
                                   .tool = "Bash",
                                   .tool_use_id = "u",
                                   .tool_input = R"({"command":"ls"})"},
                                  {.name = "Alice"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].source.session, "s");
  EXPECT_EQ(records[0].source.agent, "codex");
  EXPECT_EQ(records[0].source.working_directory, "/w");
  EXPECT_EQ(records[0].source.name, "Alice");
  EXPECT_EQ(json::serialize(records[0].data),
            R"({"event":"PreToolUse","turn":"t","tool":"Bash","id":"u","input":{"command":"ls"}})");
}

TEST(HookRecords, RecordsTranscriptAndPid) {
  for (const auto kind : {HookEventKind::SessionStart, HookEventKind::Prompt}) {
    const auto records = records_of({.kind = kind, .name = "x", .transcript = "/t.jsonl"}, {.pid = 7});
    EXPECT_EQ(string_member(records[0].data, "transcript"), "/t.jsonl");
    EXPECT_EQ(integer_member(records[0].data, "pid"), 7);
  }
}

TEST(HookRecords, KeepsTruncatedToolInputAsText) {
  const auto records = records_of({.name = "PreToolUse", .tool_input = R"({"command":"l)", .tool_input_cut = true}, {});
  EXPECT_EQ(string_member(records[0].data, "input"), R"({"command":"l)");
}

}  // namespace
}  // namespace relay::cli
