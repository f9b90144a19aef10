#include <gtest/gtest.h>

#include "api/testing/fake_workspaces.h"
#include "client/errors.h"

namespace relay::api {
namespace {

using testing::FakeApi;

constexpr auto kFirst = "aaaaaaaaaaaa";
constexpr auto kSecond = "bbbbbbbbbbbb";

host::HostRecord host_of(const std::string& name, bool spawned = true) {
  return {.id = "h1",
          .name = name,
          .host_pid = 41,
          .agent_pid = 42,
          .socket = "/host.sock",
          .started_at = 5,
          .spawned = spawned};
}

struct ApiTest : ::testing::Test {
  FakeApi fake;
  testing::FakeWorkspaceClient& client = fake.workspaces.add(kFirst, "/home/me/first");

  /// Sends the request and returns the body, checked against the status and the route's schema.
  json::object expect(int status, const std::string& method, const std::string& target, const std::string& body = {}) {
    const auto response = fake.request(method, target, body);
    EXPECT_EQ(response.status, status) << method << " " << target << " " << response.body;
    auto object = parse_json_object(response.body).value_or(json::object{});
    const auto segments = net::path_segments(target.substr(0, target.find('?'))).value();
    const auto* route = match_route(method, segments).route;
    if (route != nullptr && response.status == route->status && route->response.check != nullptr) {
      const auto fits = route->response.check(object);
      EXPECT_TRUE(fits.has_value()) << target << ": " << fits.error().message();
    }
    return object;
  }
  std::string expect_error(int status, const std::string& method, const std::string& target,
                           const std::string& body = {}) {
    const auto object = expect(status, method, target, body);
    const auto* error = object_member(object, "error");
    if (error == nullptr) return "no error";
    EXPECT_FALSE(string_member(*error, "message").value_or("").empty());
    return string_member(*error, "code").value_or("");
  }
  void set_response(const std::string& frame, const char* payload) {
    client.responses[frame].push_back(parse_json_object(payload).value());
  }
  const testing::RecordedRequest& last() { return client.requests.back(); }
};

TEST_F(ApiTest, HealthNeedsNoWorkspace) {
  EXPECT_EQ(string_member(expect(200, "GET", "/"), "status"), "ok");
  EXPECT_EQ(string_member(expect(200, "GET", "/healthz"), "version"), "9.9");
}

/// A path of the route, with a value in place of each parameter.
std::string path_of(const Route& route) {
  std::string path{route.path};
  for (const auto name : path_parameters(route.path)) {
    const auto written = format("{{{}}}", name);
    path.replace(path.find(written), written.size(), name == "name" ? "Bob" : kFirst);
  }
  return path;
}

TEST_F(ApiTest, ProcessInsideAnAgentMayOnlySend) {
  fake.gateway.hosts = {host_of("Bob")};
  fake.caller = protocol::agent_origin("Bob", "/host.sock");
  for (const auto& route : route_table()) {
    if (route.method == Method::Get || route.agents_allowed) continue;
    EXPECT_EQ(expect_error(403, std::string{name_of(route.method)}, path_of(route), std::string{route.example}),
              "INSIDE_AGENT")
        << route.path;
  }
  EXPECT_TRUE(client.requests.empty() && fake.gateway.requests.empty() && client.sent.empty());
  EXPECT_EQ(fake.workspaces.open_list.size(), 1u);
}

TEST_F(ApiTest, ProcessInsideAnAgentSendsOnlyAsThatAgent) {
  fake.gateway.hosts = {host_of("Bob")};
  fake.caller = protocol::agent_origin("Robert", "/host.sock");  // a name from its environment is not trusted
  expect(200, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})");
  expect(200, "POST", "/api/v1/agents/Zoe/messages", R"({"message":"hi","from":"Bob"})");
  ASSERT_EQ(client.sent.size(), 2u);
  for (const auto& message : client.sent) {
    EXPECT_EQ(message.from, "Bob");
    EXPECT_EQ(message.claim_token, "system");
  }
  for (const auto* from : {"human", "Ann", "Robert", "api"})
    EXPECT_EQ(
        expect_error(403, "POST", "/api/v1/messages", format(R"({{"to":"Zoe","message":"hi","from":"{}"}})", from)),
        "INSIDE_AGENT");
  fake.caller = protocol::agent_origin("Bob", "/other/host.sock");
  EXPECT_EQ(expect_error(403, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})"), "INSIDE_AGENT");
  EXPECT_EQ(client.sent.size(), 2u);
}

TEST_F(ApiTest, ClosedCallerIsRefused) {
  fake.caller = std::nullopt;
  EXPECT_EQ(expect_error(403, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})"), "CALLER_GONE");
  EXPECT_EQ(expect_error(403, "POST", "/api/v1/agents/Bob/pause"), "CALLER_GONE");
  EXPECT_TRUE(client.requests.empty() && client.sent.empty());
}

TEST_F(ApiTest, CallerOfUnknownOriginCountsAsTheUser) {
  fake.caller = protocol::PeerOrigin{};
  expect(200, "POST", "/api/v1/messages", R"({"to":"Zoe","message":"hi"})");
  EXPECT_EQ(client.sent.at(0).from, "human");
  EXPECT_EQ(client.sent.at(0).claim_token, "");
}

TEST_F(ApiTest, ReadsDoNotLookUpTheCaller) {
  fake.caller = protocol::agent_origin("Bob", "/host.sock");
  expect(200, "GET", "/workspaces");
  expect(200, "GET", "/api/v1/agents");
  EXPECT_EQ(fake.caller_lookups, 0u);
}

TEST_F(ApiTest, WorkspacesAreListedOpenedSwitchedToAndClosed) {
  EXPECT_EQ(string_member(expect(200, "GET", "/workspaces"), "activeWorkspaceId"), kFirst);
  const auto made = expect(201, "POST", "/workspaces", R"({"path":"/home/me/second","name":"x"})");
  EXPECT_EQ(string_member(made, "name"), "second");
  const auto id = *string_member(made, "id");
  EXPECT_FALSE(expect(200, "GET", "/workspaces").contains("activeWorkspaceId")) << "the default is ambiguous";
  expect(200, "POST", "/workspaces/" + id + "/switch");
  EXPECT_EQ(string_member(expect(200, "GET", "/workspaces"), "activeWorkspaceId"), id);
  EXPECT_EQ(string_member(expect(200, "GET", "/workspaces/" + id), "path"), "/home/me/second");
  EXPECT_EQ(fake.request("DELETE", "/workspaces/" + id).status, 204);
  EXPECT_EQ(expect_error(404, "GET", "/workspaces/" + id), "NOT_FOUND");
  EXPECT_EQ(expect_error(400, "POST", "/workspaces", R"({"path":"here"})"), "BAD_REQUEST");
  EXPECT_EQ(expect_error(400, "POST", "/workspaces", "{}"), "BAD_REQUEST");
  EXPECT_EQ(expect_error(400, "POST", "/workspaces", "[]"), "BAD_REQUEST");
  EXPECT_EQ(expect_error(400, "POST", "/workspaces", "{"), "BAD_REQUEST");
}

TEST_F(ApiTest, WorkspaceIsSelectedByIdRootOrAsTheOnlyOne) {
  auto& second = fake.workspaces.add(kSecond, "/home/me/second");
  const auto which = fake.request("GET", "/api/v1/agents");
  EXPECT_EQ(which.status, 409);
  EXPECT_NE(which.body.find("/home/me/second"), std::string::npos) << "the message lists them";
  expect(200, "GET", std::string{"/api/v1/agents?workspace="} + kSecond);
  expect(200, "GET", "/api/v1/agents?workspace=/home/me/second");
  EXPECT_EQ(second.requests.size(), 2u);
  EXPECT_EQ(expect_error(404, "GET", "/api/v1/agents?workspace=cccccccccccc"), "NOT_FOUND");
  fake.workspaces.open_list.clear();
  EXPECT_EQ(expect_error(409, "GET", "/api/v1/agents"), "NO_WORKSPACE");
}

TEST_F(ApiTest, AgentsCombineWorkspaceAndHostRecords) {
  set_response("LIST_AGENTS",
               R"({"agents":[{"name":"Bob","cli":"claude","idle":false,"sessionId":"s1","state":"idle","pending":2,
      "messagesSent":1,"messagesReceived":3,"lastSeen":9},{"name":"Zoe","idle":true,"pending":0,"lastSeen":1}]})");
  fake.gateway.hosts = {host_of("Bob")};
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
  EXPECT_EQ(expect_error(404, "GET", "/agents/Nobody"), "NOT_FOUND");
  EXPECT_EQ(expect(200, "GET", format("/workspaces/{}/agents", kFirst)).at("agents").as_array().size(), 2u);
}

