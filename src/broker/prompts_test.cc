// What agents ask a person: known while it is open, decided by rules, answered once.
#include "broker/prompts.h"

#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"
#include "permissions/policy_file.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Decision = PromptAnswer::Decision;

constexpr auto kRules = R"(
[[permissions]]
tool = "bash"
command = "make test"
action = "approve"
[[permissions]]
tool = "bash"
command = "git push( .*)?"
action = "deny"
[[permissions]]
tool = "fetch"
action = "ask"
timeout = 120
)";

/// Nobody is asked for signs of life while a test lets time pass.
BrokerLimits patient() {
  BrokerLimits limits;
  limits.heartbeat_ms = 3'600'000;
  return limits;
}

struct Asking : ::testing::Test {
  BrokerFixture world{patient()};
  ConnectionId bob = world.join_ours("Bob", R"("cli":"claude","workingDirectory":"/p")");
  ConnectionId person = world.join_user();
  int told = 0;

  Asking() { use(kRules); }
  void use(const std::string& toml) {
    world.broker().use_policy(std::make_shared<const permissions::Policy>(*permissions::parse_policy(toml)));
  }
  std::vector<Frame> log(const std::string& type) {
    records::EventQuery query;
    query.limit = 1'000;
    query.filter.types = {type};
    std::vector<Frame> events;
    const auto page = world.store().events(query).value();
    for (const auto& event : page.events) events.push_back(*parse_json_object(event.json));
    return events;
  }
  std::string session() { return text(log("session.started").back(), "_sessionId"); }

  void tell(const std::string& event) {
    world.say(bob, format(R"({{"v":1,"type":"AGENT_EVENT","id":"e1-{}","ts":1,"payload":{{"event":{{{}}}}}}})", ++told,
                          event));
  }
  void ask(const std::string& id, const std::string& command, const std::string& more = {}) {
    tell(format(R"("type":"permission.requested","requestId":"{}","tool":"Bash","command":"{}","description":"{}",)"
                R"("riskLevel":"medium","_ts":{}{})",
                id, command, command, world.now().wall, more));
  }
  void fetch(const std::string& id, WallMs at) {
    tell(format(R"("type":"permission.requested","requestId":"{}","tool":"WebFetch","description":"a page",)"
                R"("riskLevel":"medium","_ts":{})",
                id, at));
  }
  void question(const std::string& id) {
    tell(format(R"("type":"question.requested","questionId":"{}","question":"Which?","options":["a","b"])", id));
  }
  void resolved(const std::string& id, const std::string& how = "approved") {
    tell(
        format(R"("type":"permission.resolved","requestId":"{}","resolution":"{}","resolvedBy":"human","resolvedAt":1)",
               id, how));
  }
  Frame prompts(const std::string& agent = {}) {
    return world.answer(person, "PROMPTS", agent.empty() ? "{}" : format(R"({{"agent":"{}"}})", agent));
  }
  std::vector<std::string> open(std::string_view list = "permissions", std::string_view id = "requestId") {
    std::vector<std::string> ids;
    const auto all = prompts();
    for (const auto& row : all.at(list).as_array()) ids.push_back(text(row.as_object(), id));
    return ids;
  }
  Frame first_open() { return prompts().at("permissions").as_array().at(0).as_object(); }
  /// `ok`, or the code.
  std::string answer(ConnectionId by, const std::string& members) {
    world.received(by);
    world.request(by, "ANSWER", R"({"agent":"Bob",)" + members + "}");
    return outcome(by);
  }
  std::string outcome(ConnectionId by) {
    const auto answers = world.received(by, "ANSWER_RESULT");
    if (answers.empty()) return "none yet";
    const auto& said = payload(answers.back());
    if (said.at("success").as_bool()) return "ok";
    EXPECT_FALSE(text(said, "error").empty());
    return text(said, "code");
  }
  std::vector<AnswerPrompt> replies() { return world.host_requests<AnswerPrompt>(); }
  std::vector<NotifyUser> wanted() { return world.host_requests<NotifyUser>(); }
};

using Ids = std::vector<std::string>;

TEST_F(Asking, PromptIsOpenUntilResolved) {
  ask("r1", "make deploy");
  const auto open_now = first_open();
  EXPECT_EQ(text(open_now, "requestId"), "r1");
  EXPECT_EQ(text(open_now, "agent"), "Bob");
  EXPECT_EQ(text(open_now, "sessionId"), session());
  EXPECT_EQ(text(open_now, "command"), "make deploy");
  EXPECT_EQ(text(open_now, "riskLevel"), "medium");
  EXPECT_EQ(text(open_now, "rule"), "no rule applies");
  EXPECT_EQ(integer_member(open_now, "requestedAt"), world.now().wall);
  EXPECT_TRUE(open_now.at("canAnswer").as_bool());
  EXPECT_FALSE(open_now.contains("expiresAt"));
  resolved("r1");
  EXPECT_TRUE(open().empty());
}

