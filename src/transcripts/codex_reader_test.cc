#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "transcripts/testing/records.h"

namespace relay::transcripts {
namespace {

using testing::only;

/// A whole session of Codex 0.166: tools, hooks, its queue, an interrupted turn, a used up quota.
const Entries& session() {
  static const Entries entries = [] {
    const auto reader = codex_reader();
    return testing::read_all(*reader, testing::record_lines("codex-session.jsonl"));
  }();
  return entries;
}

TEST(CodexReader, ParsesEveryLineOfASession) {
  for (const auto& unknown : only<Unknown>(session())) ADD_FAILURE() << unknown.type << ": " << unknown.problem;
  ASSERT_EQ(only<SessionInfo>(session()).size(), 1U);
  EXPECT_EQ(only<SessionInfo>(session())[0].id, "01a1e0ca-9d22-7522-9e82-4f879e1650ef");
  EXPECT_EQ(only<SessionInfo>(session())[0].working_directory, "/home/agent/proj");
}

TEST(CodexReader, EmitsATextThatIsWrittenTwiceOnce) {
  std::vector<std::string> ids;
  for (const auto& text : only<Text>(session())) ids.push_back(text.id);
  EXPECT_EQ(ids.size(), 9U);
  std::ranges::sort(ids);
  EXPECT_TRUE(std::ranges::adjacent_find(ids) == ids.end());
}

TEST(CodexReader, ReadsTheOriginOfInputs) {
  std::vector<std::string> user, hook;
  for (const auto& prompt : only<ModelInput>(session())) {
    if (prompt.origin == Origin::User) user.push_back(prompt.text);
    if (prompt.origin == Origin::Hook) hook.push_back(prompt.text);
  }
  EXPECT_EQ(user, (std::vector<std::string>{"please greet bob", "two texts please", "show a fence", "ponder this",
                                            "Relay message from Carol [q-0001]: hello through the queue",
                                            "two texts please", "Relay message from Carol [q-0002]: hello while busy",
                                            "think slowly", "hit the usage limit"}));
  EXPECT_EQ(hook.size(), 11U);
  EXPECT_EQ(std::ranges::count(hook, "Relay message from Carol [abc-PostToolUse]: context by hook"), 2);
}

TEST(CodexReader, EmitsTriggerAndOutcomeOfATurn) {
  std::vector<std::string> story;
  for (const auto& entry : session()) {
    if (const auto* started = std::get_if<TurnStarted>(&entry)) story.push_back(started->trigger);
    if (const auto* ended = std::get_if<TurnEnded>(&entry)) story.emplace_back(name_of(ended->outcome));
  }
  EXPECT_EQ(story,
            (std::vector<std::string>{"user", "done", "user", "done", "user", "done", "user", "done", "queue", "done",
                                      "user", "done", "queue", "done", "user", "interrupted", "user", "failed"}));
}

TEST(CodexReader, CountsEachReplyOnceAndCachedTokensSeparately) {
  const auto usages = only<TokenUsage>(session());
  ASSERT_EQ(usages.size(), 9U);
  EXPECT_EQ(usages[0].input, 13312);
  EXPECT_EQ(usages[0].output, 19);
  EXPECT_EQ(usages[0].model, "gpt-6-sol");
  const auto pondered = std::ranges::find(usages, std::optional<std::int64_t>{30}, &TokenUsage::cache_read);
  ASSERT_NE(pondered, usages.end());
  EXPECT_EQ(pondered->input, 70);
  EXPECT_EQ(pondered->output, 20);
}

TEST(CodexReader, EmitsAnExhaustedQuotaAndItsFailure) {
  const auto limits = only<Limit>(session());
  ASSERT_FALSE(limits.empty());
  EXPECT_EQ(limits[0].name, "primary");
  EXPECT_EQ(limits[0].used_percent, 100);
  EXPECT_EQ(limits[0].window_minutes, 300);
  EXPECT_EQ(limits[0].resets_at, 1794776403);
  const auto failures = only<TurnFailure>(session());
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].kind, FailureKind::UsageLimit);
  EXPECT_EQ(failures[0].code, "usage_limit_exceeded");
}

TEST(CodexReader, EmitsToolCallsWithResults) {
  const auto tools = only<ToolCall>(session());
  const auto results = only<ToolResult>(session());
  ASSERT_EQ(tools.size(), 2U);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(tools[0].name, "exec");
  EXPECT_NE(tools[0].input.find("sleep 2; echo all green"), std::string::npos);
  EXPECT_EQ(results[0].id, tools[0].id);
  EXPECT_NE(results[0].text.find("all green"), std::string::npos);
}

