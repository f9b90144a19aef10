// The acceptance lines of event streams (docs/acceptance.md) on a real server. feed_test.cc tests the feed alone.
#include <gtest/gtest.h>

#include "api/events/feed.h"
#include "api/testing/fake_event_workspace.h"
#include "api/testing/stream_call.h"
#include "net/testing/http_server_fixture.h"

namespace relay::api {
namespace {

using net::get;
using net::RawClient;
using net::testing::run_until;

struct SseTest : net::HttpServerTest {
  testing::FakeEventWorkspace workspace{loop};
  FeedLimits feed_limits{.batch = Millis{1}};
  std::optional<Feed> feed;

  SseTest() {
    respond = [this](net::ServerRequest& request, net::ResponseWriter& reply) {
      if (!feed) feed.emplace(loop, workspace, feed_limits);
      auto subscription = parse_event_subscription(net::QueryParameters::parse(request.query).value(), request.headers);
      auto call = testing::stream_call("streamEvents", request, reply);
      if (!subscription) return call.refuse(bad_request(subscription.error().message()));
      const auto path = net::path_segments(request.path).value();  // as the route table does
      if (path.size() == 6 && path[2] == "agents") subscription->agents = {path[3]};
      if (path.size() == 6 && path[2] == "sessions") subscription->sessions = {path[3]};
      feed->open_sse(*std::move(subscription), std::move(call));
    };
  }
  ~SseTest() override { server.reset(); }