TEST_F(Asking, WithoutRulesAndPresetsUserIsAskedAboutReading) {
  use("");
  tell(format(R"("type":"permission.requested","requestId":"r1","tool":"Read","filePath":"/etc/hosts",)"
              R"("description":"Read: /etc/hosts","riskLevel":"medium","_ts":{})",
              world.now().wall));
  ask("r2", "ls");
  EXPECT_TRUE(replies().empty()) << "nothing is approved";
  EXPECT_EQ(wanted().size(), 2u) << "the agent's own dialog decides";
  EXPECT_EQ(open(), (Ids{"r1", "r2"}));
}

TEST_F(Asking, ApprovalByPresetNamesIt) {
  use("[permissions]\npreset = \"read-only\"\n");
  ask("r1", "ls");
  const auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].by, "policy");
  EXPECT_EQ(said[0].reply.verdict, Decision::Allow);
  EXPECT_EQ(said[0].reply.reason, "preset read-only: approves ls and pwd");
}

TEST_F(Asking, OneAgentsAreListedAloneAndAnUnknownAgentIsSaid) {
  ask("r1", "make deploy");
  question("q1");
  EXPECT_EQ(prompts("Bob").at("permissions").as_array().size(), 1u);
  EXPECT_EQ(open("questions", "questionId"), Ids{"q1"});
  EXPECT_EQ(text(prompts("Nobody"), "code"), "UNKNOWN_RECIPIENT");
}

TEST_F(Asking, ItIsOpenOnceItIsStored) {
  world.hold_commits();
  ask("r1", "make test");
  EXPECT_TRUE(replies().empty()) << "first the log, then the word";
  world.release_commits();
  EXPECT_EQ(replies().size(), 1u);
}

