#include <gtest/gtest.h>

#include "api/testing/fake_workspaces.h"
#include "client/errors.h"

namespace relay::api {
namespace {

using testing::FakeApi;

constexpr auto kFirst = "aaaaaaaaaaaa";
constexpr auto kSecond = "bbbbbbbbbbbb";

host::HostRecord host_of(const std::string& name, bool spawned = true) {
  return {.id = "h1", .name = name, .pid = 41, .agent_pid = 42, .socket = "/door", .started_at = 5, .spawned = spawned};
}

struct ApiTest : ::testing::Test {
  FakeApi played;
  testing::FakeWorkspaceClient& relay = played.workspaces.add(kFirst, "/home/me/first");

  /// The answer's body, checked against what the route says of it.
  json::object expect(int status, const std::string& method, const std::string& target, const std::string& body = {}) {
    const auto answer = played.ask(method, target, body);
    EXPECT_EQ(answer.status, status) << method << " " << target << " " << answer.body;
    auto object = parse_json_object(answer.body).value_or(json::object{});
    const auto segments = net::path_segments(target.substr(0, target.find('?'))).value();
    const auto* route = match_route(method, segments).route;
    if (route != nullptr && answer.status == route->status && route->answer.check != nullptr) {
      const auto fits = route->answer.check(object);
      EXPECT_TRUE(fits.has_value()) << target << ": " << fits.error().message();
    }
    return object;
  }
  std::string refusal(int status, const std::string& method, const std::string& target, const std::string& body = {}) {
    const auto object = expect(status, method, target, body);
    const auto* error = object_member(object, "error");
    if (error == nullptr) return "no error";
    EXPECT_FALSE(string_member(*error, "message").value_or("").empty());
    return string_member(*error, "code").value_or("");
  }
  void tell(const std::string& frame, const char* payload) {
    relay.answers[frame].push_back(parse_json_object(payload).value());
  }
  const testing::Asked& last() { return relay.asked.back(); }
};

TEST_F(ApiTest, HealthNeedsNobody) {
  EXPECT_EQ(string_member(expect(200, "GET", "/"), "status"), "ok");
  EXPECT_EQ(string_member(expect(200, "GET", "/healthz"), "version"), "9.9");
}

/// A path of the route, with something in place of each name.
std::string path_of(const Route& route) {
  std::string path{route.path};
  for (const auto name : names_in(route.path)) {
    const auto written = format("{{{}}}", name);
    path.replace(path.find(written), written.size(), name == "name" ? "Bob" : kFirst);
  }
  return path;
}

TEST_F(ApiTest, ProcessInsideAnAgentChangesNothingButSends) {
  played.doors.hosts = {host_of("Bob")};
  played.caller = protocol::agent_origin("Bob", "/door");
  for (const auto& route : route_table()) {
    if (route.method == Method::Get || route.by_agents) continue;
    EXPECT_EQ(refusal(403, std::string{name_of(route.method)}, path_of(route), std::string{route.example}),
              "INSIDE_AGENT")
        << route.path;
  }
  EXPECT_TRUE(relay.asked.empty() && played.doors.asked.empty() && relay.sent.empty());
  EXPECT_EQ(played.workspaces.open_list.size(), 1u);
}

TEST_F(ApiTest, ProcessInsideAnAgentSendsAsThatAgentAlone) {
  played.doors.hosts = {host_of("Bob")};
  played.caller = protocol::agent_origin("Robert", "/door");  // its environment may say anything
  expect(200, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})");
  expect(200, "POST", "/api/v1/agents/Zoe/messages", R"({"message":"hi","from":"Bob"})");
  ASSERT_EQ(relay.sent.size(), 2u);
  for (const auto& letter : relay.sent) {
    EXPECT_EQ(letter.from, "Bob");
    EXPECT_EQ(letter.claim_token, "system");
  }
  for (const auto* from : {"human", "Ann", "Robert", "api"})
    EXPECT_EQ(refusal(403, "POST", "/api/v1/messages", format(R"({{"to":"Zoe","message":"hi","from":"{}"}})", from)),
              "INSIDE_AGENT");
  played.caller = protocol::agent_origin("Bob", "/door of another project");
  EXPECT_EQ(refusal(403, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})"), "INSIDE_AGENT");
  EXPECT_EQ(relay.sent.size(), 2u);
}

TEST_F(ApiTest, CallerThatIsGoneChangesNothing) {
  played.caller = std::nullopt;
  EXPECT_EQ(refusal(403, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})"), "CALLER_GONE");
  EXPECT_EQ(refusal(403, "POST", "/api/v1/agents/Bob/pause"), "CALLER_GONE");
  EXPECT_TRUE(relay.asked.empty() && relay.sent.empty());
}

TEST_F(ApiTest, CallerThatCannotBeToldApartIsTheUser) {
  played.caller = protocol::PeerOrigin{};
  expect(200, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})");
  EXPECT_EQ(relay.sent.at(0).from, "human");
  EXPECT_EQ(relay.sent.at(0).claim_token, "");
}

