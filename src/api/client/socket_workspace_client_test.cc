#include "api/client/socket_workspace_client.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/errors.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"

namespace relay::api {
namespace {

using client::Errc;
using protocol::MessageType;

/// Records the calls of a listener as text.
struct RecordingListener final : WorkspaceClient::EventListener {
  std::vector<std::string> calls;
  SocketWorkspaceClient* refollow = nullptr;  // follows again from the start when the log is replaced

  void on_event(std::uint64_t number, std::string_view) override { calls.push_back(format("{}", number)); }
  void on_disconnected(const std::string&) override { calls.emplace_back("cut"); }
  void on_log_replaced() override {
    calls.emplace_back("other log");
    if (refollow != nullptr) refollow->follow(0, this);
  }
};

struct SocketWorkspaceClientTest : ::testing::Test {
  client::testing::VirtualLoop loop;
  client::testing::ScriptedDaemon daemon;
  SeededRandom random{5};
  SocketWorkspaceClient workspace{loop, daemon, random, {.id = "p", .root = "/p", .socket = "/p/relay.sock"}};
  std::vector<Result<json::object>> responses;

  void request(MessageType type = MessageType::Status) {
    workspace.request(type, {}, [this](Result<json::object> response) { responses.push_back(std::move(response)); });
    loop.run_now();
  }
  /// The id of the only request of that type since the last call.
  std::string request_id(std::string_view type = "STATUS") {
    std::string id;
    for (const auto& frame : daemon.take_frames())
      if (frame.type == type) id = frame.id;
    return id;
  }
  void expect_response(std::string_view version) {
    const auto id = request_id();
    ASSERT_FALSE(id.empty()) << "no request";
    daemon.send(MessageType::StatusResponse, id, format(R"({{"version":"{}"}})", version));
    loop.run_now();
    ASSERT_FALSE(responses.empty());
    ASSERT_TRUE(responses.back().has_value()) << responses.back().error().message();
    EXPECT_EQ(string_member(*responses.back(), "version"), version);
  }
  void send_fatal(std::string_view code) {
    daemon.send(MessageType::Error, "e", format(R"({{"code":"{}","message":"go","fatal":true}})", code));
    loop.run_now();
  }
  void emit(int number) {
    daemon.send(MessageType::AgentEvent, "v", format(R"({{"event":{{"type":"x","_seq":{}}}}})", number));
  }
  std::vector<std::int64_t> subscribed() {
    std::vector<std::int64_t> since;
    for (const auto& frame : daemon.take_frames())
      if (frame.type == "EVENTS_SUBSCRIBE") since.push_back(integer_member(frame.payload, "since").value_or(-2));
    return since;
  }
};

TEST_F(SocketWorkspaceClientTest, FatalErrorFailsPendingRequestsAndNextRequestOpensALink) {
  request();
  daemon.welcome();
  loop.run_now();
  expect_response("1");

  request();  // sent, without a response
  send_fatal("DUPLICATE_CONNECTION");
  ASSERT_EQ(responses.size(), 2u) << "requests fail when the link does not reconnect";
  EXPECT_TRUE(is(responses.back().error(), Errc::Lost)) << responses.back().error().message();

  const auto before = daemon.connects;
  request();
  EXPECT_EQ(daemon.connects, before + 1) << "a new link";
  daemon.welcome();
  loop.run_now();
  expect_response("2");
  EXPECT_FALSE(workspace.is_disconnected());
}

TEST_F(SocketWorkspaceClientTest, RefusedHelloFailsPendingRequests) {
  request();
  request();
  send_fatal("UNAUTHORIZED");
  ASSERT_EQ(responses.size(), 2u);
  for (const auto& response : responses) EXPECT_TRUE(is(response.error(), Errc::Lost));
  request();
  daemon.welcome();
  loop.run_now();
  expect_response("1");
}

TEST_F(SocketWorkspaceClientTest, RequestDuringLinkStopUsesTheNextLink) {
  request();
  daemon.welcome();
  loop.run_now();
  expect_response("1");
  daemon.send(MessageType::Error, "e", R"({"code":"BUSY","message":"go","fatal":true})");
  workspace.request(MessageType::Status, {},
                    [this](Result<json::object> response) { responses.push_back(std::move(response)); });
  loop.run_now();  // the old link is destroyed here
  daemon.welcome();
  loop.run_now();
  expect_response("2");
}

TEST_F(SocketWorkspaceClientTest, StoppedFeedResumesAtItsPosition) {
  RecordingListener listener;
  workspace.follow(3, &listener);
  loop.run_now();
  daemon.welcome("s", "t", "store-1");
  EXPECT_EQ(subscribed(), std::vector<std::int64_t>{3});
  emit(4);
  send_fatal("BUSY");
  loop.advance(Millis{2'000});
  ASSERT_TRUE(daemon.connected());
  daemon.welcome("s", "t", "store-1");
  EXPECT_EQ(subscribed(), std::vector<std::int64_t>{4});
  emit(5);
  EXPECT_EQ(listener.calls, (std::vector<std::string>{"4", "cut", "5"}));
  workspace.follow(0, nullptr);
}

TEST_F(SocketWorkspaceClientTest, NewStoreIsDetectedByItsId) {
  RecordingListener listener;
  listener.refollow = &workspace;
  workspace.follow(3, &listener);
  loop.run_now();
  daemon.welcome("s", "t", "store-1");
  emit(4);
  daemon.disconnect();
  loop.advance(Millis{2'000});
  ASSERT_TRUE(daemon.connected());
  (void)daemon.take_frames();
  daemon.welcome("s", "t", "store-2");
  EXPECT_EQ(subscribed(), std::vector<std::int64_t>{0}) << "once, and from the start";
  emit(1);
  emit(2);
  EXPECT_EQ(listener.calls, (std::vector<std::string>{"4", "cut", "other log", "1", "2"}));
  workspace.follow(0, nullptr);
}

}  // namespace
}  // namespace relay::api
