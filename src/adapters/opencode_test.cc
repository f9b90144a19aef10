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

constexpr OpenCodeTimeouts kTimeouts{.first_retry = Millis{1},
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
  testing::Recorder recorder;
  std::unique_ptr<Adapter> adapter;
  std::vector<std::string> delivered, answered;
  State screen = State::Idle;

  void start(OpenCodeTimeouts timeouts = kTimeouts, std::vector<std::string> arguments = {}) {
    adapter = make_opencode(loop, timeouts);
    pty::Command command{.argv = {"opencode", "--port", std::to_string(fake.server.port())},
                         .environment = {"OPENCODE_SERVER_PASSWORD=mine", "OPENCODE_SERVER_USERNAME=me"},
                         .directory = {}};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    adapter->prepare(command, {});
    adapter->start(recorder, 1);
    adapter->on_state(screen);
  }
  bool until(const std::function<bool()>& check) { return run_until(loop, check); }
  bool online() {
    return until([&] { return adapter->reported_state().has_value(); });
  }
  void deliver(std::string text, DeliveryMode mode = DeliveryMode::OnIdle) {
    adapter->deliver({.key = "d-" + text, .text = text, .mode = mode}, [this, text](Result<void> outcome) {
      delivered.push_back(text + (outcome ? "" : ": " + outcome.error().message()));
    });
  }
  /// The outcome is appended to `answered`, later.
  void answer(const std::string& prompt, const PromptAnswer& answer) {
    adapter->answer(prompt, answer, [this, prompt](const Result<void>& outcome) {
      answered.push_back(prompt + (outcome ? "" : ": " + outcome.error().message()));
    });
  }
  /// True if the answer fails at once.
  bool is_rejected(const std::string& prompt, const PromptAnswer& answer) {
    bool rejected = false;
    adapter->answer(prompt, answer, [&](const Result<void>& outcome) { rejected = !outcome; });
    return rejected;
  }
  void replay(const std::string& name) {
    for (const auto& line : testing::captured_lines(name)) fake.emit(line);
  }
  bool all_delivered(std::size_t count) {
    return until([&] { return delivered.size() == count; });
  }
};

TEST_F(OpenCodeTest, ReportsOutputStateAndUsageOfServer) {
  start();
  EXPECT_EQ(adapter->capabilities().output, "");
  ASSERT_TRUE(online());
  EXPECT_EQ(recorder.capabilities, 1);
  EXPECT_EQ(adapter->capabilities().output, via::kServer);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).timing, DeliveryTiming::WhenIdle);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::Manual).timing, DeliveryTiming::Never);
  replay("permission");
  ASSERT_TRUE(until([&] { return recorder.texts.size() == 2 && recorder.usage.size() == 2; }));
  EXPECT_EQ(recorder.texts, (Texts{"Step one.", "Understood."}));
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Idle; }));
}

TEST_F(OpenCodeTest, StateIsUnknownBeforeScreenIsDrawnOrTimeout) {
  auto timeouts = kTimeouts;
  screen = State::Unknown;
  start(timeouts);
  ASSERT_TRUE(until([&] { return recorder.capabilities == 1; }));
  EXPECT_FALSE(adapter->reported_state().has_value());
  adapter->on_state(State::Typing);
  EXPECT_TRUE(adapter->reported_state().has_value());
  timeouts.drawing = Millis{1};
  start(timeouts);
  EXPECT_TRUE(online());
}

TEST_F(OpenCodeTest, FirstMessageCreatesAndShowsSession) {
  start(kTimeouts, {"--agent", "plan", "--model", "local/fast"});
  ASSERT_TRUE(online());
  deliver("hello");
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(delivered, Texts{"hello"});
  ASSERT_EQ(fake.requests.size(), 3U);
  EXPECT_EQ(fake.requests[0], "/session {}");
  EXPECT_EQ(fake.requests[1], R"(/tui/select-session {"sessionID":"ses_made"})");
  EXPECT_TRUE(fake.requests[2].starts_with("/session/ses_made/prompt_async"));
  const auto& prompt = fake.prompts.at(0);
  EXPECT_TRUE(string_member(prompt, "messageID")->starts_with("msg_"));
  EXPECT_EQ(string_member(prompt, "agent"), "plan");
  EXPECT_EQ(json::serialize(*prompt.if_contains("model")), R"({"providerID":"local","modelID":"fast"})");
  EXPECT_EQ(string_member(array_member(prompt, "parts")->at(0).as_object(), "text"), "hello");
  EXPECT_FALSE(prompt.contains("noReply"));
}

