#include "mcp/hosted_client.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"
#include "mcp/testing/keyed.h"
#include "mcp/testing/scripted_host.h"
#include "net/unix_address.h"

namespace relay::mcp {
namespace {

using protocol::MessageType;
using testing::keyed;

/// A network with a host and a daemon.
struct HostAndDaemon final : net::Network {
  Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept) override { return fail("no"); }
  void connect(const std::string& path, net::OnConnect on_connect) override {
    if (!listening) return on_connect(Failure{net::connect_now("/nowhere/at/all").error()});
    if (path == "/host") return host.connect(path, std::move(on_connect));
    daemon.connect(path, std::move(on_connect));
  }
  testing::ScriptedHost host;
  client::testing::ScriptedDaemon daemon;
  bool listening = true;  // false: connecting fails as without a listener
};

struct HostedClientTest : ::testing::Test, RelayClientListener {
  client::testing::VirtualLoop loop;
  HostAndDaemon network;
  SeededRandom random{5};
  HostedClient agent{
      loop, network, random, {.name = "Alice", .host_socket = "/host", .socket_path = "/daemon", .claim_token = [] {
                                return "token";
                              }}};
  int notices = 0;
  std::string unknown;
  void on_message_available() override { ++notices; }
  void on_inbox_unavailable(const std::string& why) override { unknown = why; }

