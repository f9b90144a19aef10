#include "adapters/opencode.h"

#include <gtest/gtest.h>

#include "adapters/testing/captures.h"
#include "adapters/testing/fake_opencode.h"
#include "adapters/testing/recorder.h"
#include "net/testing/loop_driver.h"

namespace relay::adapters {
namespace {

using net::testing::run_until;
using profiles::State;
using protocol::DeliveryMode;
using testing::FakeOpenCode;
using Texts = std::vector<std::string>;

constexpr OpenCodeTimeouts kPace{.first_retry = Millis{1},
                                 .last_retry = Millis{4},
                                 .slow_retry = Millis{5},
                                 .start_timeout = Millis{60'000},
                                 .gap_timeout = Millis{60'000},
                                 .drawing = Millis{60'000},
                                 .response = Millis{60'000},
                                 .idle_timeout = Millis{60'000},
                                 .recheck = Millis{1},
                                 .resolved = Millis{1},
                                 .title = Millis{1}};
constexpr const char* kSession = "ses_e1f396683ffebFPomLz5497Dj5";

struct OpenCodeTest : ::testing::Test {
  net::AsioLoop loop;
  FakeOpenCode fake{loop};
  testing::Recorder told;
  std::unique_ptr<Adapter> adapter;
  std::vector<std::string> handed, answered;
  State screen = State::Idle;

  void start(OpenCodeTimeouts pace = kPace, std::vector<std::string> arguments = {}) {
    adapter = opencode(loop, pace);
    pty::Command command{.argv = {"opencode", "--port", std::to_string(fake.server.port())},
                         .environment = {"OPENCODE_SERVER_PASSWORD=mine", "OPENCODE_SERVER_USERNAME=me"},
                         .directory = {}};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    adapter->prepare(command, {});
    adapter->start(told, 1);
    adapter->on_state(screen);
  }
  bool until(const std::function<bool()>& check) { return run_until(loop, check); }
  bool online() {
    return until([&] { return adapter->reported_state().has_value(); });
  }
  void speak(std::string text, DeliveryMode mode = DeliveryMode::OnIdle) {
    adapter->deliver({.delivery = "d-" + text, .text = text, .mode = mode}, [this, text](Result<void> outcome) {
      handed.push_back(text + (outcome ? "" : ": " + outcome.error().message()));
    });
  }
  /// What becomes of it is in `answered`, later.
  void answer(const std::string& prompt, const PromptAnswer& reply) {
    adapter->answer(prompt, reply, [this, prompt](const Result<void>& outcome) {
      answered.push_back(prompt + (outcome ? "" : ": " + outcome.error().message()));
    });
  }
  /// At once.
  bool refused(const std::string& prompt, const PromptAnswer& reply) {
    bool refused = false;
    adapter->answer(prompt, reply, [&](const Result<void>& outcome) { refused = !outcome; });
    return refused;
  }
  void replay(const std::string& name) {
    for (const auto& line : testing::captured_lines(name)) fake.emit(line);
  }
  bool all_handed(std::size_t count) {
    return until([&] { return handed.size() == count; });
  }
};

TEST_F(OpenCodeTest, HearsKnowsAndCountsWhatTheServerTells) {
  start();
  EXPECT_EQ(adapter->capabilities().output, "");
  ASSERT_TRUE(online());
  EXPECT_EQ(told.capabilities, 1);
  EXPECT_EQ(adapter->capabilities().output, way::kServer);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).moment, DeliveryTiming::Idle);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::Manual).moment, DeliveryTiming::Never);
  replay("permission");
  ASSERT_TRUE(until([&] { return told.heard.size() == 2 && told.usage.size() == 2; }));
  EXPECT_EQ(told.heard, (Texts{"Step one.", "Understood."}));
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Idle; }));
}

TEST_F(OpenCodeTest, NothingIsKnownBeforeTheScreenIsDrawnOrHadItsTime) {
  auto pace = kPace;
  screen = State::Unknown;
  start(pace);
  ASSERT_TRUE(until([&] { return told.capabilities == 1; }));
  EXPECT_FALSE(adapter->reported_state().has_value());
  adapter->on_state(State::Typing);
  EXPECT_TRUE(adapter->reported_state().has_value());
  pace.drawing = Millis{1};
  start(pace);
  EXPECT_TRUE(online());
}

