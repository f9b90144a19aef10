#include "adapters/opencode_events.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "adapters/testing/captures.h"
#include "adapters/testing/recorder.h"
#include "base/format.h"
#include "transcripts/testing/records.h"

namespace relay::adapters {
namespace {

using profiles::State;
using testing::captured;
using Texts = std::vector<std::string>;

constexpr WallMs kNever = std::numeric_limits<WallMs>::max();
constexpr const char* kSession = "ses_e1f396683ffebFPomLz5497Dj5";

struct OpenCodeEventsTest : ::testing::Test {
  testing::Recorder recorder;
  OpenCodeEvents opencode{recorder, 0};

  void send(std::string_view event) { opencode.on_event(*parse_json_object(event)); }
  /// Sends all events of a capture; returns the states in order.
  std::vector<State> replay(const std::string& name) {
    std::vector<State> states;
    for (const auto& event : captured(name)) {
      opencode.on_event(event);
      if (states.empty() || states.back() != opencode.reported_state().state)
        states.push_back(opencode.reported_state().state);
    }
    return states;
  }
};

TEST_F(OpenCodeEventsTest, CompleteReplyIsReportedOnceWithUsage) {
  const auto states = replay("first_message");
  EXPECT_EQ(states, (std::vector{State::Idle, State::Working, State::Idle}));
  EXPECT_EQ(recorder.texts, Texts{"Of course.\n\n@relay:Bob hello from a real agent\n\nSent."});
  EXPECT_EQ(recorder.inputs, Texts{"say hello to bob"});
  ASSERT_EQ(recorder.usage.size(), 1U);
  EXPECT_EQ(recorder.usage[0].output, 13);
  EXPECT_GT(recorder.usage[0].input, 8'000);
  EXPECT_GT(recorder.usage[0].cost.value_or(0), 0.02);
  EXPECT_EQ(opencode.session(), kSession);
  EXPECT_EQ(opencode.selection().agent, "build");
  EXPECT_EQ(opencode.selection().provider, "local");

  replay("first_message");
  EXPECT_EQ(recorder.texts.size(), 1U);
  EXPECT_EQ(recorder.inputs.size(), 1U);
  EXPECT_EQ(recorder.usage.size(), 1U);
}

TEST_F(OpenCodeEventsTest, WindowTitleShowsThatAnotherSessionIsOnScreen) {
  const auto rename = [&](const std::string& id, const std::string& title) {
    send(format(R"({{"type":"session.updated","properties":{{"info":{{"id":"{}","title":"{}"}}}}}})", id, title));
  };
  EXPECT_FALSE(opencode.shows_other_session("OC | Two")) << "no session";
  send(
      R"({"type":"session.created","properties":{"info":{"id":"ses_1","title":"New session - 2026-11-19T04:31:20.412Z"}}})");
  EXPECT_FALSE(opencode.shows_other_session("OpenCode"));
  EXPECT_TRUE(opencode.shows_other_session("OC | Two"));
  rename("ses_1", "One");
  EXPECT_FALSE(opencode.shows_other_session("OC | One"));
  EXPECT_TRUE(opencode.shows_other_session("OC | Two"));
  EXPECT_TRUE(opencode.shows_other_session("OpenCode"));
  EXPECT_FALSE(opencode.shows_other_session("")) << "OpenCode sets no title";
  EXPECT_FALSE(opencode.shows_other_session("vim"));
  rename("ses_1", "One that is so long that OpenCode cuts it in the window");
  EXPECT_FALSE(opencode.shows_other_session("OC | One that is so long that OpenCode cuts..."));
  send(R"({"type":"session.created","properties":{"info":{"id":"ses_2","parentID":"ses_1","title":"Look @explore"}}})");
  EXPECT_FALSE(opencode.shows_other_session("OC | Look @explore")) << "a subagent";
}

/// testdata/opencode/<name>.events, one event per line; RELAY_WRITE_EXPECTED=1 rewrites it.
TEST_F(OpenCodeEventsTest, AgentActionsBecomeEvents) {
  for (const std::string name : {"work", "aborted", "permission", "question_rejected"}) {
    testing::Recorder actions;
    OpenCodeEvents one{actions, 0};
    std::string lines;
    for (int again = 0; again < 2; ++again)  // repeated events add nothing
      for (const auto& event : captured(name)) one.on_event(event);
    one.on_agent_exit(0);
    for (const auto& [event, at] : actions.agent_events) {
      const auto members = events::members_of(event);
      EXPECT_TRUE(events::read_event(events::type_of(event), members));
      lines += format("{} {} {}\n", at, events::type_of(event), json::serialize(members));
    }
    const auto file = std::string{RELAY_ADAPTERS_TESTDATA "/opencode/"} + name + ".events";
    if (std::getenv("RELAY_WRITE_EXPECTED") != nullptr) std::ofstream{file} << lines;
    EXPECT_EQ(lines, transcripts::testing::read_whole(file)) << name;
  }
}

TEST_F(OpenCodeEventsTest, MessageSentDuringTurnIsInputWhenItsReplyStarts) {
  Texts inputs_before_second_reply;
  for (const auto& event : captured("busy")) {
    opencode.on_event(event);
    if (recorder.texts.size() == 1 && inputs_before_second_reply.empty()) inputs_before_second_reply = recorder.inputs;
  }
  EXPECT_EQ(inputs_before_second_reply, Texts{"think slowly"});
  EXPECT_EQ(recorder.inputs, (Texts{"think slowly", "second while busy"}));
  EXPECT_EQ(recorder.texts,
            (Texts{"This takes a while: one two three four five six seven eight nine ten.", "Understood."}));
}

TEST_F(OpenCodeEventsTest, PermissionIsPromptUntilAnswered) {
  const auto states = replay("permission");
  EXPECT_EQ(states, (std::vector{State::Idle, State::Working, State::Blocked, State::Working, State::Idle}));
  ASSERT_EQ(recorder.prompts.size(), 1U);
  EXPECT_EQ(recorder.prompts[0].id, "p1");
  EXPECT_EQ(recorder.prompts[0].kind, PromptKind::Permission);
  EXPECT_EQ(recorder.prompts[0].tool, "bash");
  EXPECT_EQ(recorder.prompts[0].summary, "bash: sleep 6; echo done");
  EXPECT_EQ(recorder.closed, Texts{"p1 by user"});
  EXPECT_EQ(recorder.inputs, (Texts{"long tool", "sent while dialog open", "sent while tool runs"}));
  EXPECT_EQ(recorder.texts, (Texts{"Step one.", "Understood."}));
  EXPECT_EQ(recorder.usage.size(), 2U);
}

TEST_F(OpenCodeEventsTest, TextBeforeDialogIsReportedWhileItIsOpen) {
  for (const auto& event : captured("permission")) {
    opencode.on_event(event);
    if (opencode.reported_state().state == State::Blocked) break;
  }
  EXPECT_EQ(recorder.texts, Texts{"Step one."});
}

TEST_F(OpenCodeEventsTest, QuestionHasItsChoices) {
  replay("question");
  ASSERT_EQ(recorder.prompts.size(), 1U);
  EXPECT_EQ(recorder.prompts[0].kind, PromptKind::Question);
  EXPECT_EQ(recorder.prompts[0].summary, "question: Which colour?");
  ASSERT_EQ(recorder.prompts[0].questions.size(), 1U);
  EXPECT_EQ(recorder.prompts[0].questions[0].text, "Which colour?");
  EXPECT_EQ(recorder.prompts[0].questions[0].choices, (Texts{"Red", "Blue"}));
  EXPECT_EQ(recorder.closed, Texts{"p1 by user"});
  replay("question_rejected");
  EXPECT_EQ(recorder.closed, (Texts{"p1 by user", "p2 by user"}));
}

TEST_F(OpenCodeEventsTest, InterruptedTextIsNotReported) {
  EXPECT_EQ(replay("aborted").back(), State::Idle);
  EXPECT_EQ(recorder.texts, Texts{"Understood."});
  EXPECT_EQ(recorder.inputs, (Texts{"think slowly", "immediate now"}));
  EXPECT_TRUE(recorder.failures.empty());
}

TEST_F(OpenCodeEventsTest, RateLimitIsDetailOfState) {
  std::string detail;
  for (const auto& event : captured("limit")) {
    opencode.on_event(event);
    if (detail.empty()) detail = opencode.reported_state().detail;
  }
  EXPECT_TRUE(detail.starts_with("Rate limit reached")) << detail;
  EXPECT_EQ(recorder.texts, Texts{"Recovered after the error."});
}

TEST_F(OpenCodeEventsTest, FailureOfTurnIsReported) {
  send(
      R"({"type":"session.error","properties":{"sessionID":"s","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}})");
  send(R"({"type":"session.error","properties":{"sessionID":"s","error":{"name":"UnknownError"}}})");
  EXPECT_EQ(recorder.failures, (Texts{"no key", "UnknownError"}));
}

TEST_F(OpenCodeEventsTest, MissedMessagesAreReportedOnceAfterGap) {
  const auto events = captured("permission");
  json::array messages;  // the final response of GET /session/ID/message
  std::map<std::string, json::object> infos, parts;
  for (const auto& event : events) {
    const auto& properties = *object_member(event, "properties");
    if (const auto* info = object_member(properties, "info")) infos[*string_member(*info, "id")] = *info;
    if (const auto* part = object_member(properties, "part")) parts[*string_member(*part, "id")] = *part;
  }
  for (const auto& [id, info] : infos) {
    json::array own;
    for (const auto& [part_id, part] : parts)
      if (string_member(part, "messageID") == id) own.push_back(part);
    messages.push_back(json::object{{"info", info}, {"parts", own}});
  }
  for (std::size_t received = 0; received <= events.size(); ++received) {
    testing::Recorder all;
    OpenCodeEvents cut{all, 0};
    for (std::size_t i = 0; i < received; ++i) cut.on_event(events[i]);
    cut.on_statuses({});
    cut.on_prompts({}, {});
    cut.on_messages(kSession, messages, kNever);
    EXPECT_EQ(all.texts, (Texts{"Step one.", "Understood."})) << "after " << received << " events";
    EXPECT_EQ(all.inputs, (Texts{"long tool", "sent while dialog open", "sent while tool runs"})) << received;
    EXPECT_EQ(all.usage.size(), 2U) << received;
    EXPECT_EQ(all.closed.size(), all.prompts.size()) << received;
    EXPECT_EQ(cut.reported_state().state, State::Idle) << received;
  }
  testing::Recorder screen;
  OpenCodeEvents late{screen, 0};
  late.on_messages(kSession, messages, 0);
  EXPECT_TRUE(screen.texts.empty()) << "it was read from the screen";
  OpenCodeEvents resumed{screen, kNever};
  resumed.on_messages(kSession, messages, kNever);
  EXPECT_TRUE(screen.texts.empty()) << "older than the start of the program";
}

TEST_F(OpenCodeEventsTest, SubagentsReportPromptsButNoText) {
  send(R"({"type":"session.created","properties":{"info":{"id":"ses_a"}}})");
  send(R"({"type":"session.created","properties":{"info":{"id":"ses_b","parentID":"ses_a"}}})");
  EXPECT_EQ(opencode.session(), "ses_a");
  send(R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_b","role":"assistant"}}})");
  send(
      R"({"type":"message.part.updated","properties":{"part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_b","type":"text","text":"@relay:Bob x","time":{"end":1}}}})");
  send(
      R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_b","role":"assistant","time":{"completed":1}}}})");
  send(
      R"({"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_b","permission":"edit","patterns":["a.txt"]}})");
  EXPECT_TRUE(recorder.texts.empty());
  ASSERT_EQ(recorder.prompts.size(), 1U);
  EXPECT_EQ(recorder.prompts[0].summary, "edit: a.txt");
  EXPECT_EQ(opencode.reported_state().state, State::Blocked);
}

TEST_F(OpenCodeEventsTest, ConversationSummaryIsNotReported) {
  send(
      R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"s","role":"assistant","summary":true}}})");
  send(
      R"({"type":"message.part.updated","properties":{"part":{"id":"prt_1","messageID":"msg_1","sessionID":"s","type":"text","text":"@relay:Bob x","time":{"end":1}}}})");
  send(
      R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"s","role":"assistant","summary":true,"time":{"completed":1}}}})");
  EXPECT_TRUE(recorder.texts.empty());
}