TEST_F(OpenCodeTest, MessageGoesToLastUsedSessionWithItsAgent) {
  start();
  ASSERT_TRUE(online());
  fake.emit(
      R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_x","role":"user","agent":"plan","model":{"providerID":"p","modelID":"m","variant":"v"}}}})");
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  deliver("steer", DeliveryMode::NextToolCall);
  deliver("context", DeliveryMode::NextMessage);
  deliver("stop", DeliveryMode::Immediate);
  ASSERT_TRUE(all_delivered(3));
  EXPECT_EQ(delivered, (Texts{"steer", "context", "stop"}));
  ASSERT_EQ(fake.requests.size(), 4U);
  EXPECT_EQ(fake.requests[2], "/session/ses_x/abort {}");
  EXPECT_EQ(string_member(fake.prompts[0], "agent"), "plan");
  EXPECT_EQ(string_member(fake.prompts[0], "variant"), "v");
  EXPECT_EQ(bool_member(fake.prompts[1], "noReply"), true);
  EXPECT_LT(*string_member(fake.prompts[0], "messageID"), *string_member(fake.prompts[1], "messageID"));
}

constexpr const char* kUserMessage =
    R"({"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_x","role":"user","agent":"plan","model":{"providerID":"p","modelID":"m"}}}})";
constexpr const char* kIdle = R"({"type":"session.idle","properties":{"sessionID":"ses_x"}})";

std::string titled(const std::string& session, const std::string& title) {
  return format(R"({{"type":"session.updated","properties":{{"info":{{"id":"{}","title":"{}"}}}}}})", session, title);
}

TEST_F(OpenCodeTest, MessageAfterNewDoesNotGoToAbandonedSession) {
  start();
  ASSERT_TRUE(online());
  adapter->on_window_title("OpenCode", true);
  fake.emit(kUserMessage);
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  adapter->on_window_title("OpenCode", true);  // not drawn yet
  adapter->on_window_title("OpenCode", false);
  adapter->on_window_title("OpenCode", true);  // `/new`
  EXPECT_EQ(adapter->reported_state()->state, State::Idle) << "the session on the screen does not work";
  deliver("after new");
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(fake.requests[0], "/session {}");
  EXPECT_EQ(fake.requests[1], R"(/tui/select-session {"sessionID":"ses_made"})");
  EXPECT_TRUE(fake.requests[2].starts_with("/session/ses_made/prompt_async"));
  adapter->on_window_title("OpenCode", true);  // not drawn yet
  deliver("the next");
  ASSERT_TRUE(all_delivered(2));
  EXPECT_TRUE(fake.requests[3].starts_with("/session/ses_made/prompt_async"));
}

TEST_F(OpenCodeTest, AbandonedSessionIsNotUsedAfterReconnect) {
  start();
  ASSERT_TRUE(online());
  fake.emit(kUserMessage);
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  adapter->on_window_title("OpenCode", false);
  adapter->on_window_title("OpenCode", true);
  fake.sessions = R"([{"id":"ses_x","title":"One","time":{"created":99999999999999}}])";
  fake.end_events();
  ASSERT_TRUE(until([&] { return fake.connections == 2; }));
  deliver("after new");
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(fake.requests[0], "/session {}");
}