TEST_F(OpenCodeTest, AFirstMessageMakesASessionAndShowsIt) {
  start(kPace, {"--agent", "plan", "--model", "local/fast"});
  ASSERT_TRUE(online());
  speak("hello");
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(handed, Texts{"hello"});
  ASSERT_EQ(fake.asked.size(), 3U);
  EXPECT_EQ(fake.asked[0], "/session {}");
  EXPECT_EQ(fake.asked[1], R"(/tui/select-session {"sessionID":"ses_made"})");
  EXPECT_TRUE(fake.asked[2].starts_with("/session/ses_made/prompt_async"));
  const auto& prompt = fake.prompts.at(0);
  EXPECT_TRUE(string_member(prompt, "messageID")->starts_with("msg_"));
  EXPECT_EQ(string_member(prompt, "agent"), "plan");
  EXPECT_EQ(json::serialize(*prompt.if_contains("model")), R"({"providerID":"local","modelID":"fast"})");
  EXPECT_EQ(string_member(array_member(prompt, "parts")->at(0).as_object(), "text"), "hello");
  EXPECT_FALSE(prompt.contains("noReply"));
}

TEST_F(OpenCodeTest, GoesToTheSessionSomebodyWroteToWithTheSameAgent) {
  start();
  ASSERT_TRUE(online());
  fake.emit(
      R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_x","role":"user","agent":"plan","model":{"providerID":"p","modelID":"m","variant":"v"}}}})");
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  speak("steer", DeliveryMode::NextToolCall);
  speak("context", DeliveryMode::NextMessage);
  speak("stop", DeliveryMode::Immediate);
  ASSERT_TRUE(all_handed(3));
  EXPECT_EQ(handed, (Texts{"steer", "context", "stop"}));
  ASSERT_EQ(fake.asked.size(), 4U);
  EXPECT_EQ(fake.asked[2], "/session/ses_x/abort {}");
  EXPECT_EQ(string_member(fake.prompts[0], "agent"), "plan");
  EXPECT_EQ(string_member(fake.prompts[0], "variant"), "v");
  EXPECT_EQ(bool_member(fake.prompts[1], "noReply"), true);
  EXPECT_LT(*string_member(fake.prompts[0], "messageID"), *string_member(fake.prompts[1], "messageID"));
}

constexpr const char* kWrittenTo =
    R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_x","role":"user","agent":"plan","model":{"providerID":"p","modelID":"m"}}}})";
constexpr const char* kIdle = R"({"type":"session.idle","properties":{"sessionID":"ses_x"}})";

std::string titled(const std::string& session, const std::string& title) {
  return format(R"({{"type":"session.updated","properties":{{"info":{{"id":"{}","title":"{}"}}}}}})", session, title);
}

TEST_F(OpenCodeTest, MessageAfterNewDoesNotGoIntoTheAbandonedSession) {
  start();
  ASSERT_TRUE(online());
  adapter->on_shown("OpenCode", true);
  fake.emit(kWrittenTo);
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  adapter->on_shown("OpenCode", true);  // not drawn yet
  adapter->on_shown("OpenCode", false);
  adapter->on_shown("OpenCode", true);  // `/new`
  EXPECT_EQ(adapter->reported_state()->state, State::Idle) << "what is on the screen does not work";
  speak("after new");
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(fake.asked[0], "/session {}");
  EXPECT_EQ(fake.asked[1], R"(/tui/select-session {"sessionID":"ses_made"})");
  EXPECT_TRUE(fake.asked[2].starts_with("/session/ses_made/prompt_async"));
  adapter->on_shown("OpenCode", true);  // not drawn yet
  speak("the next");
  ASSERT_TRUE(all_handed(2));
  EXPECT_TRUE(fake.asked[3].starts_with("/session/ses_made/prompt_async"));
}

TEST_F(OpenCodeTest, AbandonedSessionIsNotTakenUpAfterABreak) {
  start();
  ASSERT_TRUE(online());
  fake.emit(kWrittenTo);
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  adapter->on_shown("OpenCode", false);
  adapter->on_shown("OpenCode", true);
  fake.sessions = R"([{"id":"ses_x","title":"One","time":{"created":99999999999999}}])";
  fake.end_events();
  ASSERT_TRUE(until([&] { return fake.connections == 2; }));
  speak("after new");
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(fake.asked[0], "/session {}");
}