TEST(CodexReader, ReadsFailureCodesInBothFormats) {
  const auto reader = codex_reader();
  const auto entries = reader->read(
      R"({"type":"event_msg","payload":{"type":"task_complete","turn_id":"t","error":{"message":"gave up",)"
      R"("codex_error_info":{"response_too_many_failed_attempts":{"http_status_code":429}}}}})");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(std::get<TurnFailure>(entries[0]).kind, FailureKind::RateLimit);
  EXPECT_EQ(std::get<TurnFailure>(entries[0]).code, "response_too_many_failed_attempts");
  EXPECT_EQ(std::get<TurnEnded>(entries[1]).outcome, TurnOutcome::Failed);
}

TEST(CodexReader, IdentifiesMessagesOfOlderVersionsByTime) {
  const auto reader = codex_reader();
  const auto read = [&](const std::string& when) {
    return only<Text>(reader->read(R"({"timestamp":")" + when +
                                   R"(","type":"response_item","payload":{"type":"message","role":"assistant",)"
                                   R"("content":[{"type":"output_text","text":"@relay:Bob done"}]}})"))
        .size();
  };
  EXPECT_EQ(read("2026-11-15T08:15:00.359Z"), 1U);
  EXPECT_EQ(read("2026-11-15T08:15:00.359Z"), 0U);
  EXPECT_EQ(read("2026-11-15T08:16:00.000Z"), 1U) << "written again";
}

TEST(CodexReader, IdentifiesProgramInputOfOlderVersionsByTags) {
  const auto reader = codex_reader();
  const auto user = [&](const std::string& text) {
    const auto prompts = only<ModelInput>(
        reader->read(R"({"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":)"
                     R"("input_text","text":")" +
                     text + R"("}]}})"));
    return prompts.at(0).origin;
  };
  EXPECT_EQ(user("please greet bob"), Origin::User);
  EXPECT_EQ(user("<environment_context>here</environment_context>"), Origin::Program);
}

TEST(CodexReader, EmitsEffectsOfAScript) {
  const auto reader = codex_reader();
  const auto entries = testing::read_all(*reader, testing::record_lines("codex-work.jsonl"));
  const auto changes = only<FileChange>(entries);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].diff, "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n");
  EXPECT_EQ(changes[1].change, Change::Created);
  const auto commands = only<CommandRun>(entries);
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].exit_code, 3);
  EXPECT_EQ(commands[1].text, "grep -rn zwei poem.txt");
}

TEST(CodexReader, MarksAnInterruptedCallAsFailed) {
  const auto reader = codex_reader();
  const auto failed = [&](std::string_view output) {
    const auto entries = reader->read(relay::format(
        R"({{"type":"response_item","payload":{{"type":"custom_tool_call_output","call_id":"c","output":"{}"}}}})",
        output));
    return only<ToolResult>(entries).at(0).failed;
  };
  EXPECT_FALSE(failed("Script completed\\nWall time 0.1 seconds\\nOutput:\\n"));
  EXPECT_FALSE(failed("all green"));
  EXPECT_TRUE(failed("Script failed\\nWall time 0.0 seconds\\nOutput:\\n"));
  EXPECT_TRUE(failed("Script terminated\\nWall time 3.3 seconds\\nOutput:\\n"));
  EXPECT_TRUE(failed("aborted by user after 2.9s"));
}

TEST(CodexReader, ReadsEffectsFromEventsOfOlderVersions) {
  const auto reader = codex_reader();
  const auto entries = testing::read_all(
      *reader,
      {R"({"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c1","command":["bash","-lc","ls x"],"stdout":"",)"
       R"("stderr":"none","exit_code":2,"duration":{"secs":1,"nanos":500000000}}})",
       R"({"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c1","command":["bash","-lc","ls x"]}})",
       R"({"type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c2","success":false,"changes":{"a":{"type":"delete"}}}})",
       R"({"type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c3","success":true,"changes":{"a":{"type":"delete"}}}})"});
  const auto commands = only<CommandRun>(entries);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].text, "ls x");
  EXPECT_EQ(commands[0].errors, "none");
  EXPECT_EQ(commands[0].duration_ms, 1'500);
  ASSERT_EQ(only<FileChange>(entries).size(), 1U);
  EXPECT_EQ(only<FileChange>(entries)[0].change, Change::Deleted);
}

}  // namespace
}  // namespace relay::transcripts
