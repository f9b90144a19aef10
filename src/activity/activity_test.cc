#include "activity/activity.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::activity {
namespace {

using transcripts::CommandRun;
using transcripts::FileChange;
using transcripts::Text;
using transcripts::ToolCall;
using transcripts::ToolResult;
using transcripts::TurnEnded;
using Lines = std::vector<std::string>;

struct ActivityTest : ::testing::Test {
  Activity activity{"transcript"};
  WallMs now = 1'000;

  /// The events of an entry, each in one short line.
  Lines take(const transcripts::Entry& entry) {
    Lines lines;
    for (const auto& [event, at] : activity.take(entry, now)) lines.push_back(line_of(event));
    return lines;
  }
  static std::string line_of(const events::Event& event) {
    const auto members = events::members_of(event);
    EXPECT_TRUE(events::read_event(events::type_of(event), members)) << json::serialize(members);
    return format("{} {}", events::type_of(event), json::serialize(members));
  }
  /// The events of one type.
  Lines take_only(const transcripts::Entry& entry, std::string_view type) {
    auto lines = take(entry);
    std::erase_if(lines, [&](const std::string& line) { return !line.starts_with(type); });
    return lines;
  }
  static ToolCall tool(std::string name, std::string input, std::string id = "c1") {
    return {.id = std::move(id), .name = std::move(name), .input = std::move(input)};
  }
};

TEST_F(ActivityTest, StartsABlockAtTheInputOrThePreviousBlocksEnd) {
  (void)take(transcripts::ModelInput{.id = "p", .text = "greet"});
  now = 1'400;
  EXPECT_EQ(take(transcripts::Thought{.id = "u1", .text = "Hm."}),
            (Lines{R"(item.started {"itemId":"t-u1","itemType":"thinking","startedAt":1000})",
                   R"(item.delta {"itemId":"t-u1","delta":{"type":"text","content":"Hm."}})",
                   R"(item.completed {"itemId":"t-u1","completedAt":1400,"duration":400})"}));
  now = 1'900;
  EXPECT_EQ(take(Text{.id = "u1", .text = "Hello."}),
            (Lines{R"(item.started {"itemId":"m-u1","itemType":"message","startedAt":1400})",
                   R"(item.delta {"itemId":"m-u1","delta":{"type":"text","content":"Hello."}})",
                   R"(item.completed {"itemId":"m-u1","completedAt":1900,"duration":500})"}));
  EXPECT_EQ(take(Text{.id = "u2", .text = ""}), Lines{});
}

TEST_F(ActivityTest, EmitsChunksAsDeltas) {
  const auto piece = [&](std::string_view text) {
    Lines lines;
    for (const auto& [event, at] : activity.take(TextChunk{.id = "d1", .text = text}, now))
      lines.push_back(line_of(event));
    return lines;
  };
  EXPECT_EQ(piece("One lin"), (Lines{R"(item.started {"itemId":"m-d1","itemType":"message","startedAt":1000})"}));
  now = 1'200;
  EXPECT_EQ(piece("e.\nTwo"),
            (Lines{R"(item.delta {"itemId":"m-d1","delta":{"type":"text","content":"One line.\n"}})"}));
  now = 1'500;
  EXPECT_EQ(take(Text{.id = "row", .text = "One line.\nTwo lines."}),
            (Lines{R"(item.delta {"itemId":"m-d1","delta":{"type":"text","content":"Two lines."}})",
                   R"(item.completed {"itemId":"m-d1","completedAt":1500,"duration":500})"}));
  EXPECT_EQ(piece("late"), Lines{});
}

TEST_F(ActivityTest, CompletesAnInterruptedBlockAsFailed) {
  (void)activity.take(TextChunk{.id = "d1", .text = "This will ta"}, now);
  EXPECT_EQ(take(TurnEnded{.outcome = transcripts::TurnOutcome::Interrupted}),
            (Lines{R"(item.delta {"itemId":"m-d1","delta":{"type":"text","content":"This will ta"}})",
                   R"(item.completed {"itemId":"m-d1","completedAt":1000,)"
                   R"("result":{"failed":true,"reason":"interrupted"},"duration":0})"}));
}

TEST_F(ActivityTest, EmitsOutputOfARunningToolOnce) {
  (void)take(tool("Bash", R"({"command":"make"})"));
  const auto deltas = [&](const TimedEvents& all) {
    Lines lines;
    for (const auto& [event, at] : all)
      if (const auto* delta = std::get_if<events::ItemDelta>(&event)) lines.push_back(delta->delta.content);
    return lines;
  };
  EXPECT_EQ(deltas(activity.take_output("c1", "one\ntw", now)), (Lines{"one\n"}));
  EXPECT_EQ(deltas(activity.take_output("c1", "one\ntwo\n", now)), (Lines{"two\n"}));
  EXPECT_EQ(deltas(activity.take(ToolResult{.id = "c1", .text = "one\ntwo\nthree"}, now)), (Lines{"three"}));
  EXPECT_EQ(deltas(activity.take_output("c1", "one\ntwo\nthree\n", now)), Lines{});
}

TEST_F(ActivityTest, EmitsAppendedTextAsASeparateItem) {
  (void)take(Text{.id = "u1", .text = "one"});
  EXPECT_TRUE(take(Text{.id = "u1", .text = "two"})[0].starts_with(R"(item.started {"itemId":"m-u1.2")"));
  EXPECT_TRUE(take(Text{.id = "", .text = "x"})[0].starts_with(R"(item.started {"itemId":"m-1")"));
  EXPECT_TRUE(take(Text{.id = "", .text = "x"})[0].starts_with(R"(item.started {"itemId":"m-2")"));
}

TEST_F(ActivityTest, KeepsACommandOpenUntilItsResult) {
  EXPECT_EQ(
      take(tool("Bash", R"({"command":"npm test"})")),
      (Lines{R"(item.started {"itemId":"c1","itemType":"test_run","startedAt":1000,)"
             R"("metadata":{"tool":"Bash","input":{"command":"npm test"}}})",
             R"(item.delta {"itemId":"c1","delta":{"type":"tool_input","content":"{\"command\":\"npm test\"}"}})"}));
  now = 3'500;
  EXPECT_EQ(take(ToolResult{.id = "c1", .text = "Exit code 1\nno", .failed = true}),
            (Lines{R"(item.delta {"itemId":"c1","delta":{"type":"tool_output","content":"Exit code 1\nno"}})",
                   R"(command.executed {"command":"npm test","exitCode":1,"duration":2500,"stdout":"no"})",
                   R"(item.completed {"itemId":"c1","completedAt":3500,"result":{"failed":true},"duration":2500})"}));
  EXPECT_EQ(take(ToolResult{.id = "c1", .text = "again"}), Lines{});
}

TEST_F(ActivityTest, FailsACommandWithNonZeroExitCode) {
  (void)take(tool("Bash", R"({"command":"make"})"));
  EXPECT_EQ(
      take_only(ToolResult{.id = "c1", .text = R"({"output":"no","metadata":{"exit_code":2}})"}, "item.completed"),
      Lines{R"(item.completed {"itemId":"c1","completedAt":1000,"result":{"failed":true},"duration":0})"});
  (void)take(tool("Bash", R"({"command":"make"})"));
  (void)take(CommandRun{.tool = "c1", .exit_code = 2});
  EXPECT_EQ(take_only(ToolResult{.id = "c1", .text = "no"}, "item.completed"),
            Lines{R"(item.completed {"itemId":"c1","completedAt":1000,"result":{"failed":true},"duration":0})"});
}

TEST_F(ActivityTest, EmitsNoEventForARefusedCommand) {
  (void)take(tool("Bash", R"({"command":"rm x"})"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1", .text = "The user doesn't want to proceed", .failed = true}, "command"),
            Lines{});
}

TEST_F(ActivityTest, PrefersTheRecordedCommandToTheResult) {
  (void)take(tool("Bash", R"({"command":"make"})"));
  now = 1'200;
  EXPECT_EQ(
      take(CommandRun{.tool = "c1", .exit_code = 0, .output = "ok", .errors = "warned"}),
      (Lines{R"(command.executed {"command":"make","exitCode":0,"duration":200,"stdout":"ok","stderr":"warned"})"}));
  EXPECT_EQ(take_only(ToolResult{.id = "c1", .text = "ok"}, "command"), Lines{});
}

TEST_F(ActivityTest, EmitsCommandsOfAScriptWithoutACall) {
  EXPECT_NE(take(tool("exec", "const r = await tools.exec_command({cmd: 'cargo test'});"))[0].find("test_run"),
            std::string::npos);
  EXPECT_EQ(take(CommandRun{.tool = "exec-7", .text = "cargo test", .exit_code = 101, .duration_ms = 40}),
            (Lines{R"(command.executed {"command":"cargo test","exitCode":101,"duration":40})"}));
}

TEST_F(ActivityTest, EmitsAnEditAsADiff) {
  (void)take(tool("Edit", R"({"file_path":"/p/a.txt","old_string":"two","new_string":"zwei"})"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1", .text = "done"}, "file"),
            (Lines{R"(file.operation {"operation":"edit","filePath":"/p/a.txt","linesChanged":2,)"
                   R"("diff":"@@ -1,1 +1,1 @@\n-two\n+zwei\n"})"}));
  (void)take(
      tool("multiedit",
           R"({"filePath":"b","edits":[{"oldString":"a","newString":"b"},{"oldString":"c","newString":""},7]})"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1"}, "file"),
            (Lines{R"(file.operation {"operation":"edit","filePath":"b","linesChanged":3,)"
                   R"("diff":"@@ -1,1 +1,1 @@\n-a\n+b\n@@ -1,1 +0,0 @@\n-c\n"})"}));
}

TEST_F(ActivityTest, EmitsNoChangeForAFailedEdit) {
  (void)take(tool("Edit", R"({"file_path":"/p/a.txt","old_string":"two","new_string":"zwei"})"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1", .text = "not found", .failed = true}, "file"), Lines{});
}

TEST_F(ActivityTest, EmitsFileOperations) {
  (void)take(tool("read", R"({"filePath":"a"})"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1"}, "file"),
            (Lines{R"(file.operation {"operation":"read","filePath":"a"})"}));
  (void)take(tool("Write", R"({"file_path":"b","content":"x"})"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1"}, "file"),
            (Lines{R"(file.operation {"operation":"write","filePath":"b"})"}));
  (void)take(tool("Write", R"({"file_path":"b","content":"x"})"));
  EXPECT_EQ(
      take(FileChange{.tool = "c1", .change = transcripts::Change::Created, .path = "b", .content = "x\n"}),
      (Lines{
          R"(file.operation {"operation":"create","filePath":"b","linesChanged":1,"diff":"@@ -0,0 +1,1 @@\n+x\n"})"}));
  EXPECT_EQ(take_only(ToolResult{.id = "c1"}, "file"), Lines{});
  (void)take(tool("apply_patch",
                  "*** Begin Patch\n*** Delete File: c\n*** Update File: d\n*** Move to: e\n-1\n+2\n*** End Patch"));
  EXPECT_EQ(take_only(ToolResult{.id = "c1"}, "file"),
            (Lines{R"(file.operation {"operation":"delete","filePath":"c"})",
                   R"(file.operation {"operation":"delete","filePath":"d"})",
                   R"(file.operation {"operation":"create","filePath":"e","linesChanged":2,"diff":"@@\n-1\n+2\n"})"}));
}

TEST_F(ActivityTest, FailsACallWithoutResultWhenItsTurnEnds) {
  (void)take(tool("Bash", R"({"command":"sleep 60"})"));
  now = 2'000;
  EXPECT_EQ(
      take(TurnEnded{.outcome = transcripts::TurnOutcome::Interrupted}),
      (Lines{
          R"(item.completed {"itemId":"c1","completedAt":2000,"result":{"failed":true,"reason":"interrupted"},"duration":1000})"}));
  EXPECT_EQ(take(TurnEnded{}), Lines{});
  EXPECT_EQ(take(ToolResult{.id = "c1", .text = "late"}), Lines{});
}

TEST_F(ActivityTest, CompletesACallWithoutIdAtOnce) {
  EXPECT_EQ(take(tool("web_search_call", R"({"query":"x"})", "")).size(), 3U);
}

TEST_F(ActivityTest, BoundsOpenCalls) {
  std::size_t completed = 0;
  for (std::size_t i = 0; i < 3 * kMaxOpen; ++i)
    completed += take_only(tool("Bash", "{}", format("c{}", i)), "item.completed").size();
  EXPECT_EQ(completed, 2 * kMaxOpen);
  EXPECT_EQ(activity.end("the agent has ended", now).size(), kMaxOpen);
}

TEST_F(ActivityTest, EmitsUpdatedTokensWithTheSameId) {
  transcripts::TokenUsage usage{.id = "msg/req", .model = "m", .input = 3, .cache_read = 7, .output = 1};
  EXPECT_EQ(take(usage), (Lines{R"(tokens.used {"agentName":"","model":"m","inputTokens":3,"outputTokens":1,)"
                                R"("cacheReadTokens":7,"requestId":"msg/req","source":"transcript"})"}));
  usage.output = 9;
  EXPECT_NE(take(usage)[0].find(R"("outputTokens":9)"), std::string::npos);
}

TEST_F(ActivityTest, ConformsToTheTablesForStrangeInput) {
  const std::string huge(300'000, 'x');
  for (const auto* name :
       {"Bash", "Edit", "Write", "Read", "exec", "apply_patch", "no such tool", "", "Glob", "TodoWrite"})
    for (const auto& input : {std::string{}, std::string{"["}, std::string{"[1]"}, std::string{"null"}, huge,
                              std::string{R"({"command":7,"file_path":[],"edits":{}})"},
                              R"({"command":")" + huge + R"(","file_path":")" + huge + "\"}",
                              std::string{R"({"command":["a",7],"file_path":"","edits":[[]]})"}}) {
      (void)take(tool(name, input, huge));
      (void)take(ToolResult{.id = huge, .text = huge});
    }
  (void)take(Text{.id = huge, .text = huge});
  (void)take(transcripts::TokenUsage{.id = huge, .model = huge});
  (void)take(FileChange{.path = huge, .moved_to = huge, .diff = huge});
  (void)take(transcripts::Unknown{.type = "x", .problem = "y"});
  for (std::size_t i = 0; i < 2 * kMaxUnparsed; ++i) (void)take(transcripts::Unknown{.problem = "y"});
  EXPECT_EQ(take(transcripts::Unknown{.problem = "y"}), Lines{});
}

}  // namespace
}  // namespace relay::activity