TEST_F(ApiTest, ReadersAreNotLookedUp) {
  played.caller = protocol::agent_origin("Bob", "/door");
  expect(200, "GET", "/workspaces");
  expect(200, "GET", "/api/v1/agents");
  EXPECT_EQ(played.callers_asked, 0u);
}

TEST_F(ApiTest, WorkspacesAreListedOpenedSwitchedToAndClosed) {
  EXPECT_EQ(string_member(expect(200, "GET", "/workspaces"), "activeWorkspaceId"), kFirst);
  const auto made = expect(201, "POST", "/workspaces", R"({"path":"/home/me/second","name":"x"})");
  EXPECT_EQ(string_member(made, "name"), "second");
  const auto id = *string_member(made, "id");
  EXPECT_FALSE(expect(200, "GET", "/workspaces").contains("activeWorkspaceId")) << "nobody can tell which";
  expect(200, "POST", "/workspaces/" + id + "/switch");
  EXPECT_EQ(string_member(expect(200, "GET", "/workspaces"), "activeWorkspaceId"), id);
  EXPECT_EQ(string_member(expect(200, "GET", "/workspaces/" + id), "path"), "/home/me/second");
  EXPECT_EQ(played.ask("DELETE", "/workspaces/" + id).status, 204);
  EXPECT_EQ(refusal(404, "GET", "/workspaces/" + id), "NOT_FOUND");
  EXPECT_EQ(refusal(400, "POST", "/workspaces", R"({"path":"here"})"), "BAD_REQUEST");
  EXPECT_EQ(refusal(400, "POST", "/workspaces", "{}"), "BAD_REQUEST");
  EXPECT_EQ(refusal(400, "POST", "/workspaces", "[]"), "BAD_REQUEST");
  EXPECT_EQ(refusal(400, "POST", "/workspaces", "{"), "BAD_REQUEST");
}

TEST_F(ApiTest, WhichWorkspaceIsSaidByIdOrRootOrItIsTheOnlyOne) {
  auto& second = played.workspaces.add(kSecond, "/home/me/second");
  const auto which = played.ask("GET", "/api/v1/agents");
  EXPECT_EQ(which.status, 409);
  EXPECT_NE(which.body.find("/home/me/second"), std::string::npos) << "the sentence lists them";
  expect(200, "GET", std::string{"/api/v1/agents?workspace="} + kSecond);
  expect(200, "GET", "/api/v1/agents?workspace=/home/me/second");
  EXPECT_EQ(second.asked.size(), 2u);
  EXPECT_EQ(refusal(404, "GET", "/api/v1/agents?workspace=cccccccccccc"), "NOT_FOUND");
  played.workspaces.open_list.clear();
  EXPECT_EQ(refusal(409, "GET", "/api/v1/agents"), "NO_WORKSPACE");
}

