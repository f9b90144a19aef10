#include <gtest/gtest.h>

#include "api/events/ws_sockets.h"
#include "api/testing/fake_event_workspace.h"
#include "api/testing/scripted_host.h"
#include "api/testing/stream_call.h"
#include "net/testing/http_server_fixture.h"
#include "net/testing/temporary_directory.h"
#include "net/unix_network.h"
#include "net/websocket_reader.h"

namespace relay::api {
namespace {

using net::RawClient;
using net::testing::run_until;

constexpr std::string_view kHandshake =
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

std::string client_frame(std::string_view text) {
  auto frame = std::string{net::frame_head(net::Opcode::Text, text.size()).view()};
  frame[1] = static_cast<char>(static_cast<unsigned char>(frame[1]) | 0x80U);
  return frame.append("\0\0\0\0", 4).append(text);  // this mask changes nothing
}

struct LiveSocketTest : net::HttpServerTest {
  net::testing::TemporaryDirectory directory;
  net::UnixNetwork network{loop};
  testing::FakeEventWorkspace workspace{loop};
  FeedLimits feed_limits{.batch = Millis{1}};
  SocketLimits socket_limits;
  std::optional<Feed> feed;
  std::optional<LiveSockets> sockets;

  LiveSocketTest() {
    workspace.hosts_directory = directory.path();
    workspace.responses["LIST_AGENTS"] = {{"agents", json::array{json::object{{"name", "Bob"}}}}};
    respond = [this](net::ServerRequest& request, net::ResponseWriter& reply) {
      if (!feed) {
        feed.emplace(loop, workspace, feed_limits);
        sockets.emplace(network, workspace, *feed, socket_limits);
      }
      sockets->open(testing::stream_call("openLiveSocket", request, reply));
    };
  }
  ~LiveSocketTest() override { server.reset(); }