TEST_F(OpenCodeTest, NothingIsSentWhileWindowHasTitleOfAnotherSession) {
  start();
  ASSERT_TRUE(online());
  fake.emit(titled("ses_x", "One"));
  fake.emit(kUserMessage);
  fake.emit(R"({"type":"session.status","properties":{"sessionID":"ses_x","status":{"type":"busy"}}})");
  ASSERT_TRUE(until([&] { return adapter->reported_state()->state == State::Working; }));
  adapter->on_window_title("OC | One", false);
  const auto timing = [&] { return adapter->capabilities().by(DeliveryMode::OnIdle).timing; };
  adapter->on_window_title("OC | Two", false);
  deliver("held");
  EXPECT_EQ(timing(), DeliveryTiming::WhenIdle) << "titles may differ for a moment";
  ASSERT_TRUE(until([&] { return timing() == DeliveryTiming::Never; })) << "it is typed";
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(delivered[0], "held: OpenCode shows another conversation");
  EXPECT_TRUE(fake.prompts.empty());
  EXPECT_FALSE(adapter->reported_state().has_value()) << "the working session is not the one on the screen";
  adapter->on_window_title("OC | One", false);
  EXPECT_EQ(timing(), DeliveryTiming::WhenIdle);
  deliver("back");
  ASSERT_TRUE(all_delivered(2));
  EXPECT_EQ(delivered[1], "back");
}