TEST_F(ApiTest, AgentsAreQueriedByNameAndByPage) {
  set_response("LIST_AGENTS", R"({"agents":[{"name":"Bob","idle":false}],"more":true})");
  expect(200, "GET", "/api/v1/agents/Bob");
  EXPECT_EQ(last().payload, (json::object{{"includeIdle", true}, {"agent", "Bob"}}));
  EXPECT_EQ(bool_member(expect(200, "GET", "/api/v1/agents"), "more"), true);
  EXPECT_EQ(last().payload, (json::object{{"includeIdle", true}}));
  EXPECT_EQ(bool_member(expect(200, "GET", "/agents"), "more"), true);
  client.responses["LIST_AGENTS"] = {parse_json_object(R"({"agents":[{"name":"Zoe","idle":true}]})").value()};
  for (const auto* path : {"/api/v1/agents?after=Bob", "/workspaces/aaaaaaaaaaaa/agents?after=Bob"}) {
    EXPECT_FALSE(expect(200, "GET", path).contains("more"));
    EXPECT_EQ(last().payload, (json::object{{"includeIdle", true}, {"after", "Bob"}}));
  }
}

TEST_F(ApiTest, AllAgentsCoverAllWorkspaces) {
  auto& second = fake.workspaces.add(kSecond, "/home/me/second");
  set_response("LIST_AGENTS", R"({"agents":[{"name":"Bob","idle":false}]})");
  second.responses["LIST_AGENTS"].push_back(parse_json_object(R"({"agents":[{"name":"Bob","idle":false}]})").value());
  const auto all = expect(200, "GET", "/agents").at("agents").as_array();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(string_member(all[0].as_object(), "id"), format("{}.Bob", kFirst));
  EXPECT_EQ(string_member(all[1].as_object(), "id"), format("{}.Bob", kSecond));
}