TEST_F(ApiTest, AgentsAreThoseOfTheRelayWithWhatTheirHostsKnow) {
  tell("LIST_AGENTS",
       R"({"agents":[{"name":"Bob","cli":"claude","idle":false,"sessionId":"s1","state":"idle","pending":2,
      "messagesSent":1,"messagesReceived":3,"lastSeen":9},{"name":"Zoe","idle":true,"pending":0,"lastSeen":1}]})");
  played.doors.hosts = {host_of("Bob")};
  const auto list = expect(200, "GET", "/api/v1/agents");
  const auto& bob = list.at("agents").as_array().at(0).as_object();
  EXPECT_EQ(string_member(bob, "id"), format("{}.Bob", kFirst));
  EXPECT_EQ(string_member(bob, "status"), "idle");
  EXPECT_EQ(string_member(bob, "sessionId"), "s1");
  EXPECT_EQ(integer_member(bob, "pid"), 42);
  EXPECT_EQ(string_member(list.at("agents").as_array().at(1).as_object(), "status"), "stopped");
  EXPECT_EQ(string_member(expect(200, "GET", "/agents/Bob"), "name"), "Bob");
  EXPECT_EQ(string_member(expect(200, "GET", format("/agents/{}.Bob", kFirst)), "name"), "Bob");
  EXPECT_EQ(string_member(expect(200, "GET", "/api/v1/agents/Zoe"), "name"), "Zoe");
  EXPECT_EQ(refusal(404, "GET", "/agents/Nobody"), "NOT_FOUND");
  EXPECT_EQ(expect(200, "GET", format("/workspaces/{}/agents", kFirst)).at("agents").as_array().size(), 2u);
}

TEST_F(ApiTest, OneAgentIsAskedForByItsNameAndManyPageByPage) {
  tell("LIST_AGENTS", R"({"agents":[{"name":"Bob","idle":false}],"more":true})");
  expect(200, "GET", "/api/v1/agents/Bob");
  EXPECT_EQ(last().payload, (json::object{{"includeIdle", true}, {"agent", "Bob"}}));
  EXPECT_EQ(bool_member(expect(200, "GET", "/api/v1/agents"), "more"), true);
  EXPECT_EQ(last().payload, (json::object{{"includeIdle", true}}));
  EXPECT_EQ(bool_member(expect(200, "GET", "/agents"), "more"), true);
  relay.answers["LIST_AGENTS"] = {parse_json_object(R"({"agents":[{"name":"Zoe","idle":true}]})").value()};
  for (const auto* path : {"/api/v1/agents?after=Bob", "/workspaces/aaaaaaaaaaaa/agents?after=Bob"}) {
    EXPECT_FALSE(expect(200, "GET", path).contains("more"));
    EXPECT_EQ(last().payload, (json::object{{"includeIdle", true}, {"after", "Bob"}}));
  }
}

TEST_F(ApiTest, AllAgentsAreThoseOfAllWorkspaces) {
  auto& second = played.workspaces.add(kSecond, "/home/me/second");
  tell("LIST_AGENTS", R"({"agents":[{"name":"Bob","idle":false}]})");
  second.answers["LIST_AGENTS"].push_back(parse_json_object(R"({"agents":[{"name":"Bob","idle":false}]})").value());
  const auto all = expect(200, "GET", "/agents").at("agents").as_array();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(string_member(all[0].as_object(), "id"), format("{}.Bob", kFirst));
  EXPECT_EQ(string_member(all[1].as_object(), "id"), format("{}.Bob", kSecond));
}

TEST_F(ApiTest, PauseHoldsBackAndResumeLetsGo) {
  tell("CONTROL_RESULT", "{}");
  tell("CONTROL", R"({"success":true,"action":"pause"})");
  expect(200, "POST", "/api/v1/agents/Bob/pause", R"({"reason":"lunch"})");
  EXPECT_EQ(last().payload, (json::object{{"action", "pause"}, {"agent", "Bob"}, {"reason", "lunch"}}));
  expect(200, "POST", "/api/v1/agents/Bob/resume");
  EXPECT_EQ(string_member(last().payload, "action"), "unpause");
  relay.answers["CONTROL"] = {
      parse_json_object(R"({"success":false,"error":"nobody is called Bob","code":"UNKNOWN_RECIPIENT"})").value()};
  EXPECT_EQ(refusal(404, "POST", "/api/v1/agents/Bob/pause"), "UNKNOWN_RECIPIENT");
}

