// Events over HTTP from the real daemon with real agents: streams and the WebSocket end to end.
#include <gtest/gtest.h>

#include "api/http_connection.h"
#include "api/http_fixture.h"

namespace relay::api_tests {
namespace {

struct HttpApiStreams : HttpFixture {
  HttpConnection connect() { return HttpConnection{http->port()}; }
  HttpConnection reader(const std::string& target, std::string_view more = {}) {
    auto connection = connect();
    connection.get(target, more);
    EXPECT_TRUE(connection.wait_for("retry: ")) << connection.output;
    return connection;
  }
  std::string spawn(const std::string& name) {
    const json::object body = {{"agent", name}, {"cli", format("{} --status --work-ms 50", SCRIPTED_AGENT)}};
    const auto response = http->request("POST", "/api/v1/sessions", json::serialize(body));
    EXPECT_EQ(response.status, 201) << response.body;
    return string_member(response.object(), "sessionId").value_or("");
  }
};

TEST_F(HttpApiStreams, StreamsAllEventsThoseOfAnAgentAndOfASession) {
  EXPECT_EQ(http->request("GET", "/api/v1/agents/Bob/events/sse").status, 404) << "Bob does not exist yet";
  EXPECT_EQ(http->request("GET", "/api/v1/sessions/nowhere/events/sse").status, 404);
  auto all = reader("/api/v1/events/sse");
  spawn("Eve");
  const auto session = spawn("Bob");
  auto bob = reader("/api/v1/agents/Bob/events/sse?types=session,agent&offset=0");
  ASSERT_TRUE(all.wait_for("event: session.started\n"));
  ASSERT_TRUE(all.wait_for("\"_agentName\":\"Bob\"")) << all.output;
  ASSERT_TRUE(bob.wait_for("\"_agentName\":\"Bob\"")) << bob.output;
  EXPECT_FALSE(bob.output.contains("\"_agentName\":\"Eve\""));
  auto own = reader(format("/api/v1/sessions/{}/events/sse?offset=0", session));
  ASSERT_TRUE(own.wait_for("event: session.started\n"));
  EXPECT_FALSE(own.output.contains("Eve"));
}

TEST_F(HttpApiStreams, ResumesAfterLastEventIdAcrossADaemonRestart) {
  auto first = reader("/api/v1/events/sse?offset=0&types=session.started");
  spawn("Bob");
  ASSERT_TRUE(first.wait_for("event: session.started\nid: "));
  const auto at = first.output.find("event: session.started\nid: ") + 27;
  const auto number = first.output.substr(at, first.output.find('\n', at) - at);
  box.ok({"down", "--all"});
  EXPECT_TRUE(first.wait_for("event: relay.resume\n")) << first.output;
  up();
  auto second = reader("/api/v1/events/sse?types=session.started", format("Last-Event-ID: {}\r\n", number));
  spawn("Eve");
  ASSERT_TRUE(second.wait_for("Eve"));
  EXPECT_FALSE(second.output.contains(format("\nid: {}\n", number)));
}

TEST_F(HttpApiStreams, WebSocketSendsSnapshotEventsAndTerminal) {
  spawn("Bob");
  auto socket = connect();
  socket.open_websocket("/ws");
  ASSERT_TRUE(socket.wait_for(R"({"type":"snapshot","workspace":{"id":")")) << socket.output;
  ASSERT_TRUE(socket.wait_for("\"name\":\"Bob\""));
  socket.send_text(R"({"type":"watch","agent":"Bob"})");
  ASSERT_TRUE(socket.wait_for(R"({"type":"screen","agent":"Bob","columns":)")) << socket.output;
  spawn("Eve");
  ASSERT_TRUE(socket.wait_for(R"({"type":"event","event":{"type":"session.started")"));
  EXPECT_EQ(http->request("POST", "/api/v1/agents/Bob/stop").status, 200);
  EXPECT_TRUE(socket.wait_for(R"({"type":"screen-closed","agent":"Bob")"));
}

TEST_F(HttpApiStreams, InvalidStartIsABadRequest) {
  const auto response = http->request("GET", "/api/v1/events/sse?offset=yesterday");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(http->request("GET", "/api/v1/agents/" + std::string(200, 'x') + "/events/sse?offset=0").status, 400);
  EXPECT_EQ(http->request("GET", "/ws").status, 426);
}

}  // namespace
}  // namespace relay::api_tests
