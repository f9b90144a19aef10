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

/// One network with a door and a daemon behind it.
struct TwoPlaces final : net::Network {
  Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept) override { return fail("no"); }
  void connect(const std::string& path, net::OnConnect on_connect) override {
    if (!anybody) return on_connect(Failure{net::connect_now("/nowhere/at/all").error()});
    if (path == "/door") return door.connect(path, std::move(on_connect));
    daemon.connect(path, std::move(on_connect));
  }
  testing::ScriptedHost door;
  client::testing::ScriptedDaemon daemon;
  bool anybody = true;  // false: what the system says where nobody listens
};

struct WrappedAgentTest : ::testing::Test, RelayClientListener {
  client::testing::VirtualLoop loop;
  TwoPlaces places;
  SeededRandom random{5};
  HostedClient agent{
      loop, places, random, {.name = "Alice", .door = "/door", .socket_path = "/daemon", .claim_token = [] {
                               return "token";
                             }}};
  int told_of_mail = 0;
  std::string unknown;
  void on_message_available() override { ++told_of_mail; }
  void on_mail_unknown(const std::string& why) override { unknown = why; }

  std::string mail(InboxQuery wish) {
    agent.inbox(std::move(wish), [this](Result<InboxPage> mail) {
      last = mail ? "" : mail.error().message();
      if (mail)
        for (const auto& letter : mail->letters) last += letter.from + ":" + letter.to + ":" + letter.body + " ";
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

TEST_F(WrappedAgentTest, WatchesTheDoorForMail) {
  agent.start(*this);
  EXPECT_EQ(json::serialize(places.door.asked.at(0)), R"({"method":"watch"})");
  places.door.say({{"method", "watch"}, {"ok", true}});
  places.door.say({{"event", "state"}, {"state", "idle"}});
  places.door.say({{"event", "message"}, {"id", "m1"}, {"from", "Bob"}});
  EXPECT_EQ(told_of_mail, 1);
}

TEST_F(WrappedAgentTest, TakesItsMailFromTheHost) {
  agent.start(*this);
  mail({.take = true, .limit = 5, .ids = {"m1"}});
  EXPECT_EQ(json::serialize(places.door.asked.at(1)),
            R"({"method":"fetch","take":true,"limit":5,"ids":["m1"],"id":"m1"})");
  places.door.answer(
      parse_json_object(
          R"({"messages":[{"id":"m1","from":"Bob","to":"Alice","body":"hi","mode":"on-idle","pendingReason":"x"},)"
          R"({"id":"m2","from":"Bob","to":"*","thread":"t","body":"all","new":1},3],"more":false})")
          .value());
  EXPECT_EQ(last, "Bob::hi Bob:*:all ");
}

TEST_F(WrappedAgentTest, ReadsWhatCameWithALetter) {
  const auto mail = mail_from(
      parse_json_object(
          R"({"messages":[{"id":"m1","from":"Bob","body":"?","answerExpected":true,"attachments":)"
          R"([{"name":"a.txt","path":"/a.txt","bytes":3,"mediaType":"text/plain"},7]},{"id":"m2","from":"Bob"}]})")
          .value());
  EXPECT_TRUE(mail.letters.at(0).answer_expected);
  ASSERT_EQ(mail.letters[0].files.size(), 1U);
  EXPECT_EQ(mail.letters[0].files[0].path, "/a.txt");
  EXPECT_EQ(mail.letters[0].files[0].media_type, "text/plain");
  EXPECT_TRUE(mail.letters.at(1).files.empty());
}

TEST_F(WrappedAgentTest, SaysWhyTheHostSaidNo) {
  agent.start(*this);
  mail({.limit = 5});
  places.door.answer({{"ok", false}, {"error", "unknown request mail"}});
  EXPECT_EQ(last, "unknown request mail");
  mail({.limit = 5});
  loop.advance(Millis{6'000});
  EXPECT_NE(last.find("did not answer in time"), std::string::npos);
}

TEST_F(WrappedAgentTest, ALostDoorIsToldAndOpenedAgainWithTheNextQuestion) {
  agent.start(*this);
  mail({.limit = 5});
  places.door.close();
  EXPECT_NE(last.find("host of this agent cannot be reached"), std::string::npos);
  EXPECT_FALSE(unknown.empty());
  mail({.limit = 5});
  EXPECT_EQ(places.door.asked.size(), 4U);
  places.door.say_bytes("\xff\xff\xff\xff\xff nonsense");
  EXPECT_NE(last.find("cannot be reached"), std::string::npos);
  places.door.open = false;
  EXPECT_NE(mail({.limit = 5}).find("no one is listening"), std::string::npos);
}

TEST_F(WrappedAgentTest, SendsInTheNameOfTheAgentWithItsToken) {
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  const auto heard = places.daemon.heard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].type, "SEND");
  EXPECT_EQ(heard[0].id, "mcp-" + fingerprint_of("k", fingerprint_of("Bob", R"({"kind":"message","body":"hi"})")));
  EXPECT_EQ(string_member(heard[0].envelope, "from"), "Alice");
  EXPECT_EQ(string_member(heard[0].envelope, "claim_token"), "token");
  places.daemon.say(MessageType::Ack, "a", R"({"ack_id":"somebody else's"})");
  EXPECT_EQ(outcome, "nothing yet");
  places.daemon.say(MessageType::Ack, "a", format(R"({{"ack_id":"{}","short_id":"sh1"}})", heard[0].id));
  EXPECT_EQ(outcome, "stored sh1");
  loop.run_now();
}

TEST_F(WrappedAgentTest, AKeyStandsForOneMessageUnlessThatWasRefused) {
  const protocol::OutgoingSend first{.to = "Bob", .body = "hi", .meta = keyed("k")};
  send(first);
  const auto id = places.daemon.heard().at(0).id;
  places.daemon.say(MessageType::Nack, "n", format(R"({{"nack_id":"{}","code":"BUSY","message":"no"}})", id));
  EXPECT_EQ(outcome, "BUSY: no");
  send({.to = "Carol", .body = "hi", .meta = keyed("k")});
  const auto second = places.daemon.heard().at(0).id;
  EXPECT_NE(second, id) << "the daemon must not take it for the first";
  places.daemon.say(MessageType::Ack, "a", format(R"({{"ack_id":"{}","short_id":"sh2"}})", second));
  EXPECT_EQ(outcome, "stored sh2");
  send(first);
  EXPECT_NE(outcome.find("idempotency_key k was used for another message"), std::string::npos) << outcome;
  EXPECT_TRUE(places.daemon.heard().empty());
  send({.to = "Carol", .body = "hi", .meta = keyed("k")});
  EXPECT_EQ(places.daemon.heard().at(0).id, second);
  loop.run_now();
}

TEST_F(WrappedAgentTest, SaysWhatIsKnownWhenTheDaemonIsAway) {
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  places.daemon.cut();
  EXPECT_NE(outcome.find("whether it was stored is not known: send it again with idempotency_key k"), std::string::npos)
      << outcome;
  places.daemon.listening = false;
  send({.to = "Bob", .body = "hi"});
  EXPECT_NE(outcome.find("agent-relay up; then send it again; nothing was sent"), std::string::npos) << outcome;
}

TEST_F(WrappedAgentTest, SaysOnceWhatToDo) {
  places.anybody = false;
  send({.to = "Bob", .body = "hi"});
  EXPECT_EQ(
      outcome,
      "cannot reach the daemon: no one is listening; start it with: agent-relay up; then send it again; nothing was "
      "sent");
  agent.start(*this);
  EXPECT_EQ(unknown,
            "the host of this agent cannot be reached (no one is listening); whether it runs is shown by: agent-relay "
            "agents");
  loop.run_now();
}

TEST_F(WrappedAgentTest, ErrorAfterTheSendLeavesItsResultUnknown) {
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  places.daemon.say(MessageType::Error, "e", R"({"code":"INTERNAL","message":"the disk is full","fatal":true})");
  EXPECT_TRUE(outcome.starts_with("the disk is full; whether it was stored is not known: ")) << outcome;
  loop.run_now();
}

TEST_F(WrappedAgentTest, AsksTheDaemonAsTheCommandLineDoes) {
  std::string told;
  agent.ask(MessageType::ListAgents, "{}", Millis{1'000},
            [&](Result<json::object> answer) { told = answer ? json::serialize(*answer) : answer.error().message(); });
  EXPECT_EQ(places.daemon.heard().at(0).type, "HELLO");
  places.daemon.welcome();
  const auto asked = places.daemon.heard();
  ASSERT_EQ(asked.at(0).type, "LIST_AGENTS");
  places.daemon.say(MessageType::ListAgentsResponse, asked[0].id, R"({"agents":[]})");
  EXPECT_EQ(told, R"({"agents":[]})");
  loop.run_now();
  agent.ask(MessageType::ListAgents, "{}", Millis{1'000},
            [&](Result<json::object> answer) { told = answer.error().message(); });
  loop.advance(Millis{1'500});
  EXPECT_NE(told.find("did not answer in time"), std::string::npos);
}

TEST_F(WrappedAgentTest, HearsThatThePauseIsOver) {
  agent.start(*this);
  places.door.say({{"method", "watch"}, {"ok", true}});
  places.door.say({{"event", "pause"}, {"paused", true}});
  EXPECT_EQ(told_of_mail, 0);
  places.door.say({{"event", "pause"}, {"paused", false}});
  EXPECT_EQ(told_of_mail, 1);
  const auto held = mail_from(
      parse_json_object(R"({"messages":[{"id":"m1","from":"Bob","body":"x","silent":true}],"paused":true})").value());
  EXPECT_TRUE(held.paused && held.letters.at(0).quiet);
}

}  // namespace
}  // namespace relay::mcp