  std::string page(InboxQuery query) {
    agent.inbox(std::move(query), [this](Result<InboxPage> page) {
      last = page ? "" : page.error().message();
      if (page)
        for (const auto& message : page->messages) last += message.from + ":" + message.to + ":" + message.body + " ";
    });
    return last;
  }
  std::string last = "nothing yet";
  std::string outcome = "nothing yet";
  void send(protocol::OutgoingSend message) {
    agent.send(std::move(message),
               [this](Result<SendResult> sent) { outcome = sent ? "stored " + sent->id : sent.error().message(); });
  }
};

TEST_F(HostedClientTest, WatchesTheHostForMessages) {
  agent.start(*this);
  EXPECT_EQ(json::serialize(network.host.requests.at(0)), R"({"method":"watch"})");
  network.host.send({{"method", "watch"}, {"ok", true}});
  network.host.send({{"event", "state"}, {"state", "idle"}});
  network.host.send({{"event", "message"}, {"id", "m1"}, {"from", "Bob"}});
  EXPECT_EQ(notices, 1);
}

TEST_F(HostedClientTest, TakesMessagesFromTheHost) {
  agent.start(*this);
  page({.take = true, .limit = 5, .ids = {"m1"}});
  EXPECT_EQ(json::serialize(network.host.requests.at(1)),
            R"({"method":"fetch","take":true,"limit":5,"ids":["m1"],"id":"m1"})");
  network.host.answer(
      parse_json_object(
          R"({"messages":[{"id":"m1","from":"Bob","to":"Alice","body":"hi","mode":"on-idle","pendingReason":"x"},)"
          R"({"id":"m2","from":"Bob","to":"*","thread":"t","body":"all","new":1},3],"more":false})")
          .value());
  EXPECT_EQ(last, "Bob::hi Bob:*:all ");
}

TEST_F(HostedClientTest, ReadsAttachmentsAndAuthority) {
  const auto page = parse_inbox_page(
      parse_json_object(
          R"({"messages":[{"id":"m1","from":"Bob","body":"?","answerExpected":true,"attachments":)"
          R"([{"name":"a.txt","path":"/a.txt","bytes":3,"mediaType":"text/plain"},7]},{"id":"m2","from":"Bob"}]})")
          .value());
  EXPECT_TRUE(page.messages.at(0).answer_expected);
  ASSERT_EQ(page.messages[0].files.size(), 1U);
  EXPECT_EQ(page.messages[0].files[0].path, "/a.txt");
  EXPECT_EQ(page.messages[0].files[0].media_type, "text/plain");
  EXPECT_TRUE(page.messages.at(1).files.empty());
}

TEST_F(HostedClientTest, ReportsTheReasonOfARejection) {
  agent.start(*this);
  page({.limit = 5});
  network.host.answer({{"ok", false}, {"error", "unknown method mail"}});
  EXPECT_EQ(last, "unknown method mail");
  page({.limit = 5});
  loop.advance(Millis{6'000});
  EXPECT_NE(last.find("did not respond in time"), std::string::npos);
}

TEST_F(HostedClientTest, NextRequestReconnectsAfterALoss) {
  agent.start(*this);
  page({.limit = 5});
  network.host.close();
  EXPECT_NE(last.find("cannot reach the host of this agent"), std::string::npos);
  EXPECT_FALSE(unknown.empty());
  page({.limit = 5});
  EXPECT_EQ(network.host.requests.size(), 4U);
  network.host.send_bytes("\xff\xff\xff\xff\xff nonsense");
  EXPECT_NE(last.find("cannot reach"), std::string::npos);
  network.host.open = false;
  EXPECT_NE(page({.limit = 5}).find("no one is listening"), std::string::npos);
}

TEST_F(HostedClientTest, SendsAsTheAgentWithItsClaimToken) {
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  const auto frames = network.daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "SEND");
  EXPECT_EQ(frames[0].id, "mcp-" + fingerprint_of("k", fingerprint_of("Bob", R"({"kind":"message","body":"hi"})")));
  EXPECT_EQ(string_member(frames[0].envelope, "from"), "Alice");
  EXPECT_EQ(string_member(frames[0].envelope, "claim_token"), "token");
  network.daemon.send(MessageType::Ack, "a", R"({"ack_id":"another"})");
  EXPECT_EQ(outcome, "nothing yet");
  network.daemon.send(MessageType::Ack, "a", format(R"({{"ack_id":"{}","short_id":"sh1"}})", frames[0].id));
  EXPECT_EQ(outcome, "stored sh1");
  loop.run_now();
}

TEST_F(HostedClientTest, KeyNamesOneMessageUnlessItWasRefused) {
  const protocol::OutgoingSend first{.to = "Bob", .body = "hi", .meta = keyed("k")};
  send(first);
  const auto id = network.daemon.take_frames().at(0).id;
  network.daemon.send(MessageType::Nack, "n", format(R"({{"nack_id":"{}","code":"BUSY","message":"no"}})", id));
  EXPECT_EQ(outcome, "BUSY: no");
  send({.to = "Carol", .body = "hi", .meta = keyed("k")});
  const auto second = network.daemon.take_frames().at(0).id;
  EXPECT_NE(second, id) << "the daemon must not treat it as a duplicate of the first";
  network.daemon.send(MessageType::Ack, "a", format(R"({{"ack_id":"{}","short_id":"sh2"}})", second));
  EXPECT_EQ(outcome, "stored sh2");
  send(first);
  EXPECT_NE(outcome.find("idempotency_key k was used for another message"), std::string::npos) << outcome;
  EXPECT_TRUE(network.daemon.take_frames().empty());
  send({.to = "Carol", .body = "hi", .meta = keyed("k")});
  EXPECT_EQ(network.daemon.take_frames().at(0).id, second);
  loop.run_now();
}

TEST_F(HostedClientTest, OfflineDaemonIsReportedWithTheResultOfTheSend) {
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  network.daemon.disconnect();
  EXPECT_NE(outcome.find("it is unknown whether it was stored: send it again with idempotency_key k"),
            std::string::npos)
      << outcome;
  network.daemon.listening = false;
  send({.to = "Bob", .body = "hi"});
  EXPECT_NE(outcome.find("agent-relay up; then send it again; nothing was sent"), std::string::npos) << outcome;
}

TEST_F(HostedClientTest, ErrorNamesTheNextStepOnce) {
  network.listening = false;
  send({.to = "Bob", .body = "hi"});
  EXPECT_EQ(
      outcome,
      "cannot reach the daemon: no one is listening; start it with: agent-relay up; then send it again; nothing was "
      "sent");
  agent.start(*this);
  EXPECT_EQ(unknown,
            "cannot reach the host of this agent: no one is listening; list running agents with: agent-relay agents");
  loop.run_now();
}

TEST_F(HostedClientTest, ErrorAfterTheSendLeavesItsResultUnknown) {
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  network.daemon.send(MessageType::Error, "e", R"({"code":"INTERNAL","message":"the disk is full","fatal":true})");
  EXPECT_TRUE(outcome.starts_with("the disk is full; it is unknown whether it was stored: ")) << outcome;
  loop.run_now();
}

TEST_F(HostedClientTest, RequestsGoToTheDaemonAsTheSystem) {
  std::string result;
  agent.request(MessageType::ListAgents, "{}", Millis{1'000}, [&](Result<json::object> answer) {
    result = answer ? json::serialize(*answer) : answer.error().message();
  });
  EXPECT_EQ(network.daemon.take_frames().at(0).type, "HELLO");
  network.daemon.welcome();
  const auto requests = network.daemon.take_frames();
  ASSERT_EQ(requests.at(0).type, "LIST_AGENTS");
  network.daemon.send(MessageType::ListAgentsResponse, requests[0].id, R"({"agents":[]})");
  EXPECT_EQ(result, R"({"agents":[]})");
  loop.run_now();
  agent.request(MessageType::ListAgents, "{}", Millis{1'000},
                [&](Result<json::object> answer) { result = answer.error().message(); });
  loop.advance(Millis{1'500});
  EXPECT_NE(result.find("did not respond in time"), std::string::npos);
}

TEST_F(HostedClientTest, EndOfAPauseAnnouncesMessages) {
  agent.start(*this);
  network.host.send({{"method", "watch"}, {"ok", true}});
  network.host.send({{"event", "pause"}, {"paused", true}});
  EXPECT_EQ(notices, 0);
  network.host.send({{"event", "pause"}, {"paused", false}});
  EXPECT_EQ(notices, 1);
  const auto held = parse_inbox_page(
      parse_json_object(R"({"messages":[{"id":"m1","from":"Bob","body":"x","silent":true}],"paused":true})").value());
  EXPECT_TRUE(held.paused && held.messages.at(0).silent);
}

}  // namespace
}  // namespace relay::mcp