TEST_F(OpenCodeTest, NothingGoesToTheServerWhileTheWindowHasTheTitleOfAnotherSession) {
  start();
  ASSERT_TRUE(online());
  fake.emit(titled("ses_x", "One"));
  fake.emit(kWrittenTo);
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  adapter->on_shown("OC | One", false);
  const auto moment = [&] { return adapter->capabilities().by(DeliveryMode::OnIdle).moment; };
  adapter->on_shown("OC | Two", false);
  speak("held");
  EXPECT_EQ(moment(), DeliveryTiming::Idle) << "titles may differ for a moment";
  ASSERT_TRUE(until([&] { return moment() == DeliveryTiming::Never; })) << "it is typed";
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(handed[0], "held: OpenCode shows another conversation");
  EXPECT_TRUE(fake.prompts.empty());
  EXPECT_FALSE(adapter->reported_state().has_value()) << "what works is not what is shown";
  adapter->on_shown("OC | One", false);
  EXPECT_EQ(moment(), DeliveryTiming::Idle);
  speak("back");
  ASSERT_TRUE(all_handed(2));
  EXPECT_EQ(handed[1], "back");
}

TEST_F(OpenCodeTest, AnswerIsToldWhenThePromptIsGone) {
  auto pace = kPace;
  pace.resolved = Millis{60'000};
  start(pace);
  ASSERT_TRUE(online());
  fake.emit(
      R"({"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_x","questions":[{"question":"Which?","options":[{"label":"A"}]}]}})");
  ASSERT_TRUE(until([&] { return told.prompts.size() == 1; }));
  answer("p1", {.verdict = PromptAnswer::Decision::Allow, .answers = {"A"}});
  ASSERT_TRUE(until([&] { return fake.asked.size() == 1; }));
  fake.emit(kIdle);
  EXPECT_TRUE(answered.empty());
  fake.emit(R"({"type":"question.replied","properties":{"requestID":"que_1","sessionID":"ses_x"}})");
  ASSERT_TRUE(until([&] { return answered.size() == 1; }));
  EXPECT_EQ(told.gone.size(), 1U) << "before";
}

TEST_F(OpenCodeTest, AnAnswerThatIsLostIsLookedUpAndNothingIsSentTwice) {
  start();
  ASSERT_TRUE(online());
  fake.post = FakeOpenCode::Post::TakesAndBreaks;
  speak("one");
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(handed, Texts{"one"});
  fake.post = FakeOpenCode::Post::Breaks;
  speak("two");
  ASSERT_TRUE(all_handed(2));
  EXPECT_TRUE(handed[1].contains("has no such message")) << handed[1];
  EXPECT_EQ(fake.prompts.size(), 2U);
  speak("one");
  ASSERT_TRUE(all_handed(3));
  EXPECT_EQ(handed[2], "one");
  EXPECT_EQ(fake.prompts.size(), 2U) << "it has that delivery already";
}

TEST_F(OpenCodeTest, WhatTheServerRefusesIsNotHandedOver) {
  start(kPace, {"-s", "ses_old"});
  ASSERT_TRUE(online());
  fake.post = FakeOpenCode::Post::Refuses;
  speak("one");
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(handed[0], "one: OpenCode's server did not take the message: 404 Session not found");
  EXPECT_TRUE(fake.asked[0].starts_with("/session/ses_old/prompt_async"));
}

TEST_F(OpenCodeTest, AnswersPermissionsAndQuestions) {
  start();
  ASSERT_TRUE(online());
  fake.emit(
      R"({"type":"permission.asked","properties":{"id":"per_1","sessionID":"s","permission":"bash","metadata":{"command":"ls"}}})");
  fake.emit(R"({"type":"permission.asked","properties":{"id":"per_2","sessionID":"s","permission":"bash"}})");
  fake.emit(
      R"({"type":"question.asked","properties":{"id":"que_3","sessionID":"s","questions":[{"question":"A?","options":[{"label":"x"}]},{"question":"B?","multiple":true,"options":[{"label":"y"},{"label":"z"}]}]}})");
  fake.emit(R"({"type":"question.asked","properties":{"id":"que_4","sessionID":"s","questions":[{"question":"C?"}]}})");
  fake.emit(R"({"type":"permission.asked","properties":{"id":"per_gone","sessionID":"s","permission":"bash"}})");
  ASSERT_TRUE(until([&] { return told.prompts.size() == 5; }));
  using Verdict = PromptAnswer::Decision;
  answer("p1", {.verdict = Verdict::Allow});
  EXPECT_TRUE(refused("p1", {.verdict = Verdict::Deny})) << "one answer is on its way";
  answer("p2", {.verdict = Verdict::Deny, .message = "not now"});
  EXPECT_TRUE(refused("p3", {.answers = {"x"}})) << "it asks two";
  answer("p3", {.answers = {"free text", "y, z"}});
  EXPECT_TRUE(refused("p4", {.verdict = Verdict::Deny, .message = "why"}));
  answer("p4", {.verdict = Verdict::Deny});
  answer("p5", {});
  EXPECT_TRUE(refused("p9", {}));
  EXPECT_TRUE(answered.empty()) << "nothing is said to be done before the server says so";
  ASSERT_TRUE(until([&] { return answered.size() == 5; }));
  std::ranges::sort(answered);
  EXPECT_EQ(answered, (Texts{"p1", "p2", "p3", "p4", "p5: OpenCode does not ask that any more"}));
  EXPECT_EQ(told.gone, Texts{"p5 by user"});
  std::ranges::sort(fake.asked);
  EXPECT_EQ(fake.asked, (Texts{R"(/permission/per_1/reply {"reply":"once"})",
                               R"(/permission/per_2/reply {"reply":"reject","message":"not now"})",
                               R"(/permission/per_gone/reply {"reply":"once"})",
                               "/question/que_3/reply {\"answers\":[[\"free text\"],[\"y\",\"z\"]]}",
                               "/question/que_4/reject {}"}));
  fake.emit(R"({"type":"permission.replied","properties":{"sessionID":"s","requestID":"per_1","reply":"once"}})");
  ASSERT_TRUE(until([&] { return told.gone.size() == 2; }));
  EXPECT_EQ(told.gone[1], "p1 by server");
}

TEST_F(OpenCodeTest, AfterABreakItAsksForWhatItMissed) {
  start();
  ASSERT_TRUE(online());
  replay("first_message");
  ASSERT_TRUE(until([&] { return told.heard.size() == 1; }));
  const auto soon = std::to_string(loop.now().wall + 1'000);
  fake.messages[kSession] =
      R"([{"info":{"id":"msg_2","sessionID":")" + std::string{kSession} + R"(","role":"assistant","time":{"created":)" +
      soon + R"(,"completed":)" + soon + R"(}},"parts":[{"id":"prt_2","messageID":"msg_2","sessionID":")" + kSession +
      R"(","type":"text","text":"said in the gap","time":{"start":1,"end":2}},{"type":"tool","output":"cut \ud83d"}]}])";
  fake.permissions = R"([{"id":"per_7","sessionID":"s","permission":"bash","metadata":{"command":"ls"}}])";
  fake.statuses = std::string{"{\""} + kSession + R"(":{"type":"busy"}})";
  fake.end_events();
  ASSERT_TRUE(until([&] { return told.heard.size() == 2; }));
  EXPECT_EQ(told.heard[1], "said in the gap");
  ASSERT_TRUE(until([&] { return adapter->reported_state().has_value(); }));
  EXPECT_EQ(adapter->reported_state()->state, State::Blocked);
  EXPECT_EQ(fake.connections, 2);
  fake.permissions = "[]";
  fake.end_events();
  ASSERT_TRUE(until([&] { return fake.connections == 3 && adapter->reported_state().has_value(); }));
  EXPECT_EQ(told.heard.size(), 2U);
  EXPECT_EQ(told.gone, Texts{"p1 by user"});
  EXPECT_TRUE(told.broken.empty());
}