TEST_F(Asking, UnstoredPromptOpensWhenItIsRepeated) {
  world.fail_commits(true);
  ask("r1", "make deploy");
  EXPECT_TRUE(open().empty());
  world.fail_commits(false);
  world.pass(2s);
  --told;
  ask("r1", "make deploy");
  EXPECT_EQ(open(), Ids{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 1u);
}

TEST_F(Asking, PromptRepeatedAfterReconnectIsOneEventAndOneEntry) {
  ask("r1", "make deploy");
  ask("r1", "make deploy", format(R"(,"_again":"{}")", session()));
  ask("r1", "make deploy");
  EXPECT_EQ(open(), Ids{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 1u);
}

TEST_F(Asking, AnotherDaemonKnowsItAgainWithoutASecondEventAndRingsNoSecondTime) {
  const auto token = token_of(world, bob);
  ask("r1", "make deploy");
  EXPECT_EQ(wanted().size(), 1u);
  const auto since = world.now().wall;
  world.restart();
  use(kRules);
  person = world.join_user();
  bob = world.connect();
  world.request(bob, "RESUME", format(R"({{"agent":"Bob","session_id":"{}","resume_token":"{}"}})", session(), token));
  world.pass(10s);
  tell(format(R"("type":"permission.requested","requestId":"r1","tool":"Bash","command":"make deploy",)"
              R"("description":"make deploy","riskLevel":"medium","_ts":{},"_again":"{}")",
              since, session()));
  EXPECT_EQ(open(), Ids{"r1"});
  EXPECT_EQ(integer_member(first_open(), "requestedAt"), since);
  EXPECT_EQ(log("permission.requested").size(), 1u);
  EXPECT_TRUE(wanted().empty());
}

TEST_F(Asking, AnEventWhoseAcknowledgementWasLostOpensItForAnotherDaemonToo) {
  ask("r1", "make deploy");
  world.restart();
  person = world.join_user();
  bob = world.join_ours("Bob");
  --told;
  ask("r1", "make deploy");
  EXPECT_EQ(open(), Ids{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 1u);
}

TEST_F(Asking, ForAnotherSessionItIsAnotherEvent) {
  ask("r1", "make deploy");
  const auto before = session();
  world.leave(bob);
  bob = world.join_ours("Bob");
  EXPECT_TRUE(open().empty()) << "its session has ended";
  EXPECT_EQ(text(log("permission.resolved").back(), "resolution"), "withdrawn");
  EXPECT_EQ(text(log("permission.resolved").back(), "resolvedBy"), "nobody");
  ask("r1", "make deploy", format(R"(,"_again":"{}")", before));
  EXPECT_EQ(open(), Ids{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 2u);
}

TEST_F(Asking, RepeatedPromptCanGainDetails) {
  ask("r1", "make de", R"(,"canAnswer":false)");
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  ask("r1", "make deploy", R"(,"canAnswer":true)");
  EXPECT_TRUE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(text(first_open(), "command"), "make deploy");
  EXPECT_EQ(log("permission.requested").size(), 2u);
  ask("r1", "make deploy", R"(,"canAnswer":false)");
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(log("permission.requested").size(), 2u) << "that it moved to the screen is no other question";
}

TEST_F(Asking, PromptRepeatedBeforeCommitIsOneEvent) {
  world.hold_commits();
  ask("r1", "make deploy");
  ask("r1", "make deploy", R"(,"canAnswer":false)");
  world.release_commits();
  EXPECT_EQ(log("permission.requested").size(), 1u);
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(wanted().size(), 1u);
}

TEST_F(Asking, ThereAreOnlySoManyOfOneAgent) {
  for (std::size_t i = 0; i < kMaxRequests + 5; ++i) ask(format("r{}", i), "make deploy");
  EXPECT_EQ(open().size(), kMaxRequests);
  EXPECT_EQ(log("permission.requested").size(), kMaxRequests + 5);
}

TEST_F(Asking, ByeClosesPrompts) {
  ask("r1", "make deploy");
  question("q1");
  world.say(bob, R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{}})");
  EXPECT_TRUE(open().empty());
  EXPECT_TRUE(open("questions", "questionId").empty());
  EXPECT_EQ(log("question.resolved").size(), 1u);
}

// ---------------------------------------------------------------- rules

TEST_F(Asking, ARuleApproves) {
  ask("r1", "make test");
  const auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].agent, "Bob");
  EXPECT_EQ(said[0].request, "r1");
  EXPECT_EQ(said[0].reply.verdict, Decision::Allow);
  EXPECT_EQ(said[0].by, "policy");
  world.host_answered(said[0].id, {});
  resolved("r1");
  EXPECT_TRUE(replies().empty()) << "answered once";
  EXPECT_TRUE(wanted().empty()) << "nobody is disturbed";
}

TEST_F(Asking, ARuleDenies) {
  ask("r1", "git push -f");
  const auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].reply.verdict, Decision::Deny);
  EXPECT_NE(said[0].reply.reason.find("config.toml:"), std::string::npos) << said[0].reply.reason;
  EXPECT_EQ(text(log("permission.requested").back(), "riskLevel"), "high") << "it is judged before it is stored";
}

TEST_F(Asking, WithoutPolicyUserDecidesEverything) {
  BrokerFixture plain;
  const auto carol = plain.join_ours("Carol");
  plain.say(carol,
            R"({"v":1,"type":"AGENT_EVENT","id":"e1-1","ts":1,"payload":{"event":{"type":"permission.requested",)"
            R"("requestId":"r1","tool":"Bash","command":"ls","description":"ls","riskLevel":"low"}}})");
  EXPECT_TRUE(plain.host_requests<AnswerPrompt>().empty());
  EXPECT_EQ(plain.host_requests<NotifyUser>().size(), 1u);
}

TEST_F(Asking, OfWhatOnlyAPartIsKnownNoRuleApproves) {
  ask("r1", "make test", R"(,"partial":true)");
  EXPECT_TRUE(replies().empty());
  EXPECT_NE(text(first_open(), "rule").find("only a part"), std::string::npos);
  EXPECT_EQ(wanted().size(), 1u);
}

TEST_F(Asking, RuleMustApproveChangedDirectoryToo) {
  ask("r1", "make test", R"(,"directory":"/p/sub")");
  EXPECT_EQ(replies().size(), 1u) << "below where it was started";
  ask("r2", "make test", R"(,"directory":"/p/../q")");
  ask("r3", "make test", R"(,"directory":"/other")");
  EXPECT_TRUE(replies().empty());
  EXPECT_NE(json::serialize(prompts()).find("the agent has gone to /other"), std::string::npos);
  ask("r4", "git push", R"(,"directory":"/other")");
  EXPECT_EQ(replies().size(), 1u) << "what a rule denies is denied anywhere";
}