TEST_F(ApiTest, PauseAndResumeSendControlRequests) {
  set_response("CONTROL_RESULT", "{}");
  set_response("CONTROL", R"({"success":true,"action":"pause"})");
  expect(200, "POST", "/api/v1/agents/Bob/pause", R"({"reason":"lunch"})");
  EXPECT_EQ(last().payload, (json::object{{"action", "pause"}, {"agent", "Bob"}, {"reason", "lunch"}}));
  expect(200, "POST", "/api/v1/agents/Bob/resume");
  EXPECT_EQ(string_member(last().payload, "action"), "unpause");
  client.responses["CONTROL"] = {
      parse_json_object(R"({"success":false,"error":"no agent is named Bob","code":"UNKNOWN_RECIPIENT"})").value()};
  EXPECT_EQ(expect_error(404, "POST", "/api/v1/agents/Bob/pause"), "UNKNOWN_RECIPIENT");
}

TEST_F(ApiTest, OnlySpawnedAgentsTakeInputAndStop) {
  set_response("RELEASE", R"({"success":true,"name":"Bob"})");
  set_response("SEND_INPUT", R"({"success":true,"name":"Bob"})");
  EXPECT_EQ(expect_error(404, "POST", "/api/v1/agents/Bob/stop"), "NOT_FOUND");
  fake.gateway.hosts = {host_of("Bob", false)};
  EXPECT_EQ(expect_error(409, "POST", "/api/v1/agents/Bob/stop"), "UNSUPPORTED");
  EXPECT_EQ(expect_error(409, "POST", "/api/v1/agents/Bob/input", R"({"input":"y"})"), "UNSUPPORTED");
  EXPECT_TRUE(client.requests.empty()) << "no request was sent";
  fake.gateway.hosts = {host_of("Bob")};
  expect(200, "POST", "/api/v1/agents/Bob/stop", R"({"reason":"enough"})");
  EXPECT_EQ(string_member(last().payload, "reason"), "enough");
  EXPECT_EQ(string_member(last().payload, "by"), "api");
  EXPECT_EQ(fake.request("DELETE", "/agents/Bob").status, 204);
  expect(200, "POST", "/agents/Bob/input", R"({"input":"\u0003"})");
  EXPECT_EQ(string_member(last().payload, "data"), "\x03");
  EXPECT_EQ(expect_error(400, "POST", "/agents/Bob/input", "{}"), "BAD_REQUEST");
  EXPECT_EQ(expect_error(400, "POST", "/agents/Bob/input", R"({"input":""})"), "BAD_REQUEST");
}