  RawClient reader(std::string_view path, std::string_view more = {}) {
    auto reading = connect();
    const auto before = feed ? feed->counts().readers : 0;
    reading.send(get(path, more));
    EXPECT_TRUE(run_until(loop, [&] { return feed && feed->counts().readers == before + 1; }));
    return reading;
  }
};

TEST_F(SseTest, GetApiV1EventsSseStreamsAllEventsAsSse) {
  auto reading = reader("/api/v1/events/sse");
  workspace.emit("item.started");
  workspace.emit("session.ended", "Bob", "s-2");
  ASSERT_TRUE(reading.wait_for("id: 2\n"));
  ASSERT_TRUE(reading.wait_for("\"_agentName\":\"Bob\"}\n\n"));
  const auto& output = reading.output();
  EXPECT_TRUE(output.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")) << output;
  EXPECT_TRUE(output.contains("Cache-Control: no-cache\r\n"));
  EXPECT_TRUE(output.contains("X-Accel-Buffering: no\r\n"));
  EXPECT_TRUE(output.contains("event: item.started\nid: 1\ndata: {\"type\":\"item.started\",\"sessionId\":\"s-1\""));
  EXPECT_TRUE(output.contains("event: session.ended\nid: 2\n"));
}

TEST_F(SseTest, GetApiV1AgentsNameEventsSseFiltersToOneAgent) {
  auto reading = reader("/api/v1/agents/Bob/events/sse");
  workspace.emit("item.started", "Alice");
  workspace.emit("item.started", "Bob");
  ASSERT_TRUE(reading.wait_for("id: 2\n"));
  EXPECT_FALSE(reading.output().contains("id: 1\n"));
}

TEST_F(SseTest, GetApiV1SessionsIdEventsSseFiltersToOneSession) {
  auto reading = reader("/api/v1/sessions/s-2/events/sse");
  workspace.emit("item.started", "Alice", "s-1");
  workspace.emit("item.started", "Alice", "s-2");
  ASSERT_TRUE(reading.wait_for("id: 2\n"));
  EXPECT_FALSE(reading.output().contains("id: 1\n"));
}

TEST_F(SseTest, TypesFilterWorks) {
  auto reading = reader("/api/v1/events/sse?types=item.started,item.completed");
  for (const auto* type : {"item.started", "item.delta", "session.ended", "item.completed"}) workspace.emit(type);
  ASSERT_TRUE(reading.wait_for("id: 4\n"));
  EXPECT_TRUE(reading.output().contains("id: 1\n"));
  EXPECT_FALSE(reading.output().contains("id: 2\n") || reading.output().contains("id: 3\n"));
}

TEST_F(SseTest, OffsetReplaysHistoricalEventsThenSwitchesToLive) {
  for (int i = 0; i < 6; ++i) workspace.emit("item.started");
  auto reading = reader("/api/v1/events/sse?offset=4");
  ASSERT_TRUE(reading.wait_for("id: 6\n"));
  workspace.emit("item.started");
  ASSERT_TRUE(reading.wait_for("id: 7\n"));
  EXPECT_TRUE(reading.output().contains("id: 5\n"));
  EXPECT_FALSE(reading.output().contains("id: 4\n"));
}

TEST_F(SseTest, LastEventIdHeaderWorksForReconnection) {
  auto first = reader("/api/v1/events/sse");
  workspace.emit("item.started");
  ASSERT_TRUE(first.wait_for("id: 1\n"));
  first.disconnect();
  ASSERT_TRUE(run_until(loop, [&] { return feed->counts().readers == 0; }));
  workspace.emit("item.completed");
  workspace.emit("item.started");
  auto second = reader("/api/v1/events/sse", "Last-Event-ID: 1\r\n");
  ASSERT_TRUE(second.wait_for("id: 3\n"));
  EXPECT_TRUE(second.output().contains("id: 2\n"));
  EXPECT_FALSE(second.output().contains("id: 1\n"));
}

TEST_F(SseTest, HeartbeatSentEvery30s) {
  EXPECT_EQ(FeedLimits{}.heartbeat, Millis{30'000});
  feed_limits.heartbeat = Millis{2};
  auto reading = reader("/api/v1/events/sse");
  EXPECT_TRUE(reading.wait_for(": heartbeat\n\n"));
}

TEST_F(SseTest, ConnectionCleanupOnClientDisconnectNoLeakedSubscriptions) {
  feed_limits.idle_timeout = Millis{1};
  {
    auto one = reader("/api/v1/events/sse");
    auto two = reader("/api/v1/events/sse?offset=0");
    EXPECT_TRUE(workspace.is_followed());
    one.disconnect();
    two.disconnect();
    ASSERT_TRUE(run_until(loop, [&] { return feed->counts().readers == 0; }));
  }
  EXPECT_TRUE(run_until(loop, [&] { return !workspace.is_followed(); }));
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(SseTest, CorsHeadersApplied) {
  auto reading = reader("/api/v1/events/sse", "Origin: http://localhost:3888\r\n");
  EXPECT_TRUE(reading.wait_for("Access-Control-Allow-Origin: http://localhost:3888\r\n"));
}

TEST_F(SseTest, ExcessReaderGets503WithRetryAfter) {
  feed_limits.readers = 2;
  auto one = reader("/api/v1/events/sse"), two = reader("/api/v1/events/sse");
  auto three = connect();
  three.send(get("/api/v1/events/sse"));
  ASSERT_TRUE(three.wait_for("}}"));
  EXPECT_TRUE(three.output().starts_with("HTTP/1.1 503 ")) << three.output();
  EXPECT_TRUE(three.output().contains("Retry-After: 5\r\n"));
  EXPECT_TRUE(three.output().contains("2 clients are already reading events; try again later"));
  EXPECT_EQ(feed->counts().refused, 1u);
}

TEST_F(SseTest, UnresponsiveWorkspaceGives503) {
  workspace.error = "no listener";
  auto reading = connect();
  reading.send(get("/api/v1/events/sse"));
  ASSERT_TRUE(reading.wait_for("}}"));
  EXPECT_TRUE(reading.output().starts_with("HTTP/1.1 503 ")) << reading.output();
  EXPECT_TRUE(reading.output().contains("cannot read the events of this workspace: no listener"));
}

TEST_F(SseTest, PendingReadersFailWhenTheWorkspaceCloses) {
  workspace.delay = [] { return Millis{60'000}; };
  auto waiting = connect();
  waiting.send(get("/api/v1/events/sse"));
  ASSERT_TRUE(run_until(loop, [&] { return workspace.open_requests == 1; }));
  feed.reset();
  EXPECT_TRUE(waiting.wait_for("cannot read the events of this workspace: the workspace was closed"));
}

TEST_F(SseTest, ReaderGetsResumeNoticeWhenTheWorkspaceCloses) {
  workspace.emit("item.started");
  auto reading = reader("/api/v1/events/sse");
  feed.reset();
  EXPECT_TRUE(reading.wait_for("event: relay.resume\nid: 1\n"));
  EXPECT_FALSE(workspace.is_followed());
}

TEST_F(SseTest, HeadAddsNoReader) {
  auto reading = connect();
  reading.send("HEAD /api/v1/events/sse HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(reading.wait_for("\r\n\r\n"));
  ASSERT_TRUE(run_until(loop, [&] { return feed->counts().readers == 0; }));
}

TEST_F(SseTest, SlowClientIsEvictedAndResumesWithoutLoss) {
  feed_limits.ring_events = 50;
  auto slow = reader("/api/v1/events/sse");
  slow.pause_reading();
  const std::string text(50'000, 'x');
  ASSERT_TRUE(run_until(loop, [&] {
    for (int i = 0; i < 10; ++i) workspace.emit("item.delta", "Alice", "s-1", text);
    return feed->counts().evicted == 1;
  }));
  slow.resume_reading();
  ASSERT_TRUE(slow.wait_for("event: relay.resume\n"));
  const auto at = slow.output().find("\"after\":");
  const auto after = std::stoull(slow.output().substr(at + 8));
  EXPECT_TRUE(slow.output().contains(format("\nid: {}\ndata: {{\"type\"", after)));
  EXPECT_FALSE(slow.output().contains(format("\nid: {}\ndata: {{\"type\"", after + 1)));
  EXPECT_TRUE(slow.wait_for("0\r\n\r\n")) << "the response is complete";
}

}  // namespace
}  // namespace relay::api