TEST_F(OpenCodeTest, WordsWaitForAServerThatIsStillStarting) {
  fake.server.stop();
  start();
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, way::kServer);
  speak("early");
  fake.server.restart();
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(handed, Texts{"early"});
}

TEST_F(OpenCodeTest, WordsWaitThroughAShortBreak) {
  start();
  ASSERT_TRUE(online());
  fake.server.stop();
  ASSERT_TRUE(until([&] { return !adapter->reported_state().has_value(); }));
  speak("patient");
  EXPECT_TRUE(handed.empty());
  fake.server.restart();
  ASSERT_TRUE(all_handed(1));
  EXPECT_EQ(handed, Texts{"patient"});
}

TEST_F(OpenCodeTest, AServerThatStaysAwayIsGivenUpWithTheReasonAndComesBack) {
  auto pace = kPace;
  pace.gap_timeout = Millis{10};
  start(pace);
  ASSERT_TRUE(online());
  fake.server.stop();
  speak("lost");
  ASSERT_TRUE(until([&] { return !told.broken.empty(); }));
  EXPECT_EQ(told.broken.size(), 1U);
  EXPECT_TRUE(told.broken[0].starts_with("server: the server at 127.0.0.1:")) << told.broken[0];
  EXPECT_EQ(adapter->capabilities().output, "");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).moment, DeliveryTiming::Never);
  ASSERT_EQ(handed.size(), 1U);
  EXPECT_TRUE(handed[0].starts_with("lost: ")) << handed[0];
  speak("later");
  ASSERT_TRUE(all_handed(2));
  EXPECT_TRUE(handed[1].contains("cannot be reached")) << handed[1];
  fake.server.restart();
  ASSERT_TRUE(online());
  EXPECT_EQ(adapter->capabilities().output, way::kServer);
  EXPECT_EQ(told.broken.size(), 1U);
  EXPECT_EQ(told.mended, Texts{"server"});
}