TEST_F(ApiTest, OnlyAgentsTheRelayStartedAreTypedIntoAndEnded) {
  tell("RELEASE", R"({"success":true,"name":"Bob"})");
  tell("SEND_INPUT", R"({"success":true,"name":"Bob"})");
  EXPECT_EQ(refusal(404, "POST", "/api/v1/agents/Bob/stop"), "NOT_FOUND");
  played.doors.hosts = {host_of("Bob", false)};
  EXPECT_EQ(refusal(409, "POST", "/api/v1/agents/Bob/stop"), "UNSUPPORTED");
  EXPECT_EQ(refusal(409, "POST", "/api/v1/agents/Bob/input", R"({"input":"y"})"), "UNSUPPORTED");
  EXPECT_TRUE(relay.asked.empty()) << "nothing was tried";
  played.doors.hosts = {host_of("Bob")};
  expect(200, "POST", "/api/v1/agents/Bob/stop", R"({"reason":"enough"})");
  EXPECT_EQ(string_member(last().payload, "reason"), "enough");
  EXPECT_EQ(string_member(last().payload, "by"), "api");
  EXPECT_EQ(played.ask("DELETE", "/agents/Bob").status, 204);
  expect(200, "POST", "/agents/Bob/input", R"({"input":"\u0003"})");
  EXPECT_EQ(string_member(last().payload, "data"), "\x03");
  EXPECT_EQ(refusal(400, "POST", "/agents/Bob/input", "{}"), "BAD_REQUEST");
  EXPECT_EQ(refusal(400, "POST", "/agents/Bob/input", R"({"input":""})"), "BAD_REQUEST");
}

TEST_F(ApiTest, OutputAndInterruptGoToTheAgentsDoor) {
  played.doors.hosts = {host_of("Bob", false)};
  played.doors.answer = json::object{{"ok", true}, {"screen", "one\ntwo\nthree\n\n"}, {"columns", 80}, {"rows", 24}};
  EXPECT_EQ(expect(200, "GET", "/agents/Bob/output").at("output").as_array().size(), 3u);
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/output?limit=1").at("output").as_array().at(0), "three");
  EXPECT_EQ(refusal(400, "GET", "/agents/Bob/output?limit=no"), "BAD_REQUEST");
  expect(200, "POST", "/agents/Bob/interrupt");
  EXPECT_EQ(played.doors.asked.back(), (json::object{{"method", "interrupt"}}));
  expect(200, "POST", "/agents/by-name/Bob/interrupt");
  expect(200, "POST", "/api/v1/agents/Bob/interrupt");
  EXPECT_EQ(refusal(404, "POST", "/agents/Zoe/interrupt"), "NOT_FOUND");
  played.doors.answer = std::unexpected{conflict("FAILED", "Bob is gone")};
  EXPECT_EQ(refusal(409, "GET", "/agents/Bob/output"), "FAILED");
}

TEST_F(ApiTest, ASessionIsCreatedByStartingAnAgent) {
  tell("SPAWN", R"({"success":true,"name":"Bob","pid":77,"taskId":"t1"})");
  tell("LIST_CONNECTED_AGENTS", R"({"agents":[{"name":"Bob","sessionId":"s1"}]})");
  const auto made = expect(201, "POST", "/api/v1/sessions",
                           R"({"agent":"Bob","cli":"claude","task":"count","args":["-p"],"cwd":"inside"})");
  EXPECT_EQ(string_member(made, "sessionId"), "s1");
  EXPECT_EQ(string_member(made, "status"), "starting");
  EXPECT_EQ(integer_member(made, "hostPid"), 77);
  const auto& wish = relay.asked.front().payload;
  EXPECT_EQ(string_member(wish, "spawnerName"), "human");
  EXPECT_EQ(wish.at("args").as_array().size(), 1u);
  EXPECT_EQ(refusal(400, "POST", "/api/v1/sessions", R"({"agent":"Bob"})"), "BAD_REQUEST");
  relay.answers["SPAWN"] = {
      parse_json_object(R"({"success":false,"error":"'Bob' is connected already","code":"NOT_OWNER"})").value()};
  EXPECT_EQ(refusal(409, "POST", "/api/v1/sessions", R"({"agent":"Bob","cli":"claude"})"), "NOT_OWNER");
  relay.answers["SPAWN"] = {parse_json_object(R"({"success":false,"error":"no such program"})").value()};
  EXPECT_EQ(refusal(409, "POST", format("/workspaces/{}/agents", kFirst), R"({"name":"Bob"})"), "FAILED");
}