TEST_F(OpenCodeEventsTest, SessionIsTheOneWrittenToLast) {
  send(
      R"({"type":"session.created","properties":{"info":{"id":"ses_a","agent":"plan","model":{"id":"m","providerID":"p"}}}})");
  EXPECT_EQ(opencode.selection().agent, "plan");
  send(
      R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_b","role":"user","agent":"build","model":{"providerID":"q","modelID":"n","variant":"high"}}}})");
  EXPECT_EQ(opencode.session(), "ses_b");
  EXPECT_EQ(opencode.selection().variant, "high");
  send(R"({"type":"session.deleted","properties":{"info":{"id":"ses_b"}}})");
  EXPECT_EQ(opencode.session(), "");
}

TEST_F(OpenCodeEventsTest, UnknownEventsAreIgnored) {
  for (
      const auto* event :
      {R"({})", R"({"type":7})", R"({"type":"message.updated"})", R"({"type":"message.updated","properties":[]})",
       R"({"type":"message.updated","properties":{"info":{"id":"m","sessionID":"s","role":["x"],"time":"now"}}})",
       R"({"type":"message.part.updated","properties":{"part":{"id":"p","messageID":"m","sessionID":"s","type":"text","text":5,"time":{"end":1}}}})",
       R"({"type":"message.part.updated","properties":{"part":{"id":"q","messageID":"m","sessionID":"s","type":"hologram"}}})",
       R"({"type":"permission.asked","properties":{"id":"per","metadata":7,"patterns":{}}})",
       R"({"type":"question.asked","properties":{"id":"que","questions":[1,{"options":[2,{"label":3}]}]}})",
       R"({"type":"session.status","properties":{"sessionID":"s","status":{"type":"dreaming"}}})",
       R"({"type":"permission.v9.asked","properties":{"id":"x"}})",
       R"({"type":"session.error","properties":{"error":"x"}})"})
    send(event);
  EXPECT_TRUE(recorder.texts.empty());
  EXPECT_EQ(recorder.prompts.size(), 2U);
}

}  // namespace
}  // namespace relay::adapters