TEST_F(OpenCodeTest, AnswerCompletesWhenPromptIsClosed) {
  auto timeouts = kTimeouts;
  timeouts.resolved = Millis{60'000};
  start(timeouts);
  ASSERT_TRUE(online());
  fake.emit(
      R"({"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_x","questions":[{"question":"Which?","options":[{"label":"A"}]}]}})");
  ASSERT_TRUE(until([&] { return recorder.prompts.size() == 1; }));
  answer("p1", {.decision = PromptAnswer::Decision::Approve, .answers = {"A"}});
  ASSERT_TRUE(until([&] { return fake.requests.size() == 1; }));
  fake.emit(kIdle);
  EXPECT_TRUE(answered.empty());
  fake.emit(R"({"type":"question.replied","properties":{"requestID":"que_1","sessionID":"ses_x"}})");
  ASSERT_TRUE(until([&] { return answered.size() == 1; }));
  EXPECT_EQ(recorder.closed.size(), 1U) << "before";
}

TEST_F(OpenCodeTest, LostResponseIsLookedUpAndNothingIsSentTwice) {
  start();
  ASSERT_TRUE(online());
  fake.post = FakeOpenCode::Post::AcceptsAndDisconnects;
  deliver("one");
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(delivered, Texts{"one"});
  fake.post = FakeOpenCode::Post::Disconnects;
  deliver("two");
  ASSERT_TRUE(all_delivered(2));
  EXPECT_TRUE(delivered[1].contains("has no such message")) << delivered[1];
  EXPECT_EQ(fake.prompts.size(), 2U);
  deliver("one");
  ASSERT_TRUE(all_delivered(3));
  EXPECT_EQ(delivered[2], "one");
  EXPECT_EQ(fake.prompts.size(), 2U) << "the server has that delivery already";
}

TEST_F(OpenCodeTest, RejectedMessageIsFailure) {
  start(kTimeouts, {"-s", "ses_old"});
  ASSERT_TRUE(online());
  fake.post = FakeOpenCode::Post::Rejects;
  deliver("one");
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(delivered[0], "one: OpenCode's server did not accept the message: 404 Session not found");
  EXPECT_TRUE(fake.requests[0].starts_with("/session/ses_old/prompt_async"));
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
  ASSERT_TRUE(until([&] { return recorder.prompts.size() == 5; }));
  using Decision = PromptAnswer::Decision;
  answer("p1", {.decision = Decision::Approve});
  EXPECT_TRUE(is_rejected("p1", {.decision = Decision::Deny})) << "an answer is already pending";
  answer("p2", {.decision = Decision::Deny, .message = "not now"});
  EXPECT_TRUE(is_rejected("p3", {.answers = {"x"}})) << "it has two questions";
  answer("p3", {.answers = {"free text", "y, z"}});
  EXPECT_TRUE(is_rejected("p4", {.decision = Decision::Deny, .message = "why"}));
  answer("p4", {.decision = Decision::Deny});
  answer("p5", {});
  EXPECT_TRUE(is_rejected("p9", {}));
  EXPECT_TRUE(answered.empty()) << "an answer completes only after the server's response";
  ASSERT_TRUE(until([&] { return answered.size() == 5; }));
  std::ranges::sort(answered);
  EXPECT_EQ(answered, (Texts{"p1", "p2", "p3", "p4", "p5: OpenCode has already closed that prompt"}));
  EXPECT_EQ(recorder.closed, Texts{"p5 by user"});
  std::ranges::sort(fake.requests);
  EXPECT_EQ(fake.requests, (Texts{R"(/permission/per_1/reply {"reply":"once"})",
                                  R"(/permission/per_2/reply {"reply":"reject","message":"not now"})",
                                  R"(/permission/per_gone/reply {"reply":"once"})",
                                  "/question/que_3/reply {\"answers\":[[\"free text\"],[\"y\",\"z\"]]}",
                                  "/question/que_4/reject {}"}));
  fake.emit(R"({"type":"permission.replied","properties":{"sessionID":"s","requestID":"per_1","reply":"once"}})");
  ASSERT_TRUE(until([&] { return recorder.closed.size() == 2; }));
  EXPECT_EQ(recorder.closed[1], "p1 by server");
}

TEST_F(OpenCodeTest, MissedStateIsRequestedAfterReconnect) {
  start();
  ASSERT_TRUE(online());
  replay("first_message");
  ASSERT_TRUE(until([&] { return recorder.texts.size() == 1; }));
  const auto soon = std::to_string(loop.now().wall + 1'000);
  fake.messages[kSession] =
      R"([{"info":{"id":"msg_2","sessionID":")" + std::string{kSession} + R"(","role":"assistant","time":{"created":)" +
      soon + R"(,"completed":)" + soon + R"(}},"parts":[{"id":"prt_2","messageID":"msg_2","sessionID":")" + kSession +
      R"(","type":"text","text":"said in the gap","time":{"start":1,"end":2}},{"type":"tool","output":"cut \ud83d"}]}])";
  fake.permissions = R"([{"id":"per_7","sessionID":"s","permission":"bash","metadata":{"command":"ls"}}])";
  fake.statuses = std::string{"{\""} + kSession + R"(":{"type":"busy"}})";
  fake.end_events();
  ASSERT_TRUE(until([&] { return recorder.texts.size() == 2; }));
  EXPECT_EQ(recorder.texts[1], "said in the gap");
  ASSERT_TRUE(until([&] { return adapter->reported_state().has_value(); }));
  EXPECT_EQ(adapter->reported_state()->state, State::Blocked);
  EXPECT_EQ(fake.connections, 2);
  fake.permissions = "[]";
  fake.end_events();
  ASSERT_TRUE(until([&] { return fake.connections == 3 && adapter->reported_state().has_value(); }));
  EXPECT_EQ(recorder.texts.size(), 2U);
  EXPECT_EQ(recorder.closed, Texts{"p1 by user"});
  EXPECT_TRUE(recorder.failed.empty());
}

TEST_F(OpenCodeTest, DeliveryIsQueuedWhileServerStarts) {
  fake.server.stop();
  start();
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, via::kServer);
  deliver("early");
  fake.server.restart();
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(delivered, Texts{"early"});
}

TEST_F(OpenCodeTest, DeliveryIsQueuedDuringShortBreak) {
  start();
  ASSERT_TRUE(online());
  fake.server.stop();
  ASSERT_TRUE(until([&] { return !adapter->reported_state().has_value(); }));
  deliver("queued");
  EXPECT_TRUE(delivered.empty());
  fake.server.restart();
  ASSERT_TRUE(all_delivered(1));
  EXPECT_EQ(delivered, Texts{"queued"});
}