TEST_F(ApiTest, AMessageToASessionHasALedger) {
  tell("SESSION_QUERY", R"({"id":"s1","agent":"Bob","started":1,"lastSeen":2,"connected":true,"filesModified":[]})");
  const auto stored =
      expect(200, "POST", "/api/v1/sessions/s1/messages",
             R"({"message":"hello","thread":"t","mode":"immediate","urgent":true,"idempotencyKey":"k"})");
  EXPECT_EQ(string_member(stored, "messageId"), "abcd2345");
  const auto& letter = relay.sent.front();
  EXPECT_EQ(letter.to, "Bob");
  EXPECT_EQ(letter.from, "human");
  EXPECT_EQ(string_member(letter.payload, "body"), "hello");
  EXPECT_EQ(letter.meta.at("delivery"), (json::object{{"mode", "immediate"}, {"priority", "urgent"}}));
  EXPECT_EQ(letter.id, "key-k");
  EXPECT_EQ(refusal(400, "POST", "/api/v1/sessions/s1/messages", "{}"), "BAD_REQUEST");
  EXPECT_EQ(refusal(400, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x","mode":"soon"})"), "BAD_REQUEST");
  relay.answers["SESSION_QUERY"] = {
      parse_json_object(R"({"id":"s1","agent":"Bob","started":1,"lastSeen":2,"ended":3,"connected":false})").value()};
  EXPECT_EQ(refusal(409, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x"})"), "STALE");
  relay.answers["SESSION_QUERY"] = {parse_json_object(R"({"error":"no such session","code":"NOT_FOUND"})").value()};
  EXPECT_EQ(refusal(404, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x"})"), "NOT_FOUND");
  relay.answers["SESSION_QUERY"] = {
      parse_json_object(R"({"error":"the disk cannot be read","code":"STORAGE"})").value()};
  EXPECT_EQ(refusal(503, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x"})"), "STORAGE");
}

TEST_F(ApiTest, ASessionEndsWithASummary) {
  tell("SESSION_QUERY",
       R"({"id":"s1","agent":"Bob","started":1000,"lastSeen":2000,"connected":true,"filesModified":[]})");
  tell("SESSION_QUERY", R"({"id":"s1","agent":"Bob","started":1000,"lastSeen":2000,"ended":3500,"connected":false,
      "itemCount":42,"commandsRun":7,"filesModified":["a.cc"]})");
  tell("RELEASE", R"({"success":true})");
  played.doors.hosts = {host_of("Bob")};
  const auto ended = expect(200, "DELETE", "/api/v1/sessions/s1");
  EXPECT_EQ(ended.at("summary"),
            (json::object{
                {"duration", 2500}, {"itemCount", 42}, {"commandsRun", 7}, {"filesModified", json::array{"a.cc"}}}));
  EXPECT_EQ(refusal(409, "DELETE", "/api/v1/sessions/s1"), "STALE") << "it has ended";
}

TEST_F(ApiTest, ASessionWhoseHostWasLostHasNotEnded) {
  tell("SESSION_QUERY",
       R"({"id":"s1","agent":"Bob","started":1000,"lastSeen":2000,"connected":false,"filesModified":[]})");
  tell("RELEASE", R"({"success":true})");
  for (const bool listed : {true, false}) {  // the record of a killed host may be there still
    played.doors.hosts = listed ? std::vector{host_of("Bob")} : std::vector<host::HostRecord>{};
    const auto refused = played.ask("DELETE", "/api/v1/sessions/s1");
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(refused.body.find("Bob is not connected; unless it returns soon its session ends as crashed"),
              std::string::npos)
        << refused.body;
  }
  for (const auto& asked : relay.asked) EXPECT_EQ(asked.type, "SESSION_QUERY") << "nothing was tried";
}

TEST_F(ApiTest, PermissionsAreListedAndDecidedOnce) {
  tell(
      "PROMPTS",
      R"({"permissions":[{"requestId":"r1","agent":"Bob","sessionId":"s1","tool":"bash","command":"rm x","filePath":null,
      "description":"remove x","riskLevel":"critical","requestedAt":5,"canAnswer":true}],"questions":[]})");
  tell("ANSWER", R"({"success":true})");
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/permissions").at("permissions").as_array().size(), 1u);
  EXPECT_EQ(expect(200, "GET", "/api/v1/permissions").at("permissions").as_array().size(), 1u);
  expect(200, "POST", "/api/v1/agents/Bob/permissions/r1/approve", R"({"reason":"fine"})");
  EXPECT_EQ(last().payload,
            (json::object{{"decision", "approve"}, {"reason", "fine"}, {"agent", "Bob"}, {"request", "r1"}}));
  expect(200, "POST", "/api/v1/agents/Bob/permissions/r1/deny");
  EXPECT_EQ(string_member(last().payload, "decision"), "deny");
  relay.answers["ANSWER"] = {
      parse_json_object(R"({"success":false,"error":"it does not ask any more","code":"STALE"})").value()};
  EXPECT_EQ(refusal(409, "POST", "/api/v1/agents/Bob/permissions/r1/approve"), "STALE");
}