  RawClient open() {
    auto socket = connect();
    socket.send(kHandshake);
    EXPECT_TRUE(socket.wait_for("\"type\":\"snapshot\"")) << socket.output();
    return socket;
  }
  /// Requests Bob's terminal and runs until the host received the attach.
  bool watch_bob(RawClient& socket, testing::ScriptedHost& host) {
    socket.send(client_frame(R"({"type":"watch","agent":"Bob"})"));
    return run_until(loop, [&] { return host.requests.size() == 1; });
  }
  bool all_removed() {
    return run_until(loop, [&] { return sockets->count() == 0 && feed->counts().readers == 0; });
  }
};

TEST_F(LiveSocketTest, SendsASnapshotThenEvents) {
  workspace.emit("item.started");
  workspace.responses["PROMPTS"] = {{"permissions", json::array{json::object{{"requestId", "r-1"}}}},
                                    {"questions", {}}};
  auto socket = open();
  EXPECT_TRUE(socket.output().contains(R"("permissions":[{"requestId":"r-1"}],"questions":[],"newest":1})"));
  EXPECT_TRUE(socket.output().contains(
      R"({"type":"snapshot","workspace":{"id":"p-1","root":"/home/me/project"},"agents":[{"name":"Bob"}],)"))
      << socket.output();
  workspace.emit("item.completed");
  ASSERT_TRUE(socket.wait_for(R"({"type":"event","event":{"type":"item.completed")"));
  EXPECT_FALSE(socket.output().contains(R"("event":{"type":"item.started")"));
}

TEST_F(LiveSocketTest, MarksATruncatedAgentList) {
  workspace.responses["LIST_AGENTS"]["more"] = true;
  auto socket = open();
  EXPECT_TRUE(socket.output().contains(R"("agents":[{"name":"Bob"}],"more":true,)")) << socket.output();
}

TEST_F(LiveSocketTest, SnapshotWithoutPromptsWhenTheQueryFails) {
  auto socket = open();
  EXPECT_TRUE(socket.output().contains(R"("permissions":[],"questions":[],"newest":0})")) << socket.output();
}

TEST_F(LiveSocketTest, MissesNoEventDuringTheSnapshot) {
  workspace.on_request["LIST_AGENTS"] = [&] { workspace.emit("agent.spawned", "Eve"); };
  auto socket = open();
  ASSERT_TRUE(socket.wait_for(R"({"type":"event","event":{"type":"agent.spawned")"));
  EXPECT_TRUE(socket.output().contains("\"newest\":0}"));
}

TEST_F(LiveSocketTest, SubscribeChangesFilterAndPosition) {
  workspace.emit("item.started", "Alice");
  workspace.emit("item.started", "Bob");
  auto socket = open();
  socket.send(client_frame(R"({"type":"subscribe","agents":["Bob"]})"));
  ASSERT_TRUE(socket.wait_for(R"({"type":"subscribed","after":2})"));
  workspace.emit("item.completed", "Alice");
  workspace.emit("item.completed", "Bob");
  ASSERT_TRUE(socket.wait_for("\"_seq\":4,"));
  EXPECT_FALSE(socket.output().contains("\"_seq\":3,"));
  socket.send(client_frame(R"({"type":"subscribe","after":0})"));
  ASSERT_TRUE(socket.wait_for(R"({"type":"subscribed","after":0})"));
  for (const auto* number : {"\"_seq\":1,", "\"_seq\":2,", "\"_seq\":3,"}) EXPECT_TRUE(socket.wait_for(number));
}

TEST_F(LiveSocketTest, InvalidRequestGetsAnError) {
  auto socket = open();
  socket.send(client_frame("nonsense"));
  EXPECT_TRUE(socket.wait_for(R"({"type":"error","message":")"));
  socket.send(client_frame(R"({"type":"unwatch","agent":"Bob"})"));
  EXPECT_TRUE(socket.wait_for("the terminal of Bob is not watched"));
}

TEST_F(LiveSocketTest, SendsTerminalOutputWhileWatched) {
  testing::ScriptedHost host{network, directory.path(), "Bob"};
  auto socket = open();
  ASSERT_TRUE(watch_bob(socket, host));
  host.accept_attach(100, 30, "whole");
  ASSERT_TRUE(socket.wait_for(R"({"type":"screen","agent":"Bob","columns":100,"rows":30,"ansi":"whole"})"));
  host.send_output("\x1b[1mmore");
  ASSERT_TRUE(socket.wait_for(R"({"type":"output","agent":"Bob","data":"\u001b[1mmore"})"));
  socket.send(client_frame(R"({"type":"unwatch","agent":"Bob"})"));
  EXPECT_TRUE(run_until(loop, [&] { return host.disconnected; }));
}

TEST_F(LiveSocketTest, ReportsAClosedTerminal) {
  testing::ScriptedHost host{network, directory.path(), "Bob"};
  auto socket = open();
  socket.send(client_frame(R"({"type":"watch","agent":"Eve"})"));
  EXPECT_TRUE(
      socket.wait_for(R"({"type":"screen-closed","agent":"Eve","reason":"Eve has no terminal on this machine"})"));
  ASSERT_TRUE(watch_bob(socket, host));
  host.send_json(R"({"event":"exit","code":0})");
  EXPECT_TRUE(socket.wait_for(R"({"type":"screen-closed","agent":"Bob","reason":"Bob has ended"})"));
}

TEST_F(LiveSocketTest, LimitsWatchedTerminals) {
  socket_limits.screens = 1;
  testing::ScriptedHost bob{network, directory.path(), "Bob"}, eve{network, directory.path(), "Eve"};
  auto socket = open();
  socket.send(client_frame(R"({"type":"watch","agent":"Bob"})"));
  socket.send(client_frame(R"({"type":"watch","agent":"Eve"})"));
  EXPECT_TRUE(socket.wait_for("1 terminals are watched already; unwatch one first"));
  socket.send(client_frame(R"({"type":"watch","agent":"Bob"})"));
  EXPECT_TRUE(run_until(loop, [&] { return bob.connections == 2; })) << "the host is attached again";
}

TEST_F(LiveSocketTest, PausesTheTerminalOfASlowClient) {
  testing::ScriptedHost host{network, directory.path(), "Bob"};
  auto socket = open();
  ASSERT_TRUE(watch_bob(socket, host));
  host.accept_attach(100, 30, "whole");
  ASSERT_TRUE(socket.wait_for("whole"));
  socket.pause_reading();
  const std::string flood(60'000, 'x');
  int still = 0;
  ASSERT_TRUE(run_until(loop, [&] {  // until all buffers are full: client, server, host
    still = host.waiting() > 0 ? still + 1 : 0;
    if (still == 0) host.send_output(flood);
    return still == 20;
  }));
  host.send_output("the end of it");
  socket.resume_reading();
  EXPECT_TRUE(socket.wait_for("the end of it"));
}

TEST_F(LiveSocketTest, SlowClientGetsResumeNotice) {
  feed_limits.ring_events = 50;
  auto socket = open();
  socket.pause_reading();
  const std::string text(50'000, 'x');
  ASSERT_TRUE(run_until(loop, [&] {
    for (int i = 0; i < 10; ++i) workspace.emit("item.delta", "Alice", "s-1", text);
    return feed->counts().evicted == 1;
  }));
  socket.resume_reading();
  ASSERT_TRUE(socket.wait_for(R"({"type":"resume","after":)"));
  ASSERT_TRUE(socket.wait_closed());
  EXPECT_TRUE(socket.output().contains("\x03\xf5resume after ")) << "closed with 1013";
  EXPECT_EQ(sockets->count(), 0u);
}

TEST_F(LiveSocketTest, RemovedWhenTheClientDisconnects) {
  testing::ScriptedHost host{network, directory.path(), "Bob"};
  {
    auto socket = open();
    socket.send(client_frame(R"({"type":"watch","agent":"Bob"})"));
    ASSERT_TRUE(run_until(loop, [&] { return host.requests.size() == 1; }));
    socket.disconnect();
    EXPECT_TRUE(all_removed());
  }
  EXPECT_TRUE(run_until(loop, [&] { return host.disconnected; }));
}

TEST_F(LiveSocketTest, ClosesWhenTheWorkspaceDoesNotRespond) {
  workspace.responses.clear();
  auto socket = connect();
  socket.send(kHandshake);
  ASSERT_TRUE(socket.wait_for("\x03\xf5no response set"));
  EXPECT_TRUE(all_removed());
}

TEST_F(LiveSocketTest, RefusesExcessSocketsAndPlainRequests) {
  socket_limits.sockets = 1;
  auto one = open();
  auto two = connect();
  two.send(kHandshake);
  EXPECT_TRUE(two.wait_for("1 sockets are open already; try again later"));
  sockets->close("the daemon stops");
  EXPECT_TRUE(one.wait_for("\x03\xe9the daemon stops"));
  auto three = connect();
  three.send(net::get("/ws"));
  EXPECT_TRUE(three.wait_for("this path serves only WebSocket"));
  EXPECT_EQ(sockets->count(), 0u);
}

}  // namespace
}  // namespace relay::api
