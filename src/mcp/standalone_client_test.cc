#include "mcp/standalone_client.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/memory_directory.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"
#include "mcp/testing/keyed.h"
#include "net/unix_address.h"

namespace relay::mcp {
namespace {

using protocol::MessageType;
using testing::keyed;

struct StandaloneClientTest : ::testing::Test, RelayClientListener {
  client::testing::VirtualLoop loop;
  client::testing::ScriptedDaemon daemon;
  client::testing::MemoryDirectory directory;
  SeededRandom random{3};
  std::unique_ptr<client::Outbox> outbox = open_outbox();
  std::unique_ptr<StandaloneClient> session = make_session();
  int notices = 0;
  std::string unknown;

  std::unique_ptr<client::Outbox> open_outbox() {
    return client::Outbox::open(directory, "o", {}, client::SyncOn::Transmission, random).value();
  }
  std::unique_ptr<StandaloneClient> make_session() {
    return std::make_unique<StandaloneClient>(
        loop, daemon, random, *outbox,
        StandaloneClientOptions{.socket_path = "/s", .name = "Alice", .claim_token = "c", .project_root = "/p"});
  }
  void on_message_available() override { ++notices; }
  void on_inbox_unavailable(const std::string& why) override { unknown = why; }

  void start_ready() {
    session->start(*this);
    daemon.welcome();
    (void)daemon.take_frames();
    loop.advance(Millis{600});
  }
  void deliver(int seq, std::string_view body, std::string_view payload = "") {
    daemon.send(
        MessageType::Deliver, format("d-{}", seq),
        payload.empty() ? format(R"({{"kind":"message","body":"{}","thread":"t"}})", body) : std::string{payload},
        "Bob", "", format(R"({{"seq":{},"session_id":"s1","messageId":"m{}"}})", seq, seq));
    loop.run_now();
  }
  std::string outcome = "nothing";
  void send(protocol::OutgoingSend message) {
    session->send(std::move(message), [this](Result<SendResult> sent) {
      outcome = !sent ? sent.error().message() : sent->spooled ? "spooled" : "stored " + sent->id;
    });
  }
  std::string page(InboxQuery query) {
    std::string all = "nothing yet";
    session->inbox(std::move(query), [&](Result<InboxPage> page) {
      all = page ? "" : page.error().message();
      if (page)
        for (const auto& message : page->messages) all += message.id + ":" + message.body + " ";
    });
    return all;
  }
  std::vector<std::string> receipts() {
    std::vector<std::string> all;
    for (const auto& frame : daemon.take_frames())
      if (frame.type == "RECEIPT")
        all.push_back(string_member(frame.payload, "status").value_or("") + " " +
                      string_member(frame.payload, "proof").value_or(""));
    return all;
  }
  std::string last_send_id() {
    std::string id;
    for (const auto& frame : daemon.take_frames())
      if (frame.type == "SEND") id = frame.id;
    return id;
  }
  void ack(const std::string& id) {
    daemon.send(MessageType::Ack, "a", format(R"({{"ack_id":"{}","short_id":"sh1","recipients":1}})", id));
  }
};

TEST_F(StandaloneClientTest, ReportsTheAckOfASend) {
  start_ready();
  send({.to = "Bob", .body = "hi"});
  EXPECT_EQ(outcome, "nothing");
  ack(last_send_id());
  EXPECT_EQ(outcome, "stored sh1");
}

TEST_F(StandaloneClientTest, SpoolsWhileTheDaemonIsOffline) {
  daemon.listening = false;
  session->start(*this);
  loop.run_now();
  send({.to = "Bob", .body = "hi"});
  EXPECT_EQ(outcome, "spooled");
  EXPECT_EQ(session->status().unsent, 1U);
  daemon.listening = true;
  loop.advance(Millis{1'000});
  daemon.welcome();
  ack(last_send_id());
  EXPECT_EQ(session->status().unsent, 0U);
}

TEST_F(StandaloneClientTest, SpoolsWhenTheAckIsLate) {
  start_ready();
  send({.to = "Bob", .body = "hi"});
  loop.advance(Millis{2'500});
  EXPECT_EQ(outcome, "spooled");
}

TEST_F(StandaloneClientTest, KeyIsSentOnceAcrossRestarts) {
  daemon.listening = false;
  session->start(*this);
  loop.run_now();
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  EXPECT_EQ(outbox->size(), 1U);
  session.reset();
  outbox.reset();
  directory.crash();
  outbox = open_outbox();
  session = make_session();
  daemon.listening = true;
  session->start(*this);
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  EXPECT_EQ(outbox->size(), 1U);
  daemon.welcome();
  ack(last_send_id());
  EXPECT_EQ(outcome, "stored sh1");
  outcome = "nothing";
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  EXPECT_EQ(outcome, "stored sh1");
  EXPECT_TRUE(outbox->empty());
}

TEST_F(StandaloneClientTest, LateRefusalBecomesANotice) {
  start_ready();
  const auto refuse = [&] {
    daemon.send(MessageType::Nack, "n",
                format(R"({{"nack_id":"{}","code":"UNKNOWN_RECIPIENT","message":"no such agent"}})", last_send_id()));
  };
  send({.to = "Bbo", .body = "hi"});
  refuse();
  EXPECT_EQ(outcome, "UNKNOWN_RECIPIENT: no such agent");
  EXPECT_EQ(page({.limit = 9}), "");
  send({.to = "Bbo", .body = "hi"});
  loop.advance(Millis{2'500});
  refuse();
  EXPECT_NE(page({.take = true, .limit = 9}).find("your message to Bbo was spooled"), std::string::npos);
  EXPECT_EQ(notices, 1);
}

TEST_F(StandaloneClientTest, KeyNamesOneMessage) {
  start_ready();
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  ack(last_send_id());
  EXPECT_EQ(outcome, "stored sh1");
  for (const auto& other : {protocol::OutgoingSend{.to = "Carol", .body = "hi", .meta = keyed("k")},
                            protocol::OutgoingSend{.to = "Bob", .body = "ho", .meta = keyed("k")}}) {
    send(other);
    EXPECT_NE(outcome.find("idempotency_key k was used for another message"), std::string::npos) << outcome;
  }
  EXPECT_EQ(last_send_id(), "");
}

TEST_F(StandaloneClientTest, KeyNamesOneMessageAcrossRestarts) {
  daemon.listening = false;
  session->start(*this);
  loop.run_now();
  send({.to = "Bob", .body = "a \"quoted\" word", .meta = keyed("k")});
  session.reset();
  outbox.reset();
  outbox = open_outbox();
  session = make_session();
  session->start(*this);
  loop.run_now();
  send({.to = "Bob", .body = "another", .meta = keyed("k")});
  EXPECT_NE(outcome.find("used for another message"), std::string::npos) << outcome;
  send({.to = "Bob", .body = "a \"quoted\" word", .meta = keyed("k")});
  EXPECT_EQ(outcome, "spooled");
  EXPECT_EQ(outbox->size(), 1U);
}

TEST_F(StandaloneClientTest, RefusedMessageFreesItsKey) {
  start_ready();
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  daemon.send(MessageType::Nack, "n",
              format(R"({{"nack_id":"{}","code":"UNKNOWN_RECIPIENT","message":"no such agent"}})", last_send_id()));
  EXPECT_EQ(outcome, "UNKNOWN_RECIPIENT: no such agent");
  send({.to = "Bob", .body = "hi", .meta = keyed("k")});
  ack(last_send_id());
  EXPECT_EQ(outcome, "stored sh1");
}

TEST_F(StandaloneClientTest, TakenMessageIsReportedAsSeen) {
  start_ready();
  deliver(1, "one");
  deliver(2, "two");
  EXPECT_EQ(notices, 2);
  EXPECT_EQ(receipts(), (std::vector<std::string>{"accepted ", "accepted "}));
  EXPECT_EQ(page({.limit = 9}), "m1:one m2:two ");
  EXPECT_TRUE(receipts().empty());
  EXPECT_EQ(page({.take = true, .limit = 9, .ids = {"m2"}}), "m2:two ");
  EXPECT_EQ(receipts(), std::vector<std::string>{"delivered seen"});
  EXPECT_EQ(page({.take = true, .limit = 9}), "m1:one ");
  EXPECT_EQ(page({.take = true, .limit = 9}), "");
}

TEST_F(StandaloneClientTest, FullWindowReportsMore) {
  session->start(*this);
  std::int64_t window = 0;
  for (const auto& frame : daemon.take_frames())
    if (const auto* can = object_member(frame.payload, "capabilities"))
      window = integer_member(*can, "max_inflight").value_or(0);
  EXPECT_EQ(window, kWindow);
  daemon.welcome();
  loop.advance(Millis{600});
  const auto more = [&] {
    bool found = false;
    session->inbox({.limit = 5'000}, [&](Result<InboxPage> page) { found = page->more; });
    return found;
  };
  for (int seq = 1; seq < static_cast<int>(kWindow); ++seq) deliver(seq, "x");
  EXPECT_FALSE(more());
  deliver(static_cast<int>(kWindow), "x");
  EXPECT_TRUE(more());
}

TEST_F(StandaloneClientTest, HoldsOnlyTheReturnedPartOfABody) {
  start_ready();
  deliver(1, std::string(100'000, 'x'));
  session->inbox({.limit = 1}, [&](Result<InboxPage> page) {
    const auto& message = page->messages.at(0);
    EXPECT_EQ(message.body.size(), 16U * 1024);
    EXPECT_EQ(message.bytes, 100'000U);
  });
}

TEST_F(StandaloneClientTest, TakenMessageIsNotReturnedAfterAReconnection) {
  start_ready();
  deliver(1, "one");
  EXPECT_EQ(page({.take = true, .limit = 9}), "m1:one ");
  daemon.disconnect();
  loop.advance(Millis{300});
  daemon.welcome();
  (void)daemon.take_frames();
  deliver(1, "one");
  EXPECT_EQ(receipts(), std::vector<std::string>{"delivered seen"});
  EXPECT_EQ(page({.take = true, .limit = 9}), "");
}

TEST_F(StandaloneClientTest, ExpiredMessageIsNotReturned) {
  start_ready();
  daemon.send_bytes([] {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four,
                           protocol::write_envelope({.type = MessageType::Deliver,
                                                     .id = "d-1",
                                                     .ts = 1,
                                                     .from = "Bob",
                                                     .payload = R"({"body":"old"})",
                                                     .payload_meta = R"({"ttl_ms":5})",
                                                     .delivery = R"({"seq":1,"session_id":"s1","messageId":"m1"})"}));
    return bytes;
  }());
  loop.run_now();
  (void)daemon.take_frames();
  EXPECT_EQ(page({.take = true, .limit = 9}), "");
  EXPECT_EQ(receipts(), std::vector<std::string>{"failed "});
}

TEST_F(StandaloneClientTest, EarlyInboxQueryWaitsForTheFirstMessages) {
  session->start(*this);
  std::string got = "nothing yet";
  session->inbox({.take = true, .limit = 9}, [&](Result<InboxPage> page) { got = page->messages.at(0).body; });
  daemon.welcome();
  std::string query;
  for (const auto& frame : daemon.take_frames())
    if (frame.type == "INBOX") query = frame.id;
  daemon.send(MessageType::InboxResponse, query, R"({"messages":[{"id":"m1"}]})");
  EXPECT_EQ(got, "nothing yet");
  deliver(1, "one");
  EXPECT_EQ(got, "one");
}

TEST_F(StandaloneClientTest, RequestsFailWhileTheDaemonIsOffline) {
  daemon.listening = false;
  session->start(*this);
  std::string error;
  session->request(MessageType::ListAgents, "{}", Millis{100},
                   [&](Result<json::object> answer) { error = answer.error().message(); });
  loop.run_now();
  EXPECT_NE(error.find("agent-relay up"), std::string::npos);
  EXPECT_NE(page({.limit = 9}).find("agent-relay up"), std::string::npos);
}

TEST_F(StandaloneClientTest, ErrorNamesTheStartCommandOnce) {
  /// Connecting fails as without a listener.
  struct Nowhere final : net::Network {
    Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept) override { return fail("no"); }
    void connect(const std::string&, net::OnConnect on_connect) override {
      on_connect(Failure{net::connect_now("/nowhere/at/all").error()});
    }
  } nowhere;
  session = std::make_unique<StandaloneClient>(loop, nowhere, random, *outbox,
                                               StandaloneClientOptions{"/s", "Alice", "c", "/p"});
  session->start(*this);
  loop.run_now();
  EXPECT_EQ(page({.limit = 9}),
            "cannot reach the daemon at /nowhere/at/all: no one is listening; start it with: agent-relay up");
  session.reset();
}

TEST_F(StandaloneClientTest, FatalErrorIsReported) {
  start_ready();
  daemon.send(MessageType::Error, "e", R"({"code":"UNAUTHORIZED","message":"the name is taken","fatal":true})");
  EXPECT_NE(unknown.find("the name is taken"), std::string::npos);
  send({.to = "Bob", .body = "hi"});
  EXPECT_NE(outcome.find("the name is taken"), std::string::npos);
  EXPECT_TRUE(outbox->empty());
}

TEST_F(StandaloneClientTest, HelloDeclaresItsCapabilities) {
  session->start(*this);
  const auto hello = daemon.take_frames().at(0);
  EXPECT_EQ(json::serialize(hello.payload.at("capabilities").at("delivery")),
            R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"],"queue":true})");
  EXPECT_EQ(hello.payload.at("capabilities").at("lifecycle").at("pause"), json::value(true));
}

TEST_F(StandaloneClientTest, PausedInboxIsReadableOnRequest) {
  start_ready();
  daemon.send(MessageType::Pause, "p", R"({"paused":true,"reason":"lunch"})");
  deliver(1, "hi");
  EXPECT_EQ(notices, 0) << "a waiting call is not woken";
  session->inbox({.limit = 9}, [](Result<InboxPage> page) { EXPECT_TRUE(page->paused); });
  EXPECT_EQ(page({.limit = 9}), "m1:hi ");
  daemon.send(MessageType::Pause, "p", R"({"paused":false})");
  loop.run_now();
  EXPECT_EQ(notices, 1);
}

TEST_F(StandaloneClientTest, FlushAnnouncesAMessage) {
  start_ready();
  const auto deliver = [&](int seq, int lane) {
    daemon.send(MessageType::Deliver, "d-1", R"({"kind":"message","body":"hi"})", "Bob", "",
                format(R"({{"seq":{},"session_id":"s1","messageId":"m1","lane":{},"mode":"{}"}})", seq, lane,
                       lane == 0 ? "on-idle" : "manual"));
    loop.run_now();
  };
  deliver(1, protocol::lane_code(protocol::Lane{protocol::DeliveryMode::Manual}));
  session->inbox({.limit = 9}, [](Result<InboxPage> page) { EXPECT_TRUE(page->messages.at(0).held()); });
  const auto before = notices;
  deliver(7, 0);
  EXPECT_EQ(notices, before + 1);
  session->inbox({.limit = 9}, [](Result<InboxPage> page) { EXPECT_TRUE(page->messages.at(0).wakes()); });
}

TEST_F(StandaloneClientTest, ReadsAttachmentsAndExpectedAnswers) {
  start_ready();
  std::string frame;
  protocol::append_frame(
      frame, protocol::HeaderStyle::Four,
      protocol::write_envelope(
          {.type = MessageType::Deliver,
           .id = "d-1",
           .ts = 1,
           .from = "Bob",
           .payload =
               R"({"kind":"message","body":"?","data":{"attachments":[{"name":"a.txt","path":"/a.txt","bytes":3,)"
               R"("sha256":"00","mediaType":"text/plain"},{"name":"nowhere"},5]}})",
           .payload_meta = R"({"sync":{"correlationId":"c","blocking":true}})",
           .delivery = R"({"seq":1,"session_id":"s1","messageId":"m1"})"}));
  daemon.send_bytes(frame);
  loop.run_now();
  session->inbox({.limit = 9}, [](Result<InboxPage> page) {
    const auto& message = page->messages.at(0);
    EXPECT_TRUE(message.answer_expected);
    ASSERT_EQ(message.files.size(), 1U);
    EXPECT_EQ(message.files[0].path, "/a.txt");
    EXPECT_EQ(message.files[0].bytes, 3U);
    EXPECT_EQ(message.files[0].media_type, "text/plain");
  });
}

TEST_F(StandaloneClientTest, RedeliveredMessageHasItsOwnExpiry) {
  start_ready();
  const auto deliver = [&](int seq, WallMs end) {
    std::string frame;
    const auto id = format("d-{}", seq);
    protocol::append_frame(
        frame, protocol::HeaderStyle::Four,
        protocol::write_envelope(
            {.type = MessageType::Deliver,
             .id = id,
             .ts = 1,
             .from = "Bob",
             .payload = R"({"kind":"message","body":"hi"})",
             .payload_meta = R"({"ttl_ms":1000})",
             .delivery = format(R"({{"seq":{},"session_id":"s1","messageId":"m{}","expiresAt":{}}})", seq, seq, end)}));
    daemon.send_bytes(frame);
    loop.run_now();
  };
  deliver(1, 0);
  deliver(2, loop.now().wall + 500);
  EXPECT_EQ(page({.limit = 9}), "m1:hi m2:hi ");
  loop.advance(Millis{1'000});
  EXPECT_EQ(page({.limit = 9}), "m1:hi ");
}

TEST_F(StandaloneClientTest, CancelledMessageIsNotReturned) {
  start_ready();
  deliver(1, "one");
  deliver(2, "two");
  daemon.send(MessageType::Cancel, "c", R"({"deliveryId":"d-1"})");
  EXPECT_EQ(page({.limit = 9}), "m2:two ");
}

TEST_F(StandaloneClientTest, ReceiptNamesMcpAsVia) {
  start_ready();
  deliver(1, "one");
  (void)daemon.take_frames();
  (void)page({.take = true, .limit = 9});
  const auto receipt = daemon.take_frames().back().payload;
  EXPECT_EQ(string_member(receipt, "via"), "mcp");
  EXPECT_EQ(string_member(receipt, "proof"), "seen");
  EXPECT_EQ(string_member(receipt, "evidence"), "mcp m1");
}

}  // namespace
}  // namespace relay::mcp