TEST_F(OpenCodeTest, WhatAServerAskedBeforeItWasGivenUpIsLeftToTheScreen) {
  auto pace = kPace;
  pace.gap_timeout = Millis{10};
  start(pace);
  ASSERT_TRUE(online());
  fake.emit(R"({"type":"permission.asked","properties":{"id":"per_1","sessionID":"s","permission":"bash"}})");
  ASSERT_TRUE(until([&] { return told.prompts.size() == 1; }));
  fake.server.stop();
  ASSERT_TRUE(until([&] { return !told.broken.empty(); }));
  EXPECT_EQ(told.gone, Texts{"p1 by nobody: its server is gone"});
  EXPECT_TRUE(refused("p1", {}));
}

TEST_F(OpenCodeTest, AForeignServerAtThePortIsToldApart) {
  auto pace = kPace;
  pace.start_timeout = Millis{30};
  fake.authorization = "of somebody else";
  start(pace);
  ASSERT_TRUE(until([&] { return !told.broken.empty(); }));
  EXPECT_TRUE(told.broken[0].contains("refuses our password")) << told.broken[0];
  EXPECT_FALSE(told.broken[0].contains("mine"));
}

TEST_F(OpenCodeTest, AServerThatHangsIsGivenUpToo) {
  auto pace = kPace;
  pace.idle_timeout = Millis{100};
  pace.gap_timeout = Millis{10};
  start(pace);
  ASSERT_TRUE(online());
  fake.answers = false;
  ASSERT_TRUE(until([&] { return !told.broken.empty(); }));
  EXPECT_TRUE(told.broken[0].contains("the stream was silent")) << told.broken[0];
}

TEST_F(OpenCodeTest, AnEventStreamOfAnotherKindIsNoHarm) {
  start();
  ASSERT_TRUE(online());
  for (const auto* event :
       {"not json", "[]", "{\"type\":\"\\ud83d cut\"}", "{\"type\":\"new.event\",\"properties\":{\"deep\":[[[[]]]]}}"})
    fake.emit(event);
  replay("question");
  ASSERT_TRUE(until([&] { return told.heard.size() == 2; }));
  EXPECT_EQ(told.heard[1], "Thank you for answering.");
}

TEST_F(OpenCodeTest, WithoutAServerItSaysWhy) {
  adapter = opencode(loop);
  pty::Command command{.argv = {"opencode", "run", "x"}, .environment = {}, .directory = {}};
  adapter->prepare(command, {});
  adapter->start(told, 1);
  ASSERT_TRUE(until([&] { return !told.broken.empty(); }));
  EXPECT_EQ(told.broken[0], "server: `opencode run` has no server of its own to talk to");
  EXPECT_EQ(command.argv.size(), 3U);
  EXPECT_TRUE(refused("p1", {}));
}

}  // namespace
}  // namespace relay::adapters
