#include "hooks/event.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/format.h"
#include "hooks/json_repair.h"

namespace relay::hooks {
namespace {

namespace fs = std::filesystem;

struct Captured {
  std::string file;
  AgentCli agent;
  json::object payload;
};

std::vector<Captured> captured() {
  std::vector<Captured> all;
  for (const auto& entry : fs::recursive_directory_iterator{RELAY_HOOKS_TESTDATA}) {
    if (!entry.is_regular_file()) continue;
    std::stringstream text;
    text << std::ifstream{entry.path()}.rdbuf();
    const auto file = parse_json_object(text.str());
    if (!file) throw std::runtime_error{entry.path().string()};
    all.push_back({entry.path().filename().string(), *parse_agent_cli(entry.path().parent_path().filename().string()),
                   *object_member(*file, "payload")});
  }
  return all;
}

HookEvent parsed(AgentCli agent, std::string_view payload) {
  auto event = parse_event(agent, payload);
  EXPECT_TRUE(event) << (event ? "" : event.error().message());
  return event ? *std::move(event) : HookEvent{};
}

HookEvent from_file(std::string_view agent, std::string_view file) {
  for (const auto& each : captured())
    if (each.file == file && name_of(each.agent) == agent) return parsed(each.agent, json::serialize(each.payload));
  ADD_FAILURE() << file;
  return {};
}

std::string refusal(std::string_view payload) {
  const auto event = parse_event(AgentCli::Claude, payload);
  return event ? "" : event.error().message();
}

TEST(HookEvent, ReadsEveryCapturedPayload) {
  const auto all = captured();
  ASSERT_GE(all.size(), 50u);
  for (const auto& each : all) {
    const auto event = parsed(each.agent, json::serialize(each.payload));
    EXPECT_EQ(event.name, string_member(each.payload, "hook_event_name")) << each.file;
    EXPECT_EQ(event.session, string_member(each.payload, "session_id")) << each.file;
    EXPECT_EQ(event.working_directory, string_member(each.payload, "cwd").value_or("")) << each.file;
    const bool named = event.kind != HookEventKind::Other;
    const bool unnamed = each.file.starts_with("PostToolBatch") || each.file.starts_with("PreCompress") ||
                         each.file.find("Model") != std::string::npos || each.file.starts_with("BeforeToolSelection");
    EXPECT_NE(named, unnamed) << each.file;
  }
}

TEST(HookEvent, RoundTripsThroughJson) {
  for (const auto& each : captured()) {
    const auto event = parsed(each.agent, json::serialize(each.payload));
    const auto text = parse_json_object(json::serialize(to_json(event)));
    ASSERT_TRUE(text) << each.file;
    const auto again = event_from(*text);
    ASSERT_TRUE(again) << each.file;
    EXPECT_EQ(*again, event) << each.file;
  }
}

TEST(HookEvent, KeepsEveryField) {
  for (const auto& each : captured()) {
    const auto event = parsed(each.agent, json::serialize(each.payload));
    const auto own_json = json::serialize(to_json(event));
    for (const auto& member : each.payload) {
      if (member.key() == "prompt_response" || !member.value().is_string()) continue;
      auto text = json::serialize(member.value());
      if (member.key() == "tool_response") text = json::serialize(json::string{text});
      EXPECT_NE(own_json.find(text), std::string::npos) << each.file << ": " << std::string{member.key()};
    }
  }
}

TEST(HookEvent, UnifiesNamesOfAgents) {
  const auto request = from_file("claude", "PermissionRequest-Bash.json");
  EXPECT_EQ(request.kind, HookEventKind::Permission);
  EXPECT_EQ(request.tool, "Bash");
  EXPECT_TRUE(parse_json_object(request.tool_input));
  EXPECT_EQ(request.permission_mode, "default");
  EXPECT_FALSE(request.turn.empty());

  const auto stop = from_file("codex", "Stop-active.json");
  EXPECT_EQ(stop.kind, HookEventKind::TurnEnd);
  EXPECT_EQ(stop.text, "Got the relay message.\n\n@relay:Bob acknowledged");
  EXPECT_TRUE(stop.stop_active);
  EXPECT_EQ(stop.turn, "01a1de31-96f8-7b21-859a-30f35209c1e7");
  EXPECT_EQ(stop.model, "gpt-6-sol");

  const auto limited = from_file("claude", "StopFailure-rate_limit.json");
  EXPECT_EQ(limited.kind, HookEventKind::TurnFailed);
  EXPECT_EQ(limited.reason, "rate_limit");
  EXPECT_TRUE(limited.text.starts_with("API Error"));

  const auto piece = from_file("claude", "MessageDisplay-final.json");
  EXPECT_EQ(piece.kind, HookEventKind::Display);
  EXPECT_TRUE(piece.final);
  EXPECT_TRUE(piece.text.starts_with("@relay:Bob"));
  EXPECT_TRUE(piece.extra.contains("message_id"));

  const auto event = from_file("gemini", "Notification-ToolPermission.json");
  EXPECT_EQ(event.kind, HookEventKind::Notification);
  EXPECT_EQ(event.reason, "ToolPermission");
  EXPECT_FALSE(event.text.empty());

  EXPECT_EQ(from_file("gemini", "BeforeAgent.json").prompt, "please greet bob");
  EXPECT_EQ(from_file("claude", "SessionStart-startup.json").reason, "startup");
  EXPECT_EQ(from_file("codex", "PostToolUse-Bash.json").tool_response, R"("deploy-finished\n")");
}

TEST(HookEvent, NeverReadsPromptResponseOfGemini) {
  const auto end = from_file("gemini", "AfterAgent.json");
  EXPECT_EQ(end.kind, HookEventKind::TurnEnd);
  EXPECT_EQ(end.text, "");
  EXPECT_EQ(json::serialize(to_json(end)).find("scripted"), std::string::npos);
}

TEST(HookEvent, KeepsUnknownFields) {
  const auto event =
      parsed(AgentCli::Claude, R"({"hook_event_name":"PhaseOfMoon","session_id":"s","moon":{"full":[1,2]},
      "cwd":7,"tool_name":["x"],"stop_hook_active":"yes","model":{"id":"m"}})");
  EXPECT_EQ(event.kind, HookEventKind::Other);
  EXPECT_EQ(event.name, "PhaseOfMoon");
  EXPECT_EQ(event.working_directory, "");
  for (const auto* field : {"moon", "cwd", "tool_name", "stop_hook_active", "model"})
    EXPECT_TRUE(event.extra.contains(field)) << field;
}

TEST(HookEvent, AcceptsAnyJsonAsToolInput) {
  for (const auto* input : {"null", "[1,2]", "\"text\"", "7", "{}"})
    EXPECT_EQ(
        parsed(AgentCli::Codex, format(R"({{"hook_event_name":"PreToolUse","tool_input":{}}})", input)).tool_input,
        input);
}

TEST(HookEvent, ErrorIsOneSentence) {
  EXPECT_EQ(refusal(R"({"session_id":"s"})"), "the hook's JSON has no hook_event_name");
  EXPECT_EQ(refusal(R"({"hook_event_name":3})"), "the hook's JSON has no hook_event_name");
  EXPECT_EQ(refusal(std::string(kMaxPayloadBytes + 1, ' ')), "the hook's JSON has more than 16 MiB; it is not read");
  for (const auto* broken : {"", "{", "nonsense", "[]", "null", "{\"hook_event_name\":\"Stop\"} trailing"}) {
    EXPECT_NE(refusal(broken), "") << broken;
    EXPECT_EQ(refusal(broken).find('\n'), std::string::npos) << broken;
  }
  EXPECT_NE(refusal(R"({"hook_event_name":"Stop","x":)" + std::string(100'000, '[')), "");
}

TEST(HookEvent, TruncatesLongTexts) {
  std::string long_text;
  while (long_text.size() < 1 << 20) long_text += "é";
  const auto event =
      parsed(AgentCli::Claude, json::serialize(json::object{{"hook_event_name", "Stop"},
                                                            {"last_assistant_message", long_text},
                                                            {"prompt", "x" + long_text},
                                                            {"session_id", long_text},
                                                            {"tool_input", json::object{{"content", long_text}}},
                                                            {"tool_response", long_text},
                                                            {"unknown", long_text},
                                                            {"small", "stays"}}));
  EXPECT_EQ(event.text.size(), kMaxTextBytes);
  EXPECT_TRUE(event.text_cut);
  EXPECT_EQ(event.prompt.size(), kMaxPromptBytes - 1);
  EXPECT_EQ(event.session.size(), kMaxNameBytes);
  EXPECT_TRUE(event.tool_input_cut);
  EXPECT_LE(event.tool_response.size(), kMaxToolResponseBytes);
  EXPECT_FALSE(event.extra.contains("unknown"));
  EXPECT_TRUE(event.extra.contains("small"));
  EXPECT_EQ(*event_from(to_json(event)), event);
}

TEST(HookEvent, FitsFrameWithEscapes) {
  HookEvent event{.name = "Stop", .session = std::string(kMaxNameBytes, '\x01')};
  event.text = std::string(kMaxTextBytes, '\x01');
  event.tool_input = std::string(kMaxToolInputBytes, '\x02');
  const auto text = serialize_within(event, 512 * 1024);
  EXPECT_LE(text.size(), 512u * 1024);
  const auto again = event_from(*parse_json_object(text));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->session, event.session);
  EXPECT_TRUE(again->text_cut);
  EXPECT_GT(again->text.size(), 20'000u);
}

TEST(HookEvent, ReadsHalvesOfSurrogatePairs) {
  EXPECT_EQ(parsed(AgentCli::Claude, R"({"hook_event_name":"MessageDisplay","delta":"a\ud83d"})").text,
            "a\xEF\xBF\xBD");
  EXPECT_EQ(parsed(AgentCli::Claude, "{\"hook_event_name\":\"MessageDisplay\",\"delta\":\"a\xC3\"}").text,
            "a\xEF\xBF\xBD");
}

TEST(RepairJson, ReplacesOnlyMalformedParts) {
  EXPECT_EQ(repair_json(R"(\ud83d\ude00 \\ud83d \n \")"), R"(\ud83d\ude00 \\ud83d \n \")");
  EXPECT_EQ(repair_json(R"(\ude00\ud83dx)"), "\xEF\xBF\xBD\xEF\xBF\xBDx");
  EXPECT_EQ(repair_json(R"(\ud83d\ud83d\ude00)"), "\xEF\xBF\xBD\\ud83d\\ude00");
  for (const auto* odd : {"\\", "\\u", "\\ud8", "\\ud83d", "\\ud83d\\", "\\ud83d\\u12", "\\uZZZZ", ""})
    EXPECT_LE(repair_json(odd).size(), 16u) << odd;
  EXPECT_EQ(repair_json("\\\xFF"), "\\\xEF\xBF\xBD");
}

TEST(EventFrom, RefusesOtherJson) {
  EXPECT_FALSE(event_from({}));
  EXPECT_FALSE(event_from({{"agent", "cursor"}, {"name", "Stop"}}));
  EXPECT_FALSE(event_from({{"agent", "claude"}}));
  const auto later = event_from({{"agent", "claude"}, {"name", "New"}, {"kind", "brandNew"}});
  ASSERT_TRUE(later);
  EXPECT_EQ(later->kind, HookEventKind::Other);
}

}  // namespace
}  // namespace relay::hooks