TEST_F(ApiTest, WhoIsUnknownHasNoListOfPermissions) {
  tell("PROMPTS", R"({"permissions":[],"questions":[]})");
  EXPECT_TRUE(expect(200, "GET", "/api/v1/agents/Bob/permissions").at("permissions").as_array().empty());
  EXPECT_TRUE(expect(200, "GET", "/api/v1/agents/Bob/questions").at("questions").as_array().empty());
  relay.answers["PROMPTS"].clear();
  tell("PROMPTS",
       R"({"error":"nobody here is called 'Zoe'","code":"UNKNOWN_RECIPIENT","permissions":[],"questions":[]})");
  EXPECT_EQ(refusal(404, "GET", "/api/v1/agents/Zoe/permissions"), "UNKNOWN_RECIPIENT");
}

TEST_F(ApiTest, QuestionsAreAnsweredInWords) {
  tell("PROMPTS", R"({"permissions":[],"questions":[{"questionId":"q1","agent":"Bob","sessionId":"s1",
      "question":"Which?","options":["a","b"],"requestedAt":5,"canAnswer":true}]})");
  tell("ANSWER", R"({"success":true})");
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/questions").at("questions").as_array().size(), 1u);
  expect(200, "GET", "/api/v1/questions");
  expect(200, "POST", "/api/v1/agents/Bob/questions/q1/answer", R"({"answer":"a","by":"ada"})");
  EXPECT_EQ(last().payload,
            (json::object{{"answers", json::array{"a"}}, {"by", "ada"}, {"agent", "Bob"}, {"request", "q1"}}));
  expect(200, "POST", "/api/v1/agents/Bob/questions/q1/answer", R"({"answers":["a","b"]})");
  EXPECT_EQ(refusal(400, "POST", "/api/v1/agents/Bob/questions/q1/answer", "{}"), "BAD_REQUEST");
}

TEST_F(ApiTest, MessagesAreListedSentAndTraced) {
  tell("MESSAGES_QUERY", R"({"messages":[{"id":"abcd2345","key":7,"from":"a","to":"b","body":"x","kind":"message",
      "timestamp":1,"status":"queued","isBroadcast":false,"replyCount":0}],"more":true})");
  EXPECT_EQ(bool_member(expect(200, "GET", "/api/v1/messages?limit=5&before=9&order=asc&search=two+words"), "more"),
            true);
  EXPECT_EQ(last().payload, (json::object{{"limit", 5}, {"beforeKey", 9}, {"search", "two words"}, {"order", "asc"}}));
  expect(200, "GET", "/api/v1/messages?from=a&to=b&thread=t&topic=deploys");
  EXPECT_EQ(last().payload, (json::object{{"from", "a"}, {"to", "b"}, {"thread", "t"}, {"topic", "deploys"}}));
  EXPECT_EQ(refusal(400, "GET", "/api/v1/messages?order=sideways"), "BAD_REQUEST");
  EXPECT_EQ(refusal(400, "GET", "/api/v1/messages?limit=1001"), "BAD_REQUEST");
  expect(200, "POST", "/api/v1/messages", R"({"to":"#general","message":"hello","from":"ada"})");
  EXPECT_EQ(relay.sent.back().to, "#general");
  EXPECT_EQ(refusal(400, "POST", "/api/v1/messages", R"({"message":"hello"})"), "BAD_REQUEST");
  expect(200, "POST", "/api/v1/agents/Bob/messages", R"({"message":"hello"})");
  EXPECT_EQ(relay.sent.back().to, "Bob");
  relay.ack = std::unexpected{refusal_by_code("UNKNOWN_RECIPIENT", "nobody is called Bob")};
  EXPECT_EQ(refusal(404, "POST", "/api/v1/agents/Bob/messages", R"({"message":"hello"})"), "UNKNOWN_RECIPIENT");
  tell("TRACE", R"({"message":{"id":"abcd2345","from":"a","to":"b","timestamp":1,"kind":"message","body":"x"},
      "deliveries":[{"deliveryId":"d-1","to":"b","state":"queued","proof":"","seq":1,"mode":"on-idle","attempts":0,
      "history":[{"at":1,"state":"queued","proof":""}]}]})");
  expect(200, "GET", "/api/v1/messages/abcd2345");
  relay.answers["TRACE"] = {parse_json_object(R"({"error":"no message has the id zzzz","code":"NOT_FOUND"})").value()};
  EXPECT_EQ(refusal(404, "GET", "/api/v1/messages/zzzz"), "NOT_FOUND");
  relay.answers["TRACE"] = {parse_json_object(R"({"error":"several fit zzzz","code":"BAD_REQUEST"})").value()};
  EXPECT_EQ(refusal(400, "GET", "/api/v1/messages/zzzz"), "BAD_REQUEST");
  relay.answers["TRACE"] = {parse_json_object(R"({"error":"the disk cannot be read","code":"STORAGE"})").value()};
  EXPECT_EQ(refusal(503, "GET", "/api/v1/messages/zzzz"), "STORAGE");
}