TEST_F(OpenCodeTest, UnreachableServerFailsWithReasonAndRecovers) {
  auto timeouts = kTimeouts;
  timeouts.gap_timeout = Millis{10};
  start(timeouts);
  ASSERT_TRUE(online());
  fake.server.stop();
  deliver("lost");
  ASSERT_TRUE(until([&] { return !recorder.failed.empty(); }));
  EXPECT_EQ(recorder.failed.size(), 1U);
  EXPECT_TRUE(recorder.failed[0].starts_with("server: the server at 127.0.0.1:")) << recorder.failed[0];
  EXPECT_EQ(adapter->capabilities().output, "");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).timing, DeliveryTiming::Never);
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_TRUE(delivered[0].starts_with("lost: ")) << delivered[0];
  deliver("later");
  ASSERT_TRUE(all_delivered(2));
  EXPECT_TRUE(delivered[1].contains("cannot be reached")) << delivered[1];
  fake.server.restart();
  ASSERT_TRUE(online());
  EXPECT_EQ(adapter->capabilities().output, via::kServer);
  EXPECT_EQ(recorder.failed.size(), 1U);
  EXPECT_EQ(recorder.recovered, Texts{"server"});
}

TEST_F(OpenCodeTest, PromptOfFailedServerIsLeftToScreen) {
  auto timeouts = kTimeouts;
  timeouts.gap_timeout = Millis{10};
  start(timeouts);
  ASSERT_TRUE(online());
  fake.emit(R"({"type":"permission.asked","properties":{"id":"per_1","sessionID":"s","permission":"bash"}})");
  ASSERT_TRUE(until([&] { return recorder.prompts.size() == 1; }));
  fake.server.stop();
  ASSERT_TRUE(until([&] { return !recorder.failed.empty(); }));
  EXPECT_EQ(recorder.closed, Texts{"p1 by nobody: its server cannot be reached"});
  EXPECT_TRUE(is_rejected("p1", {}));
}

TEST_F(OpenCodeTest, ForeignServerAtPortIsRecognized) {
  auto timeouts = kTimeouts;
  timeouts.start_timeout = Millis{30};
  fake.authorization = "of another server";
  start(timeouts);
  ASSERT_TRUE(until([&] { return !recorder.failed.empty(); }));
  EXPECT_TRUE(recorder.failed[0].contains("rejects the password")) << recorder.failed[0];
  EXPECT_FALSE(recorder.failed[0].contains("mine"));
}

TEST_F(OpenCodeTest, HangingServerIsGivenUp) {
  auto timeouts = kTimeouts;
  timeouts.idle_timeout = Millis{100};
  timeouts.gap_timeout = Millis{10};
  start(timeouts);
  ASSERT_TRUE(online());
  fake.responds = false;
  ASSERT_TRUE(until([&] { return !recorder.failed.empty(); }));
  EXPECT_TRUE(recorder.failed[0].contains("the stream was silent")) << recorder.failed[0];
}

TEST_F(OpenCodeTest, UnknownEventsAreIgnored) {
  start();
  ASSERT_TRUE(online());
  for (const auto* event :
       {"not json", "[]", "{\"type\":\"\\ud83d cut\"}", "{\"type\":\"new.event\",\"properties\":{\"deep\":[[[[]]]]}}"})
    fake.emit(event);
  replay("question");
  ASSERT_TRUE(until([&] { return recorder.texts.size() == 2; }));
  EXPECT_EQ(recorder.texts[1], "Thank you for answering.");
}

TEST_F(OpenCodeTest, RunWithoutServerReportsReason) {
  adapter = make_opencode(loop);
  pty::Command command{.argv = {"opencode", "run", "x"}, .environment = {}, .directory = {}};
  adapter->prepare(command, {});
  adapter->start(recorder, 1);
  ASSERT_TRUE(until([&] { return !recorder.failed.empty(); }));
  EXPECT_EQ(recorder.failed[0], "server: `opencode run` has no server");
  EXPECT_EQ(command.argv.size(), 3U);
  EXPECT_TRUE(is_rejected("p1", {}));
}

}  // namespace
}  // namespace relay::adapters
