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

struct OpenCodeTalkTest : ::testing::Test {
  testing::Recorder told;
  OpenCodeEvents talk{told, 0};

  void say(std::string_view event) { talk.on_event(*parse_json_object(event)); }
  /// All events, and the states one after the other.
  std::vector<State> replay(const std::string& name) {
    std::vector<State> states;
    for (const auto& event : captured(name)) {
      talk.on_event(event);
      if (states.empty() || states.back() != talk.known().state) states.push_back(talk.known().state);
    }
    return states;
  }
};

TEST_F(OpenCodeTalkTest, HearsACompleteAnswerOnceAndCountsIt) {
  const auto states = replay("first_message");
  EXPECT_EQ(states, (std::vector{State::Idle, State::Working, State::Idle}));
  EXPECT_EQ(told.heard, Texts{"Of course.\n\n@relay:Bob hello from a real agent\n\nSent."});
  EXPECT_EQ(told.given, Texts{"say hello to bob"});
  ASSERT_EQ(told.usage.size(), 1U);
  EXPECT_EQ(told.usage[0].output, 13);
  EXPECT_GT(told.usage[0].input, 8'000);
  EXPECT_GT(told.usage[0].cost.value_or(0), 0.02);
  EXPECT_EQ(talk.session(), kSession);
  EXPECT_EQ(talk.choice().agent, "build");
  EXPECT_EQ(talk.choice().provider, "local");

  replay("first_message");
  EXPECT_EQ(told.heard.size(), 1U);
  EXPECT_EQ(told.given.size(), 1U);
  EXPECT_EQ(told.usage.size(), 1U);
}

TEST_F(OpenCodeTalkTest, WindowTitleTellsThatAnotherSessionIsOnTheScreen) {
  const auto rename = [&](const std::string& id, const std::string& title) {
    say(format(R"({{"type":"session.updated","properties":{{"info":{{"id":"{}","title":"{}"}}}}}})", id, title));
  };
  EXPECT_FALSE(talk.is_elsewhere("OC | Two")) << "there is none";
  say(R"({"type":"session.created","properties":{"info":{"id":"ses_1","title":"New session - 2026-11-19T04:31:20.412Z"}}})");
  EXPECT_FALSE(talk.is_elsewhere("OpenCode"));
  EXPECT_TRUE(talk.is_elsewhere("OC | Two"));
  rename("ses_1", "One");
  EXPECT_FALSE(talk.is_elsewhere("OC | One"));
  EXPECT_TRUE(talk.is_elsewhere("OC | Two"));
  EXPECT_TRUE(talk.is_elsewhere("OpenCode"));
  EXPECT_FALSE(talk.is_elsewhere("")) << "OpenCode was told to set none";
  EXPECT_FALSE(talk.is_elsewhere("vim"));
  rename("ses_1", "One that is so long that OpenCode cuts it in the window");
  EXPECT_FALSE(talk.is_elsewhere("OC | One that is so long that OpenCode cuts..."));
  say(R"({"type":"session.created","properties":{"info":{"id":"ses_2","parentID":"ses_1","title":"Look @explore"}}})");
  EXPECT_FALSE(talk.is_elsewhere("OC | Look @explore")) << "a subagent of it";
}

/// testdata/opencode/<name>.events, an event in each line; RELAY_WRITE_EXPECTED=1 writes it anew.
TEST_F(OpenCodeTalkTest, WhatAnAgentDoesBecomesEvents) {
  for (const std::string name : {"work", "aborted", "permission", "question_rejected"}) {
    testing::Recorder heard;
    OpenCodeEvents one{heard, 0};
    std::string lines;
    for (int again = 0; again < 2; ++again)  // the second time nothing is new
      for (const auto& event : captured(name)) one.on_event(event);
    one.on_ended(0);
    for (const auto& [event, at] : heard.happened) {
      const auto members = events::members_of(event);
      EXPECT_TRUE(events::read_event(events::type_of(event), members));
      lines += format("{} {} {}\n", at, events::type_of(event), json::serialize(members));
    }
    const auto file = std::string{RELAY_ADAPTERS_TESTDATA "/opencode/"} + name + ".events";
    if (std::getenv("RELAY_WRITE_EXPECTED") != nullptr) std::ofstream{file} << lines;
    EXPECT_EQ(lines, transcripts::testing::read_whole(file)) << name;
  }
}

TEST_F(OpenCodeTalkTest, AMessageSentInATurnIsGivenWhenItsOwnAnswerBegins) {
  Texts given_before_second_answer;
  for (const auto& event : captured("busy")) {
    talk.on_event(event);
    if (told.heard.size() == 1 && given_before_second_answer.empty()) given_before_second_answer = told.given;
  }
  EXPECT_EQ(given_before_second_answer, Texts{"think slowly"});
  EXPECT_EQ(told.given, (Texts{"think slowly", "second while busy"}));
  EXPECT_EQ(told.heard,
            (Texts{"This takes a while: one two three four five six seven eight nine ten.", "Understood."}));
}

TEST_F(OpenCodeTalkTest, APermissionIsAPromptUntilItIsAnswered) {
  const auto states = replay("permission");
  EXPECT_EQ(states, (std::vector{State::Idle, State::Working, State::Blocked, State::Working, State::Idle}));
  ASSERT_EQ(told.prompts.size(), 1U);
  EXPECT_EQ(told.prompts[0].id, "p1");
  EXPECT_EQ(told.prompts[0].kind, PromptKind::Permission);
  EXPECT_EQ(told.prompts[0].tool, "bash");
  EXPECT_EQ(told.prompts[0].summary, "bash: sleep 6; echo done");
  EXPECT_EQ(told.gone, Texts{"p1 by user"});
  EXPECT_EQ(told.given, (Texts{"long tool", "sent while dialog open", "sent while tool runs"}));
  EXPECT_EQ(told.heard, (Texts{"Step one.", "Understood."}));
  EXPECT_EQ(told.usage.size(), 2U);
}

TEST_F(OpenCodeTalkTest, WhatIsSaidBeforeADialogIsHeardWhileItIsOpen) {
  for (const auto& event : captured("permission")) {
    talk.on_event(event);
    if (talk.known().state == State::Blocked) break;
  }
  EXPECT_EQ(told.heard, Texts{"Step one."});
}

TEST_F(OpenCodeTalkTest, AQuestionHasItsChoices) {
  replay("question");
  ASSERT_EQ(told.prompts.size(), 1U);
  EXPECT_EQ(told.prompts[0].kind, PromptKind::Question);
  EXPECT_EQ(told.prompts[0].summary, "question: Which colour?");
  ASSERT_EQ(told.prompts[0].questions.size(), 1U);
  EXPECT_EQ(told.prompts[0].questions[0].text, "Which colour?");
  EXPECT_EQ(told.prompts[0].questions[0].choices, (Texts{"Red", "Blue"}));
  EXPECT_EQ(told.gone, Texts{"p1 by user"});
  replay("question_rejected");
  EXPECT_EQ(told.gone, (Texts{"p1 by user", "p2 by user"}));
}

TEST_F(OpenCodeTalkTest, WhatAnInterruptionCutShortIsNotHeard) {
  EXPECT_EQ(replay("aborted").back(), State::Idle);
  EXPECT_EQ(told.heard, Texts{"Understood."});
  EXPECT_EQ(told.given, (Texts{"think slowly", "immediate now"}));
  EXPECT_TRUE(told.failures.empty());
}

TEST_F(OpenCodeTalkTest, ALimitIsSaidWhileItIsWaitedFor) {
  std::string says;
  for (const auto& event : captured("limit")) {
    talk.on_event(event);
    if (says.empty()) says = talk.known().says;
  }
  EXPECT_TRUE(says.starts_with("Rate limit reached")) << says;
  EXPECT_EQ(told.heard, Texts{"Recovered after the error."});
}

TEST_F(OpenCodeTalkTest, AFailureThatEndsATurnIsTold) {
  say(R"({"type":"session.error","properties":{"sessionID":"s","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}})");
  say(R"({"type":"session.error","properties":{"sessionID":"s","error":{"name":"UnknownError"}}})");
  EXPECT_EQ(told.failures, (Texts{"no key", "UnknownError"}));
}