TEST_F(ApiTest, OutputAndInterruptUseTheHostSocket) {
  fake.gateway.hosts = {host_of("Bob", false)};
  fake.gateway.response = json::object{{"ok", true}, {"screen", "one\ntwo\nthree\n\n"}, {"columns", 80}, {"rows", 24}};
  EXPECT_EQ(expect(200, "GET", "/agents/Bob/output").at("output").as_array().size(), 3u);
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/output?limit=1").at("output").as_array().at(0), "three");
  EXPECT_EQ(expect_error(400, "GET", "/agents/Bob/output?limit=no"), "BAD_REQUEST");
  expect(200, "POST", "/agents/Bob/interrupt");
  EXPECT_EQ(fake.gateway.requests.back(), (json::object{{"method", "interrupt"}}));
  expect(200, "POST", "/agents/by-name/Bob/interrupt");
  expect(200, "POST", "/api/v1/agents/Bob/interrupt");
  EXPECT_EQ(expect_error(404, "POST", "/agents/Zoe/interrupt"), "NOT_FOUND");
  fake.gateway.response = std::unexpected{conflict("FAILED", "Bob has ended")};
  EXPECT_EQ(expect_error(409, "GET", "/agents/Bob/output"), "FAILED");
}

TEST_F(ApiTest, CreateSessionStartsAnAgent) {
  set_response("SPAWN", R"({"success":true,"name":"Bob","pid":77,"taskId":"t1"})");
  set_response("LIST_CONNECTED_AGENTS", R"({"agents":[{"name":"Bob","sessionId":"s1"}]})");
  const auto made = expect(201, "POST", "/api/v1/sessions",
                           R"({"agent":"Bob","cli":"claude","task":"count","args":["-p"],"cwd":"inside"})");
  EXPECT_EQ(string_member(made, "sessionId"), "s1");
  EXPECT_EQ(string_member(made, "status"), "starting");
  EXPECT_EQ(integer_member(made, "hostPid"), 77);
  const auto& payload = client.requests.front().payload;
  EXPECT_EQ(string_member(payload, "spawnerName"), "human");
  EXPECT_EQ(payload.at("args").as_array().size(), 1u);
  EXPECT_EQ(expect_error(400, "POST", "/api/v1/sessions", R"({"agent":"Bob"})"), "BAD_REQUEST");
  client.responses["SPAWN"] = {
      parse_json_object(R"({"success":false,"error":"'Bob' is connected already","code":"NOT_OWNER"})").value()};
  EXPECT_EQ(expect_error(409, "POST", "/api/v1/sessions", R"({"agent":"Bob","cli":"claude"})"), "NOT_OWNER");
  client.responses["SPAWN"] = {parse_json_object(R"({"success":false,"error":"no such program"})").value()};
  EXPECT_EQ(expect_error(409, "POST", format("/workspaces/{}/agents", kFirst), R"({"name":"Bob"})"), "FAILED");
}