TEST_F(Asking, ScreenOnlyPromptCanBeAnsweredOnceInterfaceOpens) {
  ask("r1", "make test", R"(,"canAnswer":false)");
  EXPECT_TRUE(replies().empty());
  EXPECT_EQ(wanted().size(), 1u);
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"approve")"), "UNSUPPORTED");
  ask("r1", "make test");
  EXPECT_EQ(replies().size(), 1u);
}

TEST_F(Asking, PromptWithoutAnswerIsDeniedAtTimeout) {
  fetch("r1", world.now().wall);
  EXPECT_EQ(integer_member(first_open(), "expiresAt"), world.now().wall + 120'000);
  world.pass(119s);
  EXPECT_TRUE(replies().empty());
  world.pass(1s);
  const auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].reply.verdict, Decision::Timeout);
  EXPECT_EQ(said[0].by, "policy");
  world.host_answered(said[0].id, fail("it is busy"));
  world.pass(600s);
  EXPECT_TRUE(replies().empty()) << "nothing is tried again blindly";
  EXPECT_EQ(open(), Ids{"r1"}) << "until its host says that it is gone";
  EXPECT_FALSE(first_open().contains("expiresAt"));
}

TEST_F(Asking, TimeoutCountsFromTimeOfPrompt) {
  fetch("r1", world.now().wall - 100'000);
  world.pass(20s);
  EXPECT_EQ(replies().size(), 1u);
  fetch("r2", world.now().wall + 1'000'000);
  EXPECT_EQ(open().size(), 2u);
  world.pass(120s);
  EXPECT_EQ(replies().size(), 1u) << "a clock that is ahead buys no time";
}

TEST_F(Asking, EachHasItsOwnTime) {
  fetch("r1", world.now().wall);
  world.pass(60s);
  fetch("r2", world.now().wall);
  world.pass(60s);
  auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].request, "r1");
  world.pass(60s);
  said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].request, "r2");
}

TEST_F(Asking, AnAnswerThatDidNotArriveDoesNotStopTheClock) {
  fetch("r1", world.now().wall);
  world.pass(119s);
  answer(person, R"("request":"r1","decision":"approve")");
  const auto said = replies();
  world.pass(10s);
  EXPECT_TRUE(replies().empty()) << "one answer at a time";
  world.host_answered(said.at(0).id, fail("the host did not answer"));
  EXPECT_EQ(outcome(person), "BUSY");
  world.pass(1s);
  EXPECT_EQ(replies().at(0).reply.verdict, Decision::Timeout);
}

TEST_F(Asking, FailedRuleAnswerNotifiesUser) {
  ask("r1", "make test");
  world.host_answered(replies().at(0).id, fail(protocol::NackCode::Stale, "that prompt is not open any more"));
  EXPECT_EQ(open(), Ids{"r1"});
  EXPECT_EQ(wanted().size(), 1u);
  world.pass(600s);
  EXPECT_TRUE(replies().empty());
}

TEST_F(Asking, NewRulesHoldFromTheNextRequestOn) {
  ask("r1", "make deploy");
  use("[[permissions]]\ntool = \"bash\"\ncommand = \"make deploy\"\naction = \"approve\"\n");
  EXPECT_TRUE(replies().empty());
  ask("r2", "make deploy");
  EXPECT_EQ(replies().size(), 1u);
}

TEST_F(Asking, UserIsNotifiedOnceWithDescription) {
  ask("r1", "rm -rf build");
  question("q1");
  const auto calls = wanted();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].kind, "permission");
  EXPECT_EQ(calls[0].text, "rm -rf build");
  EXPECT_EQ(calls[0].risk, "critical");
  EXPECT_EQ(calls[1].kind, "question");
  EXPECT_EQ(calls[1].text, "Which?");
}

// ---------------------------------------------------------------- ANSWER

// Without a blind key: the host says whether the agent was told.
TEST_F(Asking, UserApproves) {
  ask("r1", "make deploy");
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"approve","reason":"go on")"), "none yet");
  const auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].reply.verdict, Decision::Allow);
  EXPECT_EQ(said[0].reply.reason, "go on");
  EXPECT_EQ(said[0].by, "human");
  world.host_answered(said[0].id, {});
  EXPECT_EQ(outcome(person), "ok");
  EXPECT_EQ(open(), Ids{"r1"}) << "it is over when the host says so";
  resolved("r1");
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"approve")"), "STALE");
}

TEST_F(Asking, ARequestThatNeverExistedIsNotFoundAndAClosedOneIsStale) {
  ask("r1", "make deploy");
  EXPECT_EQ(answer(person, R"("request":"r2","decision":"approve")"), "NOT_FOUND");
  resolved("r1");
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"approve")"), "STALE");
  ask("r3", "make deploy");
  world.say(bob, R"({"v":1,"type":"BYE","id":"bye","ts":1,"payload":{"reason":"ended"}})");
  EXPECT_EQ(answer(person, R"("request":"r3","decision":"approve")"), "STALE") << "its session ended";
}

