// Refused streams get an ordinary response and are counted by its status.
#include <gtest/gtest.h>

#include "api/events/live.h"
#include "api/testing/fake_event_workspace.h"
#include "api/testing/fake_workspaces.h"
#include "net/testing/http_server_fixture.h"
#include "net/unix_network.h"

namespace relay::api {
namespace {

constexpr std::string_view kUpgrade =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

struct StreamHandlersTest : net::HttpServerTest {
  net::UnixNetwork network{loop};
  testing::FakeEventWorkspace events{loop};
  testing::FakeApi fake;
  LiveStreams live{loop, network, events, {.readers = 2}, {.sockets = 1}};
  testing::FakeWorkspaceClient& workspace = fake.workspaces.add("aaaaaaaaaaaa", "/home/me/project");

  StreamHandlersTest() {
    fake.workspaces.live = &live;
    events.responses["LIST_AGENTS"] = {{"agents", json::array{}}};
    respond = [this](net::ServerRequest& request, net::ResponseWriter& reply) {
      request.peer.uid = fake.policy.owner;
      auto paths = Call::reply_paths_of(std::move(reply));
      dispatch(fake.api, fake.policy, request, std::move(paths.send), std::move(paths.yield));
      fake.tasks.run();
    };
  }
  ~StreamHandlersTest() override { server.reset(); }

  /// Requests a stream and returns the response head, which must have that status.
  std::string head_of(std::string_view target, int status, std::string_view more = {}) {
    auto connection = connect();
    connection.send(
        format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:3888\r\nOrigin: http://localhost:3888\r\n{}\r\n", target, more));
    EXPECT_TRUE(connection.wait_for(format("HTTP/1.1 {} ", status))) << target << connection.output();
    EXPECT_TRUE(connection.wait_for("\r\n\r\n"));
    return connection.output();
  }
  std::uint64_t counted(std::string_view operation, int status) {
    const auto& counts = fake.api.counters.counts();
    const auto found = counts.find({operation, status});
    return found == counts.end() ? 0 : found->second;
  }
  void expect_refused(std::string_view operation, std::string_view target, int status, std::string_view more = {}) {
    const auto head = head_of(target, status, more);
    for (const auto* header : {"Access-Control-Allow-Origin: http://localhost:3888\r\n", "Vary: Origin\r\n",
                               "Cache-Control: no-store\r\n", "X-Content-Type-Options: nosniff\r\n"})
      EXPECT_TRUE(head.contains(header)) << header << head;
    EXPECT_EQ(counted(operation, status), 1u) << operation << " " << status;
    EXPECT_EQ(counted(operation, route_of(operation).status), 0u) << operation;
  }
};

TEST_F(StreamHandlersTest, StartedStreamIsCounted) {
  const auto head = head_of("/api/v1/events/sse", 200);
  EXPECT_TRUE(head.contains("Access-Control-Allow-Origin: http://localhost:3888\r\n")) << head;
  EXPECT_TRUE(head.contains("X-Content-Type-Options: nosniff\r\n")) << head;
  EXPECT_EQ(counted("streamEvents", 200), 1u);
}

TEST_F(StreamHandlersTest, InvalidFilterIsABadRequest) {
  expect_refused("streamEvents", "/api/v1/events/sse?offset=soon", 400);
}

TEST_F(StreamHandlersTest, UnresponsiveWorkspaceIsUnavailable) {
  events.error = "the daemon disconnected";
  expect_refused("streamEvents", "/api/v1/events/sse", 503);
}

TEST_F(StreamHandlersTest, UnknownAgentOrSessionIsNotFound) {
  workspace.responses["LIST_AGENTS"] = {json::object{{"agents", json::array{}}}};
  workspace.responses["SESSION_QUERY"] = {json::object{{"error", "there is no session s-9"}, {"code", "NOT_FOUND"}}};
  expect_refused("streamAgentEvents", "/api/v1/agents/Nobody/events/sse", 404);
  expect_refused("streamSessionEvents", "/api/v1/sessions/s-9/events/sse", 404);
  workspace.responses["LIST_AGENTS"] = {json::object{{"agents", json::array{json::object{{"name", "Bob"}}}}}};
  workspace.responses["SESSION_QUERY"] = {json::object{{"id", "s-1"}, {"agent", "Bob"}}};
  head_of("/api/v1/agents/Bob/events/sse", 200);
  head_of("/api/v1/sessions/s-1/events/sse", 200);
}

TEST_F(StreamHandlersTest, ForeignOriginGetsNoStreamAndNoCorsHeader) {
  auto connection = connect();
  connection.send("GET /api/v1/events/sse HTTP/1.1\r\nHost: 127.0.0.1:3888\r\nOrigin: https://example.org\r\n\r\n");
  ASSERT_TRUE(connection.wait_for("}}"));
  EXPECT_TRUE(connection.output().starts_with("HTTP/1.1 403 ")) << connection.output();
  EXPECT_FALSE(connection.output().contains("Access-Control-Allow-Origin")) << connection.output();
  EXPECT_EQ(counted("streamEvents", 200), 0u);
}

TEST_F(StreamHandlersTest, MissingTokenIsUnauthorized) {
  fake.policy.token = "s3cret";
  expect_refused("streamEvents", "/api/v1/events/sse", 401);
}

TEST_F(StreamHandlersTest, PlainRequestGetsUpgradeRequired) {
  expect_refused("openLiveSocket", "/ws", 426);
  EXPECT_TRUE(head_of("/ws", 426).contains("Upgrade: websocket\r\n"));
}

TEST_F(StreamHandlersTest, OtherWebSocketVersionIsABadRequest) {
  expect_refused("openLiveSocket", "/ws", 400,
                 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
}

TEST_F(StreamHandlersTest, ExcessStreamIsRefusedAndCounted) {
  auto first = connect(), second = connect();
  first.send(format("GET /api/v1/events/sse HTTP/1.1\r\nHost: 127.0.0.1:3888\r\n\r\n"));
  ASSERT_TRUE(first.wait_for(": "));
  second.send(format("GET /ws HTTP/1.1\r\nHost: 127.0.0.1:3888\r\n{}\r\n", kUpgrade));
  ASSERT_TRUE(second.wait_for("101 Switching"));
  EXPECT_TRUE(head_of("/api/v1/events/sse", 503).contains("Retry-After: 5\r\n"));
  EXPECT_TRUE(head_of("/ws", 503, kUpgrade).contains("Retry-After: 5\r\n"));
  EXPECT_EQ(counted("streamEvents", 200), 1u);
  EXPECT_EQ(counted("streamEvents", 503), 1u);
  EXPECT_EQ(counted("openLiveSocket", 101), 1u);
  EXPECT_EQ(counted("openLiveSocket", 503), 1u);
}

}  // namespace
}  // namespace relay::api