TEST_F(ApiTest, SessionMessageIsSentToItsAgent) {
  set_response("SESSION_QUERY",
               R"({"id":"s1","agent":"Bob","started":1,"lastSeen":2,"connected":true,"filesModified":[]})");
  const auto stored =
      expect(200, "POST", "/api/v1/sessions/s1/messages",
             R"({"message":"hello","thread":"t","mode":"immediate","urgent":true,"idempotencyKey":"k"})");
  EXPECT_EQ(string_member(stored, "messageId"), "abcd2345");
  const auto& message = client.sent.front();
  EXPECT_EQ(message.send.to, "Bob");
  EXPECT_EQ(message.from, "human");
  EXPECT_EQ(message.send.body, "hello");
  EXPECT_EQ(message.send.thread, "t");
  EXPECT_EQ(protocol::write_send_meta(message.send.meta), R"({"delivery":{"mode":"immediate","priority":"urgent"}})");
  EXPECT_EQ(message.id, "key-k");
  EXPECT_EQ(expect_error(400, "POST", "/api/v1/sessions/s1/messages", "{}"), "BAD_REQUEST");
  EXPECT_EQ(expect_error(400, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x","mode":"soon"})"),
            "BAD_REQUEST");
  client.responses["SESSION_QUERY"] = {
      parse_json_object(R"({"id":"s1","agent":"Bob","started":1,"lastSeen":2,"ended":3,"connected":false})").value()};
  EXPECT_EQ(expect_error(409, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x"})"), "STALE");
  client.responses["SESSION_QUERY"] = {parse_json_object(R"({"error":"no such session","code":"NOT_FOUND"})").value()};
  EXPECT_EQ(expect_error(404, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x"})"), "NOT_FOUND");
  client.responses["SESSION_QUERY"] = {
      parse_json_object(R"({"error":"the disk cannot be read","code":"STORAGE"})").value()};
  EXPECT_EQ(expect_error(503, "POST", "/api/v1/sessions/s1/messages", R"({"message":"x"})"), "STORAGE");
}

TEST_F(ApiTest, EndSessionReturnsASummary) {
  set_response("SESSION_QUERY",
               R"({"id":"s1","agent":"Bob","started":1000,"lastSeen":2000,"connected":true,"filesModified":[]})");
  set_response("SESSION_QUERY",
               R"({"id":"s1","agent":"Bob","started":1000,"lastSeen":2000,"ended":3500,"connected":false,
      "itemCount":42,"commandsRun":7,"filesModified":["a.cc"]})");
  set_response("RELEASE", R"({"success":true})");
  fake.gateway.hosts = {host_of("Bob")};
  const auto ended = expect(200, "DELETE", "/api/v1/sessions/s1");
  EXPECT_EQ(ended.at("summary"),
            (json::object{
                {"duration", 2500}, {"itemCount", 42}, {"commandsRun", 7}, {"filesModified", json::array{"a.cc"}}}));
  EXPECT_EQ(expect_error(409, "DELETE", "/api/v1/sessions/s1"), "STALE") << "it has ended";
}

TEST_F(ApiTest, SessionWithLostHostHasNotEnded) {
  set_response("SESSION_QUERY",
               R"({"id":"s1","agent":"Bob","started":1000,"lastSeen":2000,"connected":false,"filesModified":[]})");
  set_response("RELEASE", R"({"success":true})");
  for (const bool listed : {true, false}) {  // the record of a killed host may be there still
    fake.gateway.hosts = listed ? std::vector{host_of("Bob")} : std::vector<host::HostRecord>{};
    const auto refused = fake.request("DELETE", "/api/v1/sessions/s1");
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(refused.body.find("Bob is not connected; unless it returns soon its session ends as crashed"),
              std::string::npos)
        << refused.body;
  }
  for (const auto& request : client.requests) EXPECT_EQ(request.type, "SESSION_QUERY") << "no request was sent";
}

TEST_F(ApiTest, PermissionsAreListedAndDecidedOnce) {
  set_response(
      "PROMPTS",
      R"({"permissions":[{"requestId":"r1","agent":"Bob","sessionId":"s1","tool":"bash","command":"rm x","filePath":null,
      "description":"remove x","riskLevel":"critical","requestedAt":5,"canAnswer":true}],"questions":[]})");
  set_response("ANSWER", R"({"success":true})");
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/permissions").at("permissions").as_array().size(), 1u);
  EXPECT_EQ(expect(200, "GET", "/api/v1/permissions").at("permissions").as_array().size(), 1u);
  expect(200, "POST", "/api/v1/agents/Bob/permissions/r1/approve", R"({"reason":"fine"})");
  EXPECT_EQ(last().payload,
            (json::object{{"decision", "approve"}, {"reason", "fine"}, {"agent", "Bob"}, {"request", "r1"}}));
  expect(200, "POST", "/api/v1/agents/Bob/permissions/r1/deny");
  EXPECT_EQ(string_member(last().payload, "decision"), "deny");
  client.responses["ANSWER"] = {
      parse_json_object(R"({"success":false,"error":"it does not ask any more","code":"STALE"})").value()};
  EXPECT_EQ(expect_error(409, "POST", "/api/v1/agents/Bob/permissions/r1/approve"), "STALE");
}