TEST_F(OpenCodeTalkTest, AfterAGapWhatWasMissedIsHeardAndNothingTwice) {
  const auto events = captured("permission");
  json::array messages;  // as GET /session/ID/message tells them in the end
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
  for (std::size_t seen = 0; seen <= events.size(); ++seen) {
    testing::Recorder all;
    OpenCodeEvents cut{all, 0};
    for (std::size_t i = 0; i < seen; ++i) cut.on_event(events[i]);
    cut.on_statuses({});
    cut.on_prompts({}, {});
    cut.on_messages(kSession, messages, kNever);
    EXPECT_EQ(all.heard, (Texts{"Step one.", "Understood."})) << "after " << seen << " events";
    EXPECT_EQ(all.given, (Texts{"long tool", "sent while dialog open", "sent while tool runs"})) << seen;
    EXPECT_EQ(all.usage.size(), 2U) << seen;
    EXPECT_EQ(all.gone.size(), all.prompts.size()) << seen;
    EXPECT_EQ(cut.known().state, State::Idle) << seen;
  }
  testing::Recorder screen;
  OpenCodeEvents late{screen, 0};
  late.on_messages(kSession, messages, 0);
  EXPECT_TRUE(screen.heard.empty()) << "the screen was heard then";
  OpenCodeEvents resumed{screen, kNever};
  resumed.on_messages(kSession, messages, kNever);
  EXPECT_TRUE(screen.heard.empty()) << "older than the program's start";
}

