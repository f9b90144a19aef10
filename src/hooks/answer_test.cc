#include "hooks/answer.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::hooks {
namespace {

constexpr EventKind kKinds[] = {EventKind::SessionStart, EventKind::Prompt,     EventKind::BeforeTool,
                                EventKind::AfterTool,    EventKind::Permission, EventKind::Notification,
                                EventKind::TurnEnd,      EventKind::TurnFailed, EventKind::Display,
                                EventKind::Interrupt,    EventKind::SessionEnd, EventKind::Other};

Event event(Agent agent, EventKind kind, std::string name) {
  return Event{.agent = agent, .kind = kind, .name = std::move(name)};
}

std::string context_json(std::string_view name) {
  return format(R"({{"hookSpecificOutput":{{"hookEventName":"{}","additionalContext":"hello"}}}})", name);
}
std::string decision_json(std::string_view decision) {
  return format(R"({{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{}}}}})", decision);
}

TEST(WriteAnswer, SaysTextWhereTheAgentTakesIt) {
  struct Row {
    Agent agent;
    EventKind kind;
    std::string name;
  };
  const Row takers[] = {
      {Agent::Claude, EventKind::SessionStart, "SessionStart"}, {Agent::Claude, EventKind::Prompt, "UserPromptSubmit"},
      {Agent::Claude, EventKind::BeforeTool, "PreToolUse"},     {Agent::Claude, EventKind::AfterTool, "PostToolUse"},
      {Agent::Codex, EventKind::SessionStart, "SessionStart"},  {Agent::Codex, EventKind::Prompt, "UserPromptSubmit"},
      {Agent::Codex, EventKind::BeforeTool, "PreToolUse"},      {Agent::Codex, EventKind::AfterTool, "PostToolUse"},
      {Agent::Gemini, EventKind::SessionStart, "SessionStart"}, {Agent::Gemini, EventKind::Prompt, "BeforeAgent"},
      {Agent::Gemini, EventKind::AfterTool, "AfterTool"},
  };
  for (const auto agent : {Agent::Claude, Agent::Codex, Agent::Gemini}) {
    for (const auto kind : kKinds) {
      const auto* taker =
          std::ranges::find_if(takers, [&](const Row& row) { return row.agent == agent && row.kind == kind; });
      const bool takes = taker != std::end(takers);
      const auto name = takes ? taker->name : std::string{"Whatever"};
      const auto asked = event(agent, kind, kind == EventKind::AfterTool || takes ? name : "Whatever");
      EXPECT_EQ(write_answer(asked, {.context = "hello"}), takes ? context_json(name) : "")
          << name_of(agent) << " " << name_of(kind);
      EXPECT_EQ(write_answer(asked, {}), "") << name_of(agent) << " " << name_of(kind);
    }
  }
}

TEST(WriteAnswer, SaysAVerdictOnlyOnAPermission) {
  for (const auto agent : {Agent::Claude, Agent::Codex, Agent::Gemini}) {
    for (const auto kind : kKinds) {
      const auto asked = event(agent, kind, "PermissionRequest");
      const bool takes = kind == EventKind::Permission && agent != Agent::Gemini;
      EXPECT_EQ(write_answer(asked, {.verdict = Verdict::Allow}), takes ? decision_json(R"({"behavior":"allow"})") : "")
          << name_of(agent) << " " << name_of(kind);
      EXPECT_EQ(write_answer(asked, {.verdict = Verdict::Deny, .message = "not now"}),
                takes ? decision_json(R"({"behavior":"deny","message":"not now"})") : "")
          << name_of(agent) << " " << name_of(kind);
    }
  }
}

TEST(WriteAnswer, NeverAllowsAnotherInputThanMeant) {
  const Answer answer{.verdict = Verdict::Allow, .updated_input = R"({"answers":{"Which?":"SQLite"}})"};
  EXPECT_EQ(write_answer(event(Agent::Claude, EventKind::Permission, "PermissionRequest"), answer),
            decision_json(R"({"behavior":"allow","updatedInput":{"answers":{"Which?":"SQLite"}}})"));
  EXPECT_EQ(write_answer(event(Agent::Codex, EventKind::Permission, "PermissionRequest"), answer), "");
  for (const auto* broken : {"[]", "{", "\"text\""})
    EXPECT_EQ(write_answer(event(Agent::Claude, EventKind::Permission, "PermissionRequest"),
                           {.verdict = Verdict::Allow, .updated_input = broken}),
              "");
}

TEST(WriteAnswer, DeniesWithoutAMessageToo) {
  EXPECT_EQ(write_answer(event(Agent::Codex, EventKind::Permission, "PermissionRequest"), {.verdict = Verdict::Deny}),
            decision_json(R"({"behavior":"deny"})"));
}

TEST(WriteAnswer, NeverStartsAnotherTurn) {
  EXPECT_EQ(write_answer(event(Agent::Claude, EventKind::TurnEnd, "Stop"), {.context = "go on"}), "");
  EXPECT_EQ(write_answer(event(Agent::Gemini, EventKind::TurnEnd, "AfterAgent"), {.context = "go on"}), "");
}

TEST(WriteAnswer, TellsAFailedToolCallToClaudeOnly) {
  EXPECT_EQ(write_answer(event(Agent::Claude, EventKind::AfterTool, "PostToolUseFailure"), {.context = "hello"}),
            context_json("PostToolUseFailure"));
  EXPECT_EQ(write_answer(event(Agent::Codex, EventKind::AfterTool, "PostToolUseFailure"), {.context = "hello"}), "");
}

TEST(WriteAnswer, StaysBelowTheAgentsLimit) {
  std::string letters = "x";
  while (letters.size() < 20'000) letters += "é";
  const auto written = write_answer(event(Agent::Claude, EventKind::Prompt, "UserPromptSubmit"), {.context = letters});
  const auto parsed = parse_json_object(written);
  ASSERT_TRUE(parsed);
  const auto text = string_member(*object_member(*parsed, "hookSpecificOutput"), "additionalContext");
  EXPECT_EQ(text->size(), kMaxContextBytes - 1);
  EXPECT_TRUE(letters.starts_with(*text));
}

TEST(Answer, SurvivesItsOwnJson) {
  const Answer answers[] = {{},
                            {.context = "two\nlines"},
                            {.verdict = Verdict::Deny, .message = "no"},
                            {.verdict = Verdict::Allow, .updated_input = "{}"}};
  for (const auto& answer : answers) EXPECT_EQ(answer_from(to_json(answer)), answer);
}

TEST(Answer, RefusesWhatItCannotRead) {
  EXPECT_FALSE(answer_from({{"verdict", "perhaps"}}));
  EXPECT_FALSE(answer_from({{"verdict", 1}}));
  EXPECT_FALSE(answer_from({{"context", nullptr}}));
  EXPECT_TRUE(answer_from({{"later", "field"}}));
}

}  // namespace
}  // namespace relay::hooks