TEST_F(ApiTest, CostsAreSummedByAgentModelSessionAndThread) {
  tell("USAGE_QUERY",
       R"({"usage":[{"agent":"Bob","model":"claude-sonnet-4-5-20250929","session":"s1","thread":"t","answers":1,
      "input":1000000,"output":1000000,"cacheRead":0,"cacheWrite":0,"reasoning":0}]})");
  const auto report = expect(200, "GET", "/api/v1/costs?since=1&until=9&agent=Bob");
  EXPECT_EQ(last().payload, (json::object{{"sinceTs", 1}, {"untilTs", 9}, {"agent", "Bob"}}));
  EXPECT_EQ(integer_member(*object_member(report, "total"), "totalTokens"), 2'000'000);
  for (const auto* group : {"byAgent", "byModel", "bySession", "byThread"})
    EXPECT_EQ(object_member(report, group)->size(), 1u) << group;
  EXPECT_EQ(refusal(400, "GET", "/api/v1/costs?since=yesterday"), "BAD_REQUEST");
}

TEST_F(ApiTest, EventsComeAsPages) {
  tell("EVENTS_QUERY", R"({"events":[],"nextAfter":4,"more":false,"oldest":1,"newest":4})");
  EXPECT_EQ(integer_member(expect(200, "GET", "/api/v1/events?types=item,message&agent=Bob&offset=3"), "nextAfter"), 4);
  EXPECT_EQ(last().payload,
            (json::object{{"after", 3}, {"types", json::array{"item", "message"}}, {"agents", json::array{"Bob"}}}));
}

TEST_F(ApiTest, MetricsAreTextForPrometheus) {
  tell("STATUS", R"({"agentCount":2,"knownAgents":3,"pending":4,"dead":1,"storage":{"messages":10}})");
  tell("EVENTS_QUERY", R"({"events":[],"newest":99})");
  (void)played.ask("GET", "/healthz");
  const auto text = played.ask("GET", "/metrics").body;
  for (const auto* line : {"agent_relay_agents_connected{workspace=\"aaaaaaaaaaaa\"} 2\n",
                           "agent_relay_deliveries_pending{workspace=\"aaaaaaaaaaaa\"} 4\n",
                           "agent_relay_events_total{workspace=\"aaaaaaaaaaaa\"} 99\n",
                           "agent_relay_http_answers_total{operation=\"getHealth\",status=\"200\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(ApiTest, ADaemonThatDoesNotAnswerIsNotTheClientsFault) {
  relay.answers["LIST_AGENTS"] = {fail(client::Errc::TimedOut, "the daemon did not answer")};
  EXPECT_EQ(refusal(504, "GET", "/api/v1/agents"), "TIMEOUT");
  relay.answers["LIST_AGENTS"] = {fail(client::Errc::Lost, "the daemon went away")};
  EXPECT_EQ(refusal(503, "GET", "/api/v1/agents"), "UNAVAILABLE");
  relay.answers["LIST_AGENTS"] = {fail(client::Errc::Full, "too many questions")};
  EXPECT_EQ(refusal(429, "GET", "/api/v1/agents"), "BUSY");
}

}  // namespace
}  // namespace relay::api
