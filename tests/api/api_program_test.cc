// The HTTP API of the real daemon with scripted agents.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "api/http/openapi.h"
#include "api/http/route.h"
#include "api/http_fixture.h"
#include "base/format.h"
#include "cli/terminal.h"
#include "cli/wire/daemon_connection.h"

namespace relay::api_tests {
namespace {

namespace fs = std::filesystem;
using cli_tests::eventually;
using cli_tests::Sandbox;

struct HttpApi : HttpFixture {
  std::string log_of(const std::string& name) const { return box.project() + "/" + name + ".log"; }
  std::string program_of(const std::string& name) const {
    return format("{} --status --work-ms 50 --log {}", SCRIPTED_AGENT, log_of(name));
  }
  /// The input that the agent received contains the text this many times.
  std::size_t count_received(const std::string& name, const std::string& text) const {
    std::ifstream file{log_of(name)};
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
      const auto event = parse_json_object(line);
      if (event && string_member(*event, "event") == "submit" &&
          string_member(*event, "text").value_or("").find(text) != std::string::npos)
        ++count;
    }
    return count;
  }
  bool receives(const std::string& name, const std::string& text) const {
    return eventually([&] { return count_received(name, text) > 0; });
  }

  /// Expects the status and a body that conforms to the route.
  json::object expect(int status, const std::string& method, const std::string& target, const std::string& body = {},
                      const Headers& more = {}) {
    const auto response = http->request(method, target, body, more);
    EXPECT_EQ(response.status, status) << method << " " << target << "\n" << response.body;
    const auto object = response.object();
    const auto segments = net::path_segments(target.substr(0, target.find('?'))).value();
    const auto* route = api::match_route(method, segments).route;
    if (route != nullptr && response.status == route->status && route->response.check != nullptr) {
      const auto conforms = route->response.check(object);
      EXPECT_TRUE(conforms.has_value()) << target << ": " << conforms.error().message() << "\n" << response.body;
    }
    return object;
  }
  std::string session(const std::string& name, const std::string& task = {}) {
    json::object body = {{"agent", name}, {"cli", program_of(name)}};
    if (!task.empty()) body["task"] = task;
    return string_member(expect(201, "POST", "/api/v1/sessions", json::serialize(body)), "sessionId").value_or("");
  }
};

// --- sessions and agents

TEST_F(HttpApi, PostSessionsSpawnsAnAgentAndReturnsItsSessionId) {
  const auto id = session("Bob", "count the stars");
  EXPECT_FALSE(id.empty());
  EXPECT_TRUE(receives("Bob", "count the stars"));
  const auto response = expect(200, "GET", "/api/v1/sessions/" + id);
  EXPECT_EQ(string_member(response, "agentName"), "Bob");
  const auto agent = expect(200, "GET", "/api/v1/agents/Bob");
  EXPECT_EQ(string_member(agent, "sessionId"), id);
  EXPECT_EQ(bool_member(agent, "spawned"), true);
  EXPECT_EQ(http->request("POST", "/api/v1/sessions", R"({"agent":"Bob","cli":"cat"})").status, 409)
      << "the name is taken";
  expect(200, "POST", "/api/v1/agents/Bob/stop");
}

TEST_F(HttpApi, PostSessionMessagesDeliversToTheAgent) {
  const auto id = session("Bob");
  const auto stored =
      expect(200, "POST", format("/api/v1/sessions/{}/messages", id), R"({"message":"look at the moon"})");
  EXPECT_TRUE(receives("Bob", "look at the moon"));
  const auto message = *string_member(stored, "messageId");
  EXPECT_TRUE(eventually([&] {
    const auto trace = expect(200, "GET", "/api/v1/messages/" + message);
    return string_member(trace.at("deliveries").as_array().at(0).as_object(), "state") == "delivered";
  }));
  EXPECT_EQ(expect(200, "GET", "/api/v1/messages?to=Bob").at("messages").as_array().size(), 1u);
  EXPECT_EQ(count_received("Bob", "look at the moon"), 1u);
}

TEST_F(HttpApi, MessagesHaveOnlyDocumentedMembers) {
  const auto document = parse_json_object(box.ok({"openapi"})).value();
  const auto& schemas = document.at("components").at("schemas").as_object();
  const auto undocumented = [&](const json::object& body, std::string_view schema) {
    const auto& properties = schemas.at(schema).at("properties").as_object();
    std::string names;
    for (const auto& [name, value] : body)
      if (!properties.contains(name)) names += std::string{name} + " ";
    return names;
  };
  session("Bob");
  const auto first = expect(200, "POST", "/api/v1/agents/Bob/messages", R"({"message":"one"})");
  const auto id = *string_member(first, "messageId");
  expect(200, "POST", "/api/v1/agents/Bob/messages",
         format(R"({{"message":"two","replyTo":"{}","importance":80,"requiresAck":true,"thread":"t"}})", id));
  box.write(box.project() + "/plan.txt", "a plan");
  box.ok({"send", "Bob", "three", "--attach", box.project() + "/plan.txt"});
  box.ok({"send", "*", "four"});
  const auto list = expect(200, "GET", "/api/v1/messages?order=asc");
  const auto& messages = list.at("messages").as_array();
  ASSERT_EQ(messages.size(), 4u);
  for (const auto& message : messages) EXPECT_EQ(undocumented(message.as_object(), "Message"), "");
  const auto& second = messages.at(1).as_object();
  EXPECT_EQ(string_member(second, "replyTo"), id);
  EXPECT_EQ(integer_member(second, "importance"), 80);
  EXPECT_EQ(bool_member(second, "requiresAck"), true);
  const auto& file = messages.at(2).at("attachments").at(0).as_object();
  EXPECT_EQ(undocumented(file, "Attachment"), "");
  EXPECT_EQ(string_member(file, "name"), "plan.txt");
  const auto trace = expect(200, "GET", "/api/v1/messages/" + *string_member(second, "id"));
  EXPECT_EQ(undocumented(trace.at("message").as_object(), "TracedMessage"), "");
  EXPECT_EQ(integer_member(trace.at("message").as_object(), "importance"), 80);
  expect(200, "POST", "/api/v1/agents/Bob/stop");
}

TEST_F(HttpApi, RepeatedIdempotencyKeyIsADuplicate) {
  const auto id = session("Bob");
  const auto body = R"({"message":"only once","idempotencyKey":"k1"})";
  const auto first = expect(200, "POST", format("/api/v1/sessions/{}/messages", id), body);
  const auto again = expect(200, "POST", format("/api/v1/sessions/{}/messages", id), body);
  EXPECT_EQ(bool_member(again, "duplicate"), true);
  EXPECT_EQ(string_member(again, "messageId"), string_member(first, "messageId"));
  expect(200, "POST", format("/api/v1/sessions/{}/messages", id), R"({"message":"and then this"})");
  EXPECT_TRUE(receives("Bob", "and then this"));
  EXPECT_EQ(count_received("Bob", "only once"), 1u);
}

TEST_F(HttpApi, DeleteSessionReleasesTheAgentAndReturnsASummary) {
  const auto id = session("Bob");
  const auto ended = expect(200, "DELETE", "/api/v1/sessions/" + id);
  EXPECT_EQ(bool_member(ended, "success"), true);
  const auto* summary = object_member(ended, "summary");
  ASSERT_NE(summary, nullptr);
  EXPECT_GE(integer_member(*summary, "duration").value_or(-1), 0);
  EXPECT_TRUE(summary->contains("itemCount"));
  EXPECT_EQ(string_member(expect(200, "GET", "/api/v1/agents/Bob"), "status"), "stopped");
  EXPECT_EQ(http->request("DELETE", "/api/v1/sessions/" + id).code(), "STALE");
  EXPECT_EQ(http->request("DELETE", "/api/v1/sessions/nowhere").status, 404);
  EXPECT_TRUE(expect(200, "GET", "/api/v1/sessions/" + id).contains("endedAt"));
  const auto events = box.ok({"events", "--types", "agent.released,session.ended", "--agent", "Bob", "--json"});
  EXPECT_NE(events.find(R"("releasedBy":"api")"), std::string::npos) << events;
  EXPECT_NE(events.find(R"("reason":"released")"), std::string::npos) << events;
}

TEST_F(HttpApi, PauseQueuesMessagesAndResumeFlushesThem) {
  session("Bob");
  expect(200, "POST", "/api/v1/agents/Bob/pause", R"({"reason":"lunch"})");
  EXPECT_EQ(bool_member(expect(200, "GET", "/api/v1/agents/Bob"), "paused"), true);
  expect(200, "POST", "/api/v1/agents/Bob/messages", R"({"message":"after lunch"})");
  EXPECT_EQ(integer_member(expect(200, "GET", "/api/v1/agents/Bob"), "pending"), 1);
  EXPECT_EQ(count_received("Bob", "after lunch"), 0u);
  expect(200, "POST", "/api/v1/agents/Bob/resume");
  EXPECT_TRUE(receives("Bob", "after lunch"));
}

TEST_F(HttpApi, StopGracefullyReleasesTheAgent) {
  const auto script = box.write(box.project() + "/agent.sh",
                                "trap 'echo saved > work; exit 0' TERM HUP; echo ready > ready; "
                                "while :; do sleep 0.05; done\n");
  const auto started =
      expect(201, "POST", "/api/v1/sessions", json::serialize(json::object{{"agent", "Bob"}, {"cli", "sh " + script}}));
  const auto id = string_member(started, "sessionId").value_or("");
  ASSERT_TRUE(eventually([&] { return text_of(box.project() + "/ready") == "ready\n"; }));
  const auto pid = static_cast<pid_t>(*integer_member(expect(200, "GET", "/agents/Bob"), "pid"));
  expect(200, "POST", "/api/v1/agents/Bob/stop", R"({"reason":"done"})");
  EXPECT_FALSE(cli_tests::is_running(pid));
  EXPECT_EQ(text_of(box.project() + "/work"), "saved\n") << "the agent had time to save its work";
  const auto newest = [&](std::string_view type) {
    const auto page = expect(200, "GET", format("/api/v1/events?types={}&agent=Bob", type));
    const auto& events = page.at("events").as_array();
    return events.empty() ? json::object{} : events.back().as_object();
  };
  EXPECT_TRUE(eventually([&] { return string_member(newest("session.ended"), "reason") == "released"; }))
      << json::serialize(newest("session.ended"));
  EXPECT_EQ(string_member(newest("session.ended"), "_sessionId"), id);
  EXPECT_EQ(string_member(newest("agent.released"), "agentName"), "Bob");
  EXPECT_EQ(string_member(newest("agent.released"), "reason"), "done");
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Bob/stop").status, 404);
}

TEST_F(HttpApi, InputWritesRawTextToTheTerminal) {
  const auto script = box.write(box.project() + "/agent.sh", "exec cat > got\n");
  expect(201, "POST", "/api/v1/sessions", json::serialize(json::object{{"agent", "Bob"}, {"cli", "sh " + script}}));
  expect(200, "POST", "/api/v1/agents/Bob/input", R"({"input":"typed as it is\n"})");
  EXPECT_TRUE(eventually([&] { return text_of(box.project() + "/got") == "typed as it is\n"; }));
}

TEST_F(HttpApi, OutputIsTheScreenAndInterruptSendsTheKey) {
  session("Bob");
  EXPECT_TRUE(eventually([&] {
    return json::serialize(expect(200, "GET", "/agents/Bob/output")).find("Scripted agent") != std::string::npos;
  }));
  EXPECT_EQ(expect(200, "GET", "/api/v1/agents/Bob/output?limit=1").at("output").as_array().size(), 1u);
  const auto script =
      box.write(box.project() + "/agent.sh", "trap 'echo stopped > interrupted' INT; while :; do sleep 0.05; done\n");
  expect(201, "POST", "/api/v1/sessions", json::serialize(json::object{{"agent", "Ann"}, {"cli", "sh " + script}}));
  const auto ids = expect(200, "GET", "/agents/Ann");
  expect(200, "POST", format("/agents/{}/interrupt", *string_member(ids, "id")));
  expect(200, "POST", "/agents/by-name/Ann/interrupt");
}

TEST_F(HttpApi, AgentStartedByTheUserTakesNoInputOrStop) {
  cli_tests::Terminal bob{box, {"-n", "Bob", SCRIPTED_AGENT, "--status", "--log", log_of("Bob")}};
  ASSERT_TRUE(bob.shows("Scripted agent"));
  ASSERT_TRUE(eventually([&] { return http->request("GET", "/agents/Bob").status == 200; }));
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Bob/stop").code(), "UNSUPPORTED");
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Bob/input", R"({"input":"x"})").code(), "UNSUPPORTED");
}

TEST_F(HttpApi, UnversionedAgentRoutesBehaveTheSame) {
  const auto id = *string_member(expect(200, "GET", "/workspaces"), "activeWorkspaceId");
  const auto body = json::serialize(json::object{{"name", "Bob"}, {"provider", program_of("Bob")}, {"task", "begin"}});
  const auto made = expect(201, "POST", format("/workspaces/{}/agents", id), body);
  EXPECT_EQ(string_member(made, "id"), id + ".Bob");
  EXPECT_TRUE(receives("Bob", "begin"));
  EXPECT_EQ(expect(200, "GET", format("/workspaces/{}/agents", id)).at("agents").as_array().size(), 2u) << "and human";
  expect(200, "GET", "/agents");
  EXPECT_EQ(http->request("DELETE", format("/agents/{}.Bob", id)).status, 204);
}

// --- workspaces

TEST_F(HttpApi, WorkspacesAreOpenedSwitchedToAndClosed) {
  fs::create_directories(box.project() + "/other");
  const auto made = expect(201, "POST", "/workspaces",
                           json::serialize(json::object{{"path", fs::canonical(box.project() + "/other").string()}}));
  const auto id = *string_member(made, "id");
  fs::create_directories(box.project() + "/other2");
  const auto sibling =
      expect(201, "POST", "/workspaces",
             json::serialize(json::object{{"path", fs::canonical(box.project()).string() + "/other2/"}}));
  EXPECT_NE(string_member(sibling, "id"), id) << "not a workspace whose id has this prefix";
  EXPECT_EQ(http->request("DELETE", "/workspaces/" + *string_member(sibling, "id")).status, 204);
  EXPECT_EQ(http->request("GET", "/api/v1/agents").code(), "AMBIGUOUS_WORKSPACE");
  expect(200, "GET", "/api/v1/agents?workspace=" + id);
  expect(200, "POST", format("/workspaces/{}/switch", id));
  EXPECT_EQ(string_member(expect(200, "GET", "/api/v1/agents"), "workspaceId"), id);
  EXPECT_EQ(http->request("DELETE", "/workspaces/" + id).status, 204);
  EXPECT_EQ(http->request("GET", "/workspaces/" + id).status, 404);
  expect(200, "GET", "/api/v1/agents");
  EXPECT_EQ(http->request("POST", "/workspaces", R"({"path":"/no/such/directory"})").status, 400);
}

// --- costs

/// Joins as Counter and reports 1000 input and 500 output tokens of a model.
cli::DaemonConnection count_tokens(Sandbox& box) {
  auto agent = cli::DaemonConnection::open(*string_member(box.ok_json({"status"}), "socket")).value();
  EXPECT_TRUE(agent.send({.type = protocol::MessageType::Hello, .id = {}, .payload = R"({"agent":"Counter"})"}));
  EXPECT_TRUE(agent.receive(cli::in(cli::kResponseTimeout)));
  EXPECT_TRUE(
      agent.send({.type = protocol::MessageType::AgentEvent,
                  .id = "e-1",
                  .payload = R"({"event":{"type":"tokens.used","agentName":"Counter",)"
                             R"("model":"claude-sonnet-4-5-20250929","inputTokens":1000,"outputTokens":500}})"}));
  return agent;
}

TEST_F(HttpApi, CostsAreReportedAndFilteredByAgentAndTime) {
  const auto agent = count_tokens(box);
  ASSERT_TRUE(eventually([&] {
    const auto report = expect(200, "GET", "/api/v1/costs");
    return integer_member(*object_member(report, "total"), "totalTokens") == 1'500;
  }));
  const auto report = expect(200, "GET", "/api/v1/costs?agent=Counter");
  EXPECT_TRUE(object_member(report, "byAgent")->contains("Counter"));
  EXPECT_TRUE(object_member(report, "byModel")->contains("claude-sonnet-4-5-20250929"));
  EXPECT_GT(number_member(*object_member(report, "total"), "estimatedCostUsd").value_or(0), 0);
  const auto total = [&](const std::string& query) {
    const auto response = expect(200, "GET", "/api/v1/costs?" + query);
    return integer_member(*object_member(response, "total"), "totalTokens");
  };
  EXPECT_EQ(total("agent=Missing"), 0);
  EXPECT_EQ(total("since=32503680000000"), 0);
  EXPECT_EQ(total("until=1"), 0);
  box.write(box.home() + "/cost-models.json", R"({"claude-sonnet-4-5-20250929":{"inputPer1M":1000,"outputPer1M":0}})");
  const auto repriced = expect(200, "GET", "/api/v1/costs");
  EXPECT_EQ(number_member(*object_member(repriced, "total"), "estimatedCostUsd"), 1.0)
      << "prices of the file are in force";
}

// --- the document

TEST_F(HttpApi, ServedDocumentMatchesTheCommand) {
  const auto served = http->request("GET", "/openapi.json");
  EXPECT_EQ(served.status, 200);
  EXPECT_EQ(served.object(), parse_json_object(box.ok({"openapi"})).value());
  EXPECT_NE(http->request("GET", "/docs").body.find("/api/v1/sessions"), std::string::npos);
  const auto metrics = http->request("GET", "/metrics").body;
  for (const auto* name : {"agent_relay_agents_connected{", "agent_relay_event_readers{", "agent_relay_events_total{"})
    EXPECT_NE(metrics.find(name), std::string::npos) << metrics;
}

TEST_F(HttpApi, EveryRouteRespondsAndBadRequestsAreClientErrors) {
  for (const auto& route : api::route_table()) {
    if (route.access == api::Access::AuthenticatedStream) continue;  // they never end
    std::string target{route.path};
    while (target.find('{') != std::string::npos)
      target.replace(target.find('{'), target.find('}') - target.find('{') + 1, "nowhere");
    for (const auto* body : {"", "{", "[]", "{}", R"({"message":1,"input":[],"path":{},"agent":"a b","cli":"x"})"}) {
      if (route.method == api::Method::Get && *body != 0) continue;
      const auto response = http->request(std::string{api::name_of(route.method)}, target, body);
      EXPECT_GE(response.status, 200) << target;
      EXPECT_LT(response.status, 500) << target << " " << body << " " << response.body;
      EXPECT_EQ(response.status >= 400, !response.code().empty()) << target << " " << body;
    }
  }
}

TEST_F(HttpApi, OversizedRequestIsRefused) {
  const auto text = [](std::size_t bytes) { return std::string(bytes, 'x'); };
  session("Bob");
  for (const std::size_t around : {0U, 100U, 200U, 1000U, 4000U}) {
    const auto fill = text((1 << 20) - 100 - around);
    const auto message = http->request("POST", "/api/v1/agents/Bob/messages", format(R"({{"message":"{}"}})", fill));
    EXPECT_TRUE(message.status == 413 || message.status == 200) << around << " " << message.body;
    const auto task =
        http->request("POST", "/api/v1/sessions", format(R"({{"agent":"C","cli":"cat","task":"{}"}})", fill));
    EXPECT_TRUE(task.status == 413 || task.status == 400) << around << " " << task.body;
    const auto path = http->request("POST", "/workspaces", format(R"({{"path":"/{}"}})", fill));
    EXPECT_TRUE(path.status == 413 || path.status == 400) << around << " " << path.body;
  }
  EXPECT_EQ(http->request("GET", "/api/v1/agents/Bob").status, 200) << "the daemon still runs";
}

// --- security, with real requests

TEST_F(HttpApi, ReboundHostNameIsRefused) {
  const auto rebound = http->request("GET", "/api/v1/agents", {}, {{"Host", format("evil.example:{}", http->port())}});
  EXPECT_EQ(rebound.status, 403);
  EXPECT_EQ(rebound.code(), "HOST_NOT_ALLOWED");
  EXPECT_EQ(rebound.head.find("Access-Control"), std::string::npos);
  EXPECT_EQ(http->request("GET", "/api/v1/agents", {}, {{"Host", format("localhost:{}", http->port())}}).status, 200);
  EXPECT_NE(http->raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").find(" 400 "), std::string::npos) << "no host";
}

TEST_F(HttpApi, ForeignFormChangesNothing) {
  session("Bob");
  const auto form = http->request("POST", "/api/v1/agents/Bob/stop", "reason=x",
                                  {{"Content-Type", "application/x-www-form-urlencoded"},
                                   {"Origin", "https://evil.example"},
                                   {"Sec-Fetch-Site", "cross-site"}});
  EXPECT_EQ(form.code(), "ORIGIN_NOT_ALLOWED");
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Bob/stop", "{}", {{"Content-Type", "text/plain"}}).status, 415)
      << "as from an old browser without an Origin header";
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Bob/stop", {}, {{"Sec-Fetch-Site", "cross-site"}}).code(),
            "CROSS_SITE");
  EXPECT_EQ(http->request("OPTIONS", "/api/v1/agents/Bob/stop", {}, {{"Origin", "https://evil.example"}}).status, 403);
  EXPECT_NE(string_member(expect(200, "GET", "/api/v1/agents/Bob"), "status"), "stopped") << "still running";
}

struct HttpApiToken : HttpApi {
  void SetUp() override {
    box.set("AGENT_RELAY_API_TOKEN", "s3cret");
    up();
  }
};

TEST_F(HttpApiToken, BearerTokenIsEnforced) {
  EXPECT_EQ(http->request("GET", "/api/v1/agents").status, 401);
  EXPECT_EQ(http->request("GET", "/api/v1/agents", {}, {{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(http->request("GET", "/api/v1/agents?token=s3cret").status, 401) << "not in the address";
  const Headers token = {{"Authorization", "Bearer s3cret"}};
  expect(200, "GET", "/api/v1/agents", {}, token);
  EXPECT_EQ(http->request("GET", "/healthz").status, 200);
  EXPECT_EQ(text_of(box.home() + "/daemon.log").find("s3cret"), std::string::npos);
  EXPECT_EQ(text_of(box.home() + "/http.json").find("s3cret"), std::string::npos);
  const auto script = box.write(box.project() + "/agent.sh", "env > seen.new; mv seen.new seen; exec cat\n");
  expect(201, "POST", "/api/v1/sessions", json::serialize(json::object{{"agent", "Bob"}, {"cli", "sh " + script}}),
         token);
  ASSERT_TRUE(eventually([&] { return fs::exists(box.project() + "/seen"); }));
  EXPECT_EQ(text_of(box.project() + "/seen").find("s3cret"), std::string::npos) << "an agent does not get it";
}

struct HttpApiStart : HttpApi {
  void SetUp() override {}
};

TEST_F(HttpApiStart, AgentStartedOverHttpRunsInTheDaemonsEnvironmentAtTheRoot) {
  fs::create_directories(box.project() + "/inside");
  box.set("KEPT", "when the daemon started");
  box.ok({"-C", box.project() + "/inside", "up"});
  box.set("KEPT", "in a later shell");
  up();
  const auto script = box.write(box.project() + "/agent.sh",
                                "echo \"$KEPT; $PWD; $AGENT_RELAY_NAME\" > seen.new; mv seen.new seen; exec cat\n");
  const auto started_environment = [&](const std::string& name, const std::string& directory, json::object body) {
    body["agent"] = name;
    body["cli"] = "sh " + script;
    expect(201, "POST", "/api/v1/sessions", json::serialize(body));
    EXPECT_TRUE(eventually([&] { return fs::exists(directory + "/seen"); })) << name;
    return text_of(directory + "/seen");
  };
  EXPECT_EQ(started_environment("Bob", box.project(), {{"environment", json::array{"KEPT=chosen by the caller"}}}),
            format("when the daemon started; {}; Bob\n", box.project()));
  EXPECT_EQ(started_environment("Ann", box.project() + "/inside", {{"cwd", "inside"}}),
            format("when the daemon started; {}/inside; Ann\n", box.project()));
}

/// Starts Bob over HTTP, kills its host and waits until the daemon has lost it. Returns Bob's session.
struct HttpApiHostLoss : HttpApiStart {
  std::string session_of_bob() {
    up();
    const auto id = session("Bob");
    const auto host = static_cast<pid_t>(integer_member(box.ok_json({"explain", "Bob"}), "hostPid").value_or(0));
    EXPECT_TRUE(host > 1 && ::kill(host, SIGKILL) == 0);
    EXPECT_TRUE(eventually([&] { return bool_member(response(id), "connected") == false; }));
    return id;
  }
  json::object response(const std::string& id) { return expect(200, "GET", "/api/v1/sessions/" + id); }
};

TEST_F(HttpApiHostLoss, SessionOfAKilledHostIsStaleWithinTheGrace) {
  const auto id = session_of_bob();
  const auto refused = http->request("DELETE", "/api/v1/sessions/" + id);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "STALE");
  EXPECT_NE(refused.body.find("Bob is not connected; unless it returns soon its session ends as crashed"),
            std::string::npos)
      << refused.body;
  EXPECT_FALSE(response(id).contains("endedAt")) << "still within its grace period";
}

TEST_F(HttpApiHostLoss, SessionOfAKilledHostHasEndedAfterTheGrace) {
  box.set("AGENT_RELAY_SESSION_GRACE_MS", "300");
  const auto id = session_of_bob();
  ASSERT_TRUE(eventually([&] { return response(id).contains("endedAt"); }));
  const auto refused = http->request("DELETE", "/api/v1/sessions/" + id);
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.body.find("the session of Bob has ended"), std::string::npos) << refused.body;
  const auto ended = box.ok({"events", "--types", "session.ended", "--agent", "Bob", "--json"});
  EXPECT_NE(ended.find(R"("reason":"crashed")"), std::string::npos) << ended;
}

TEST_F(HttpApiStart, SessionEndReportsEstimatedCost) {
  box.write(box.home() + "/cost-models.json",
            R"({"claude-sonnet-4-5-20250929":{"inputPer1M":1000,"outputPer1M":500}})");
  up();
  auto agent = count_tokens(box);
  ASSERT_TRUE(agent.send({.type = protocol::MessageType::Bye, .id = {}, .payload = "{}"}));
  const auto cost_in = [](const json::object& event) {
    const auto* summary = object_member(event, "summary");
    return summary == nullptr ? std::nullopt : number_member(*summary, "estimatedCost");
  };
  const auto ends = [&] {
    return expect(200, "GET", "/api/v1/events?types=session.ended&agent=Counter").at("events").as_array();
  };
  ASSERT_TRUE(eventually([&] { return !ends().empty(); }));
  EXPECT_EQ(cost_in(ends().at(0).as_object()), 1.25) << json::serialize(ends().at(0));
  EXPECT_EQ(integer_member(*object_member(ends().at(0).as_object(), "summary"), "totalTokens"), 1'500);
  json::object line;  // of the file beside the store
  ASSERT_TRUE(eventually([&] {
    std::ifstream file{box.workspace_directory() + "/events.jsonl"};
    for (std::string text; std::getline(file, text);)
      if (auto event = parse_json_object(text); event && string_member(*event, "type") == "session.ended")
        line = *std::move(event);
    return !line.empty();
  }));
  EXPECT_EQ(cost_in(line), 1.25) << json::serialize(line);
}

TEST_F(HttpApiStart, ListeningBeyondThisMachineNeedsAToken) {
  box.set("AGENT_RELAY_HTTP_ADDRESS", "0.0.0.0");
  const auto refused = box.run({"up"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("AGENT_RELAY_API_TOKEN"), std::string::npos) << refused.err;
}

TEST_F(HttpApiStart, PortInUseIsSkippedAndTheAddressReported) {
  up();
  Sandbox other;
  other.set("AGENT_RELAY_DASHBOARD_PORT", format("{}", http->port()));
  const auto output = other.ok({"up"});
  const auto url = *string_member(other.ok_json({"status"}), "http");
  EXPECT_NE(output.find(url), std::string::npos) << output;
  EXPECT_GT(HttpClient{url}.port(), http->port());
  EXPECT_EQ(HttpClient{url}.request("GET", "/healthz").status, 200);
  struct stat file{};
  ASSERT_EQ(::stat((other.home() + "/http.json").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  other.ok({"down", "--all"});
  EXPECT_FALSE(fs::exists(other.home() + "/http.json"));
}

TEST_F(HttpApiStart, WithoutHttpThereIsNoAddress) {
  box.ok({"up", "--no-http"});
  EXPECT_FALSE(box.ok_json({"status"}).contains("http"));
  EXPECT_FALSE(fs::exists(box.home() + "/http.json"));
}

TEST_F(HttpApi, StopFinishesRequestsAndBadAddressDisablesOnlyHttp) {
  std::string output;
  std::thread client{[&] { output = http->request("GET", "/metrics").body; }};
  client.join();
  EXPECT_FALSE(output.empty());
  box.ok({"down", "--all"});
  EXPECT_FALSE(fs::exists(box.home() + "/http.json")) << "another program may have its port by then";
  box.set("AGENT_RELAY_HTTP_ADDRESS", "127.99.99.999");
  const auto up = box.run({"up"});
  EXPECT_EQ(up.code, 0);
  EXPECT_NE(up.err.find("the HTTP API is not served"), std::string::npos) << up.err;
  const auto status = box.ok_json({"status"});
  EXPECT_FALSE(status.contains("http"));
  EXPECT_FALSE(string_member(status, "httpError").value_or("").empty()) << json::serialize(status);
  EXPECT_NE(box.ok({"status"}).find("not served"), std::string::npos);
  const auto doctor = box.run({"doctor"});
  EXPECT_EQ(doctor.code, 1);
  EXPECT_NE(doctor.out.find("AGENT_RELAY_DASHBOARD_PORT"), std::string::npos) << doctor.out;
  EXPECT_NE(text_of(box.home() + "/daemon.log").find("the HTTP API is not served"), std::string::npos);
}

TEST_F(HttpApi, ReopenedWorkspaceIsReachable) {
  expect(200, "GET", "/api/v1/agents");
  box.ok({"down"});
  EXPECT_EQ(http->request("GET", "/api/v1/agents").code(), "NO_WORKSPACE");
  box.ok({"up"});
  expect(200, "GET", "/api/v1/agents");
}

}  // namespace
}  // namespace relay::api_tests
