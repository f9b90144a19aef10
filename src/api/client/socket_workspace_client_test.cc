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
struct Following final : WorkspaceClient::EventListener {
  std::vector<std::string> told;
  SocketWorkspaceClient* again = nullptr;  // followed from the beginning when another log is there

  void on_event(std::uint64_t number, std::string_view) override { told.push_back(format("{}", number)); }
  void on_disconnected(const std::string&) override { told.emplace_back("cut"); }
  void on_log_replaced() override {
    told.emplace_back("other log");
    if (again != nullptr) again->follow(0, this);
  }
};

struct SocketWorkspaceClientTest : ::testing::Test {
  client::testing::VirtualLoop loop;
  client::testing::ScriptedDaemon daemon;
  SeededRandom random{5};
  SocketWorkspaceClient link{loop, daemon, random, {.id = "p", .root = "/p", .socket = "/p/relay.sock"}};
  std::vector<Result<json::object>> answers;

  void ask(MessageType type = MessageType::Status) {
    link.request(type, {}, [this](Result<json::object> answer) { answers.push_back(std::move(answer)); });
    loop.run_now();
  }
  /// The id of the only request of that type since the last call.
  std::string question(std::string_view type = "STATUS") {
    std::string id;
    for (const auto& frame : daemon.heard())
      if (frame.type == type) id = frame.id;
    return id;
  }
  void expect_answered(std::string_view version) {
    const auto id = question();
    ASSERT_FALSE(id.empty()) << "it was not asked";
    daemon.say(MessageType::StatusResponse, id, format(R"({{"version":"{}"}})", version));
    loop.run_now();
    ASSERT_FALSE(answers.empty());
    ASSERT_TRUE(answers.back().has_value()) << answers.back().error().message();
    EXPECT_EQ(string_member(*answers.back(), "version"), version);
  }
  void send_away(std::string_view code) {
    daemon.say(MessageType::Error, "e", format(R"({{"code":"{}","message":"go","fatal":true}})", code));
    loop.run_now();
  }
  void happen(int number) {
    daemon.say(MessageType::AgentEvent, "v", format(R"({{"event":{{"type":"x","_seq":{}}}}})", number));
  }
  std::vector<std::int64_t> subscribed() {
    std::vector<std::int64_t> since;
    for (const auto& frame : daemon.heard())
      if (frame.type == "EVENTS_SUBSCRIBE") since.push_back(integer_member(frame.payload, "since").value_or(-2));
    return since;
  }
};

TEST_F(SocketWorkspaceClientTest, FatalErrorFailsPendingRequestsAndNextRequestOpensALink) {
  ask();
  daemon.welcome();
  loop.run_now();
  expect_answered("1");

  ask();  // put, and not answered
  send_away("DUPLICATE_CONNECTION");
  ASSERT_EQ(answers.size(), 2u) << "requests fail when the link does not come back";
  EXPECT_TRUE(is(answers.back().error(), Errc::Lost)) << answers.back().error().message();

  const auto before = daemon.connects;
  ask();
  EXPECT_EQ(daemon.connects, before + 1) << "a new link";
  daemon.welcome();
  loop.run_now();
  expect_answered("2");
  EXPECT_FALSE(link.is_disconnected());
}

TEST_F(SocketWorkspaceClientTest, RefusedHelloFailsPendingRequests) {
  ask();
  ask();
  send_away("UNAUTHORIZED");
  ASSERT_EQ(answers.size(), 2u);
  for (const auto& answer : answers) EXPECT_TRUE(is(answer.error(), Errc::Lost));
  ask();
  daemon.welcome();
  loop.run_now();
  expect_answered("1");
}

TEST_F(SocketWorkspaceClientTest, RequestDuringLinkStopUsesTheNextLink) {
  ask();
  daemon.welcome();
  loop.run_now();
  expect_answered("1");
  daemon.say(MessageType::Error, "e", R"({"code":"BUSY","message":"go","fatal":true})");
  link.request(MessageType::Status, {}, [this](Result<json::object> answer) { answers.push_back(std::move(answer)); });
  loop.run_now();  // only now the old link is thrown away
  daemon.welcome();
  loop.run_now();
  expect_answered("2");
}

TEST_F(SocketWorkspaceClientTest, StoppedFeedResumesAtItsPosition) {
  Following following;
  link.follow(3, &following);
  loop.run_now();
  daemon.welcome("s", "t", "store-1");
  EXPECT_EQ(subscribed(), std::vector<std::int64_t>{3});
  happen(4);
  send_away("BUSY");
  loop.advance(Millis{2'000});
  ASSERT_TRUE(daemon.connected());
  daemon.welcome("s", "t", "store-1");
  EXPECT_EQ(subscribed(), std::vector<std::int64_t>{4});
  happen(5);
  EXPECT_EQ(following.told, (std::vector<std::string>{"4", "cut", "5"}));
  link.follow(0, nullptr);
}

TEST_F(SocketWorkspaceClientTest, NewStoreIsDetectedByItsId) {
  Following following;
  following.again = &link;
  link.follow(3, &following);
  loop.run_now();
  daemon.welcome("s", "t", "store-1");
  happen(4);
  daemon.cut();
  loop.advance(Millis{2'000});
  ASSERT_TRUE(daemon.connected());
  (void)daemon.heard();
  daemon.welcome("s", "t", "store-2");
  EXPECT_EQ(subscribed(), std::vector<std::int64_t>{0}) << "once, and from the beginning";
  happen(1);
  happen(2);
  EXPECT_EQ(following.told, (std::vector<std::string>{"4", "cut", "other log", "1", "2"}));
  link.follow(0, nullptr);
}

}  // namespace
}  // namespace relay::api