TEST_F(ApiTest, UnknownAgentHasNoPermissionList) {
  set_response("PROMPTS", R"({"permissions":[],"questions":[]})");
  EXPECT_TRUE(expect(200, "GET", "/api/v1/agents/Bob/permissions").at("permissions").as_array().empty());
  EXPECT_TRUE(expect(200, "GET", "/api/v1/agents/Bob/questions").at("questions").as_array().empty());
  client.responses["PROMPTS"].clear();
  set_response("PROMPTS",
               R"({"error":"no agent is named 'Zoe'","code":"UNKNOWN_RECIPIENT","permissions":[],"questions":[]})");
  EXPECT_EQ(expect_error(404, "GET", "/api/v1/agents/Zoe/permissions"), "UNKNOWN_RECIPIENT");
}

TEST_F(ApiTest, QuestionsTakeTextAnswers) {
  set_response("PROMPTS", R"({"permissions":[],"questions":[{"questionId":"q1","agent":"Bob","sessionId":"s1",
      "question":"Which?","options":["a","b"],"requestedAt":5,"canAnswer":true}]})");
  set_response("ANSWER", R"({"success":true})");
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/questions").at("questions").as_array().size(), 1u);
  expect(200, "GET", "/api/v1/questions");
  expect(200, "POST", "/api/v1/agents/Bob/questions/q1/answer", R"({"answer":"a","by":"ada"})");
  EXPECT_EQ(last().payload,
            (json::object{{"answers", json::array{"a"}}, {"by", "ada"}, {"agent", "Bob"}, {"request", "q1"}}));
  expect(200, "POST", "/api/v1/agents/Bob/questions/q1/answer", R"({"answers":["a","b"]})");
  EXPECT_EQ(expect_error(400, "POST", "/api/v1/agents/Bob/questions/q1/answer", "{}"), "BAD_REQUEST");
}

TEST_F(ApiTest, MessagesAreListedSentAndTraced) {
  set_response("MESSAGES_QUERY",
               R"({"messages":[{"id":"abcd2345","key":7,"from":"a","to":"b","body":"x","kind":"message",
      "timestamp":1,"status":"queued","isBroadcast":false,"replyCount":0}],"more":true})");
  EXPECT_EQ(bool_member(expect(200, "GET", "/api/v1/messages?limit=5&before=9&order=asc&search=two+words"), "more"),
            true);
  EXPECT_EQ(last().payload, (json::object{{"limit", 5}, {"beforeKey", 9}, {"search", "two words"}, {"order", "asc"}}));
  expect(200, "GET", "/api/v1/messages?from=a&to=b&thread=t&topic=deploys");
  EXPECT_EQ(last().payload, (json::object{{"from", "a"}, {"to", "b"}, {"thread", "t"}, {"topic", "deploys"}}));
  EXPECT_EQ(expect_error(400, "GET", "/api/v1/messages?order=sideways"), "BAD_REQUEST");
  EXPECT_EQ(expect_error(400, "GET", "/api/v1/messages?limit=1001"), "BAD_REQUEST");
  expect(200, "POST", "/api/v1/messages", R"({"to":"#general","message":"hello","from":"ada"})");
  EXPECT_EQ(client.sent.back().send.to, "#general");
  EXPECT_EQ(expect_error(400, "POST", "/api/v1/messages", R"({"message":"hello"})"), "BAD_REQUEST");
  expect(200, "POST", "/api/v1/agents/Bob/messages", R"({"message":"hello"})");
  EXPECT_EQ(client.sent.back().send.to, "Bob");
  client.ack = std::unexpected{api_error_by_code("UNKNOWN_RECIPIENT", "no agent is named Bob")};
  EXPECT_EQ(expect_error(404, "POST", "/api/v1/agents/Bob/messages", R"({"message":"hello"})"), "UNKNOWN_RECIPIENT");
  set_response("TRACE", R"({"message":{"id":"abcd2345","from":"a","to":"b","timestamp":1,"kind":"message","body":"x"},
      "deliveries":[{"deliveryId":"d-1","to":"b","state":"queued","proof":"","seq":1,"mode":"on-idle","attempts":0,
      "history":[{"at":1,"state":"queued","proof":""}]}]})");
  expect(200, "GET", "/api/v1/messages/abcd2345");
  client.responses["TRACE"] = {
      parse_json_object(R"({"error":"no message has the id zzzz","code":"NOT_FOUND"})").value()};
  EXPECT_EQ(expect_error(404, "GET", "/api/v1/messages/zzzz"), "NOT_FOUND");
  client.responses["TRACE"] = {parse_json_object(R"({"error":"several fit zzzz","code":"BAD_REQUEST"})").value()};
  EXPECT_EQ(expect_error(400, "GET", "/api/v1/messages/zzzz"), "BAD_REQUEST");
  client.responses["TRACE"] = {parse_json_object(R"({"error":"the disk cannot be read","code":"STORAGE"})").value()};
  EXPECT_EQ(expect_error(503, "GET", "/api/v1/messages/zzzz"), "STORAGE");
}