TEST_F(Asking, PermissionWithoutCommandOrFileHasNull) {
  ask("r1", "make deploy");
  EXPECT_EQ(string_member(first_open(), "command"), "make deploy");
  EXPECT_TRUE(first_open().at("filePath").is_null());
}

TEST_F(Asking, AnswererIsNamedByConnection) {
  ask("r1", "make deploy");
  const auto alice = world.join_ours("Alice");
  answer(alice, R"("request":"r1","decision":"deny","by":"human")");
  auto said = replies();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].by, "Alice");
  world.host_answered(said[0].id, {});
  answer(person, R"("request":"r1","decision":"deny","by":"Carol")");
  EXPECT_EQ(replies().at(0).by, "Carol");
}

TEST_F(Asking, AnAgentDoesNotAnswerItself) {
  ask("r1", "make deploy");
  EXPECT_EQ(answer(bob, R"("request":"r1","decision":"approve")"), "BAD_REQUEST");
  EXPECT_TRUE(replies().empty());
}

TEST_F(Asking, OnlyOneAnswerIsOnItsWay) {
  ask("r1", "make deploy");
  answer(person, R"("request":"r1","decision":"deny")");
  const auto first = replies();
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"approve")"), "BUSY");
  EXPECT_TRUE(replies().empty());
  world.host_answered(first.at(0).id, fail(protocol::NackCode::BadRequest, "1 asked and 0 answered"));
  EXPECT_EQ(outcome(person), "BAD_REQUEST") << "the host's own reason";
  answer(person, R"("request":"r1","decision":"approve")");
  EXPECT_EQ(replies().size(), 1u);
}

TEST_F(Asking, PromptWithdrawnByHostIsNotWithdrawnAgain) {
  ask("r1", "make deploy");
  world.hold_commits();
  tell(
      R"("type":"permission.resolved","requestId":"r1","resolution":"withdrawn","resolvedBy":"nobody","resolvedAt":1)");
  world.say(bob, R"({"v":1,"type":"BYE","id":"bye","ts":1,"payload":{"reason":"ended"}})");
  world.release_commits();
  world.leave(bob);
  bob = world.join_ours("Bob");
  EXPECT_TRUE(open().empty());
  EXPECT_EQ(log("permission.resolved").size(), 1u);
}

TEST_F(Asking, OfflineAgentCannotBeAnswered) {
  ask("r1", "make deploy");
  world.leave(bob);
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"approve")"), "BUSY");
  world.request(person, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_TRUE(open().empty());
  EXPECT_EQ(text(log("permission.resolved").back(), "resolution"), "withdrawn");
}

TEST_F(Asking, ATimeThatCannotBeIsNotBelieved) {
  fetch("r1", std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_member(first_open(), "requestedAt"), 0);
  world.pass(1ms);
  EXPECT_EQ(replies().size(), 1u) << "its time is over";
}

TEST_F(Asking, AnAnswerFitsWhatIsAsked) {
  ask("r1", "make deploy");
  question("q1");
  EXPECT_EQ(answer(person, R"("request":"r1","answers":["yes"])"), "BAD_REQUEST");
  EXPECT_EQ(answer(person, R"("request":"q1","decision":"approve")"), "BAD_REQUEST");
  EXPECT_EQ(answer(person, R"("request":"r2","decision":"approve")"), "NOT_FOUND");
  EXPECT_EQ(answer(person, R"("request":"r1","decision":"perhaps")"), "BAD_REQUEST");
  world.request(person, "ANSWER", R"({"agent":"Nobody","request":"r1","decision":"deny"})");
  EXPECT_EQ(outcome(person), "UNKNOWN_RECIPIENT");
  EXPECT_TRUE(replies().empty());
  answer(person, R"("request":"q1","answers":["a"])");
  EXPECT_EQ(replies().at(0).reply.answers, Ids{"a"});
}

TEST_F(Asking, AnAnswerMayOutliveEverybodyItConcerns) {
  ask("r1", "make deploy");
  answer(person, R"("request":"r1","decision":"deny")");
  const auto said = replies();
  world.leave(person);
  world.say(bob, R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{}})");
  world.host_answered(said.at(0).id, {});
  world.host_answered(said.at(0).id, {});
}

}  // namespace
}  // namespace relay::broker