TEST_F(OpenCodeTalkTest, SubagentsAreNotHeardButTheirPromptsAre) {
  say(R"({"type":"session.created","properties":{"info":{"id":"ses_a"}}})");
  say(R"({"type":"session.created","properties":{"info":{"id":"ses_b","parentID":"ses_a"}}})");
  EXPECT_EQ(talk.session(), "ses_a");
  say(R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_b","role":"assistant"}}})");
  say(R"({"type":"message.part.updated","properties":{"part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_b","type":"text","text":"@relay:Bob x","time":{"end":1}}}})");
  say(R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_b","role":"assistant","time":{"completed":1}}}})");
  say(R"({"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_b","permission":"edit","patterns":["a.txt"]}})");
  EXPECT_TRUE(told.heard.empty());
  ASSERT_EQ(told.prompts.size(), 1U);
  EXPECT_EQ(told.prompts[0].summary, "edit: a.txt");
  EXPECT_EQ(talk.known().state, State::Blocked);
}

TEST_F(OpenCodeTalkTest, ASummaryOfTheConversationIsNotTheAgentsWords) {
  say(R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"s","role":"assistant","summary":true}}})");
  say(R"({"type":"message.part.updated","properties":{"part":{"id":"prt_1","messageID":"msg_1","sessionID":"s","type":"text","text":"@relay:Bob x","time":{"end":1}}}})");
  say(R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"s","role":"assistant","summary":true,"time":{"completed":1}}}})");
  EXPECT_TRUE(told.heard.empty());
}

TEST_F(OpenCodeTalkTest, TheSessionIsTheOneSomebodyWroteToLast) {
  say(R"({"type":"session.created","properties":{"info":{"id":"ses_a","agent":"plan","model":{"id":"m","providerID":"p"}}}})");
  EXPECT_EQ(talk.choice().agent, "plan");
  say(R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_b","role":"user","agent":"build","model":{"providerID":"q","modelID":"n","variant":"high"}}}})");
  EXPECT_EQ(talk.session(), "ses_b");
  EXPECT_EQ(talk.choice().variant, "high");
  say(R"({"type":"session.deleted","properties":{"info":{"id":"ses_b"}}})");
  EXPECT_EQ(talk.session(), "");
}

TEST_F(OpenCodeTalkTest, EventsOfAnotherShapeAreNoHarm) {
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
    say(event);
  EXPECT_TRUE(told.heard.empty());
  EXPECT_EQ(told.prompts.size(), 2U);
}

}  // namespace
}  // namespace relay::adapters
