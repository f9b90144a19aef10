#include "hooks/response.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::hooks {
namespace {

constexpr HookEventKind kKinds[] = {HookEventKind::SessionStart, HookEventKind::Prompt,     HookEventKind::BeforeTool,
                                    HookEventKind::AfterTool,    HookEventKind::Permission, HookEventKind::Notification,
                                    HookEventKind::TurnEnd,      HookEventKind::TurnFailed, HookEventKind::Display,
                                    HookEventKind::Interrupt,    HookEventKind::SessionEnd, HookEventKind::Other};

HookEvent make_event(AgentCli agent, HookEventKind kind, std::string name) {
  return HookEvent{.agent = agent, .kind = kind, .name = std::move(name)};
}

std::string context_json(std::string_view name) {
  return format(R"({{"hookSpecificOutput":{{"hookEventName":"{}","additionalContext":"hello"}}}})", name);
}
std::string decision_json(std::string_view decision) {
  return format(R"({{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{}}}}})", decision);
}

TEST(WriteResponse, WritesContextWhereAgentAcceptsIt) {
  struct Row {
    AgentCli agent;
    HookEventKind kind;
    std::string name;
  };
  const Row takers[] = {
      {AgentCli::Claude, HookEventKind::SessionStart, "SessionStart"},
      {AgentCli::Claude, HookEventKind::Prompt, "UserPromptSubmit"},
      {AgentCli::Claude, HookEventKind::BeforeTool, "PreToolUse"},
      {AgentCli::Claude, HookEventKind::AfterTool, "PostToolUse"},
      {AgentCli::Codex, HookEventKind::SessionStart, "SessionStart"},
      {AgentCli::Codex, HookEventKind::Prompt, "UserPromptSubmit"},
      {AgentCli::Codex, HookEventKind::BeforeTool, "PreToolUse"},
      {AgentCli::Codex, HookEventKind::AfterTool, "PostToolUse"},
      {AgentCli::Gemini, HookEventKind::SessionStart, "SessionStart"},
      {AgentCli::Gemini, HookEventKind::Prompt, "BeforeAgent"},
      {AgentCli::Gemini, HookEventKind::AfterTool, "AfterTool"},
  };
  for (const auto agent : {AgentCli::Claude, AgentCli::Codex, AgentCli::Gemini}) {
    for (const auto kind : kKinds) {
      const auto* taker =
          std::ranges::find_if(takers, [&](const Row& row) { return row.agent == agent && row.kind == kind; });
      const bool takes = taker != std::end(takers);
      const auto name = takes ? taker->name : std::string{"Other"};
      const auto event = make_event(agent, kind, kind == HookEventKind::AfterTool || takes ? name : "Other");
      EXPECT_EQ(write_response(event, {.context = "hello"}), takes ? context_json(name) : "")
          << name_of(agent) << " " << name_of(kind);
      EXPECT_EQ(write_response(event, {}), "") << name_of(agent) << " " << name_of(kind);
    }
  }
}

TEST(WriteResponse, WritesDecisionOnlyForPermission) {
  for (const auto agent : {AgentCli::Claude, AgentCli::Codex, AgentCli::Gemini}) {
    for (const auto kind : kKinds) {
      const auto event = make_event(agent, kind, "PermissionRequest");
      const bool takes = kind == HookEventKind::Permission && agent != AgentCli::Gemini;
      EXPECT_EQ(write_response(event, {.decision = HookDecision::Allow}),
                takes ? decision_json(R"({"behavior":"allow"})") : "")
          << name_of(agent) << " " << name_of(kind);
      EXPECT_EQ(write_response(event, {.decision = HookDecision::Deny, .message = "not now"}),
                takes ? decision_json(R"({"behavior":"deny","message":"not now"})") : "")
          << name_of(agent) << " " << name_of(kind);
    }
  }
}

TEST(WriteResponse, NeverAllowsOtherInput) {
  const HookResponse answer{.decision = HookDecision::Allow, .updated_input = R"({"answers":{"Which?":"SQLite"}})"};
  EXPECT_EQ(write_response(make_event(AgentCli::Claude, HookEventKind::Permission, "PermissionRequest"), answer),
            decision_json(R"({"behavior":"allow","updatedInput":{"answers":{"Which?":"SQLite"}}})"));
  EXPECT_EQ(write_response(make_event(AgentCli::Codex, HookEventKind::Permission, "PermissionRequest"), answer), "");
  for (const auto* broken : {"[]", "{", "\"text\""})
    EXPECT_EQ(write_response(make_event(AgentCli::Claude, HookEventKind::Permission, "PermissionRequest"),
                             {.decision = HookDecision::Allow, .updated_input = broken}),
              "");
}

TEST(WriteResponse, DeniesWithoutMessage) {
  EXPECT_EQ(write_response(make_event(AgentCli::Codex, HookEventKind::Permission, "PermissionRequest"),
                           {.decision = HookDecision::Deny}),
            decision_json(R"({"behavior":"deny"})"));
}

TEST(WriteResponse, NeverStartsAnotherTurn) {
  EXPECT_EQ(write_response(make_event(AgentCli::Claude, HookEventKind::TurnEnd, "Stop"), {.context = "continue"}), "");
  EXPECT_EQ(write_response(make_event(AgentCli::Gemini, HookEventKind::TurnEnd, "AfterAgent"), {.context = "continue"}),
            "");
}

TEST(WriteResponse, WritesContextOfFailedToolCallForClaudeOnly) {
  EXPECT_EQ(write_response(make_event(AgentCli::Claude, HookEventKind::AfterTool, "PostToolUseFailure"),
                           {.context = "hello"}),
            context_json("PostToolUseFailure"));
  EXPECT_EQ(
      write_response(make_event(AgentCli::Codex, HookEventKind::AfterTool, "PostToolUseFailure"), {.context = "hello"}),
      "");
}

TEST(WriteResponse, StaysBelowLimitOfAgent) {
  std::string long_text = "x";
  while (long_text.size() < 20'000) long_text += "é";
  const auto written =
      write_response(make_event(AgentCli::Claude, HookEventKind::Prompt, "UserPromptSubmit"), {.context = long_text});
  const auto parsed = parse_json_object(written);
  ASSERT_TRUE(parsed);
  const auto text = string_member(*object_member(*parsed, "hookSpecificOutput"), "additionalContext");
  EXPECT_EQ(text->size(), kMaxContextBytes - 1);
  EXPECT_TRUE(long_text.starts_with(*text));
}

TEST(HookResponse, RoundTripsThroughJson) {
  const HookResponse answers[] = {{},
                                  {.context = "two\nlines"},
                                  {.decision = HookDecision::Deny, .message = "no"},
                                  {.decision = HookDecision::Allow, .updated_input = "{}"}};
  for (const auto& answer : answers) EXPECT_EQ(response_from(to_json(answer)), answer);
}

TEST(HookResponse, RefusesInvalidJson) {
  EXPECT_FALSE(response_from({{"decision", "perhaps"}}));
  EXPECT_FALSE(response_from({{"decision", 1}}));
  EXPECT_FALSE(response_from({{"context", nullptr}}));
  EXPECT_TRUE(response_from({{"later", "field"}}));
}

}  // namespace
}  // namespace relay::hooks