TEST_F(ApiTest, CostsAreSummedByAgentModelSessionAndThread) {
  set_response("USAGE_QUERY",
               R"({"usage":[{"agent":"Bob","model":"claude-sonnet-4-5-20250929","session":"s1","thread":"t","answers":1,
      "input":1000000,"output":1000000,"cacheRead":0,"cacheWrite":0,"reasoning":0}]})");
  const auto report = expect(200, "GET", "/api/v1/costs?since=1&until=9&agent=Bob");
  EXPECT_EQ(last().payload, (json::object{{"sinceTs", 1}, {"untilTs", 9}, {"agent", "Bob"}}));
  EXPECT_EQ(integer_member(*object_member(report, "total"), "totalTokens"), 2'000'000);
  for (const auto* group : {"byAgent", "byModel", "bySession", "byThread"})
    EXPECT_EQ(object_member(report, group)->size(), 1u) << group;
  EXPECT_EQ(expect_error(400, "GET", "/api/v1/costs?since=yesterday"), "BAD_REQUEST");
}

TEST_F(ApiTest, EventsAreListedByPage) {
  set_response("EVENTS_QUERY", R"({"events":[],"nextAfter":4,"more":false,"oldest":1,"newest":4})");
  EXPECT_EQ(integer_member(expect(200, "GET", "/api/v1/events?types=item,message&agent=Bob&offset=3"), "nextAfter"), 4);
  EXPECT_EQ(last().payload,
            (json::object{{"after", 3}, {"types", json::array{"item", "message"}}, {"agents", json::array{"Bob"}}}));
}

TEST_F(ApiTest, MetricsUseThePrometheusTextFormat) {
  set_response("STATUS", R"({"agentCount":2,"knownAgents":3,"pending":4,"dead":1,"storage":{"messages":10}})");
  set_response("EVENTS_QUERY", R"({"events":[],"newest":99})");
  (void)fake.request("GET", "/healthz");
  const auto text = fake.request("GET", "/metrics").body;
  for (const auto* line : {"agent_relay_agents_connected{workspace=\"aaaaaaaaaaaa\"} 2\n",
                           "agent_relay_deliveries_pending{workspace=\"aaaaaaaaaaaa\"} 4\n",
                           "agent_relay_events_total{workspace=\"aaaaaaaaaaaa\"} 99\n",
                           "agent_relay_http_responses_total{operation=\"getHealth\",status=\"200\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(ApiTest, UnresponsiveDaemonIsAServerError) {
  client.responses["LIST_AGENTS"] = {fail(client::Errc::TimedOut, "the daemon did not answer")};
  EXPECT_EQ(expect_error(504, "GET", "/api/v1/agents"), "TIMEOUT");
  client.responses["LIST_AGENTS"] = {fail(client::Errc::Lost, "the daemon disconnected")};
  EXPECT_EQ(expect_error(503, "GET", "/api/v1/agents"), "UNAVAILABLE");
  client.responses["LIST_AGENTS"] = {fail(client::Errc::Full, "too many questions")};
  EXPECT_EQ(expect_error(429, "GET", "/api/v1/agents"), "BUSY");
}

}  // namespace
}  // namespace relay::api
