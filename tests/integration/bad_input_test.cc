/// Malformed and hostile input. The client gets an error of one message; other clients are unaffected.
#include <gtest/gtest.h>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

struct BadInput : ::testing::Test {
  DaemonProcess daemon;
  std::unique_ptr<RawClient> healthy;
  std::unique_ptr<RawClient> listener;
  int sent = 0;

  void start() {
    ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
    healthy = std::make_unique<RawClient>(daemon.socket());
    listener = std::make_unique<RawClient>(daemon.socket());
    healthy->hello("Healthy");
    listener->hello("Listener");
  }

  void SetUp() override {
    daemon.environment["AGENT_RELAY_HEARTBEAT_MS"] = "1000";
    start();
  }

  /// Whether the daemon disconnects the client; other clients answer heartbeats meanwhile.
  bool is_disconnected(RawClient& client) {
    const auto deadline = std::chrono::steady_clock::now() + kTimeout;
    while (!client.is_closed(std::chrono::milliseconds{100}) && std::chrono::steady_clock::now() < deadline) {
      for (auto* other : {healthy.get(), listener.get()}) other->receive(std::chrono::milliseconds{0});
    }
    return client.is_closed(std::chrono::milliseconds{0});
  }

  /// The daemon still serves other clients.
  void expect_others_unaffected() {
    const std::string text = format("message {}", ++sent);
    healthy->send("Listener", text, format("healthy-{}", sent));
    healthy->receive_type("ACK");
    EXPECT_EQ(listener->next_body(), text);
  }

  /// Expects an ERROR with this code and a message of one line that contains `part`.
  void expect_error(RawClient& client, std::string_view code, std::string_view part, bool fatal) {
    const auto error = client.receive_type("ERROR");
    EXPECT_EQ(payload_string(error, "code"), code) << json::serialize(error);
    const std::string message = payload_string(error, "message");
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    const json::object* payload = object_member(error, "payload");
    ASSERT_NE(payload, nullptr);
    EXPECT_EQ(bool_member(*payload, "fatal"), fatal) << message;
  }
};

TEST_F(BadInput, OversizeFrameGetsAnErrorAndADisconnect) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.send_bytes(std::string{"\x00\x10\x00\x01", 4} + std::string(1 << 20, 'x') + "x");
  expect_error(bad, "BAD_REQUEST", "1048576", true);
  EXPECT_TRUE(bad.is_closed());
  expect_others_unaffected();
}

TEST_F(BadInput, OversizeFirstFrameIsRefusedAtItsHeader) {
  RawClient bad{daemon.socket()};
  bad.send_bytes(std::string{"\x00\x7f\xff\xff{\"", 6});
  expect_error(bad, "BAD_REQUEST", "1048576", true);
  EXPECT_TRUE(bad.is_closed());
  expect_others_unaffected();
}

TEST_F(BadInput, ClientSilentAfterATruncatedFrameIsDisconnected) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.answers_pings = false;
  bad.send_bytes(std::string{"\x00\x00\x01\x00{\"v\":1,", 11});
  EXPECT_TRUE(is_disconnected(bad));
  expect_others_unaffected();
}

TEST_F(BadInput, TruncatedFrameBeforeHelloIsDisconnected) {
  RawClient bad{daemon.socket()};
  bad.send_bytes(std::string{"\x00\x00", 2});
  EXPECT_TRUE(is_disconnected(bad));
  expect_others_unaffected();
}

TEST_F(BadInput, JsonOtherThanAnObjectIsRefused) {
  for (const auto* body : {"5", "[]", "null", "\"text\"", "", "{", "{\"v\":1} trailing"}) {
    RawClient bad{daemon.socket()};
    bad.hello("Bad");
    bad.send_frame(body);
    const auto error = bad.receive_type("ERROR");
    EXPECT_EQ(payload_string(error, "code"), "BAD_REQUEST") << body;
    EXPECT_FALSE(payload_string(error, "message").empty()) << body;
  }
  expect_others_unaffected();
}

TEST_F(BadInput, InvalidUtf8IsRefused) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.send_frame(envelope("SEND", "m-1", "{\"kind\":\"message\",\"body\":\"\xC3\x28\"}", R"("to":"Listener",)"));
  const auto error = bad.receive_type("ERROR");
  EXPECT_NE(payload_string(error, "message").find("UTF-8"), std::string::npos) << payload_string(error, "message");
  expect_others_unaffected();
}

TEST_F(BadInput, NestingBombIsRefused) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  const std::string bomb = std::string(200'000, '[') + std::string(200'000, ']');
  bad.send_frame(envelope("SEND", "m-1", format(R"({{"kind":"message","body":"x","data":{{"a":{}}}}})", bomb),
                          R"("to":"Listener",)"));
  const auto error = bad.receive_type("ERROR");
  EXPECT_NE(payload_string(error, "message").find("deep"), std::string::npos) << payload_string(error, "message");
  expect_others_unaffected();
}

TEST_F(BadInput, UnknownTypeIsNamedAndTheConnectionStaysOpen) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.send_frame(envelope("TELEPORT", "m-1"));
  expect_error(bad, "BAD_REQUEST", "TELEPORT", false);
  bad.send("Listener", "after all", "m-2");
  bad.receive_type("ACK");
  EXPECT_EQ(listener->next_body(), "after all");
  expect_others_unaffected();
}

TEST_F(BadInput, SendBeforeHelloIsRefused) {
  RawClient bad{daemon.socket()};
  bad.send_frame(envelope("SEND", "m-1", R"({"kind":"message","body":"x"})", R"("to":"Listener",)"));
  expect_error(bad, "BAD_REQUEST", "HELLO", false);
  bad.hello("Bad");  // HELLO is still accepted
  expect_others_unaffected();
}

TEST_F(BadInput, SendBeforeHelloInTheNameOfAConnectedAgentIsRefused) {
  RawClient bad{daemon.socket()};
  bad.send_frame(envelope("SEND", "m-1", R"({"kind":"message","body":"x"})", R"("from":"Healthy","to":"Listener",)"));
  const auto response = bad.receive();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(type_of(*response), "NACK") << json::serialize(*response);
  EXPECT_EQ(payload_string(*response, "code"), "NOT_OWNER");
  EXPECT_NE(payload_string(*response, "message").find("Healthy"), std::string::npos);
  expect_others_unaffected();
}

TEST_F(BadInput, ForgedFromIsReplacedByTheSessionsName) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.send_frame(
      envelope("SEND", "m-1", R"({"kind":"message","body":"trust me"})", R"("from":"Healthy","to":"Listener",)"));
  bad.receive_type("ACK");
  const auto deliver = listener->receive_type("DELIVER");
  EXPECT_EQ(string_member(deliver, "from"), "Bad");
  listener->send_frame(envelope("ACK", "a", format(R"({{"ack_id":"{}","seq":1}})", *string_member(deliver, "id"))));
  expect_others_unaffected();
}

TEST_F(BadInput, UnreadableNamesAreRefused) {
  const std::string endless(10'000, 'n');
  for (const std::string& name : {std::string{"with\\u0007bell"}, std::string{"two words"}, std::string{"line\\nbreak"},
                                  std::string{"*"}, std::string{""}, endless}) {
    RawClient bad{daemon.socket()};
    bad.send_frame(envelope("HELLO", "h", format(R"({{"agent":"{}","capabilities":{{}}}})", name)));
    const auto error = bad.receive_type("ERROR");
    const std::string message = payload_string(error, "message");
    EXPECT_EQ(payload_string(error, "code"), "BAD_REQUEST") << message;
    EXPECT_FALSE(message.empty());
    EXPECT_LT(message.size(), 1'000U) << "an error does not repeat ten thousand characters";
    EXPECT_EQ(message.find('\a'), std::string::npos);
  }
  expect_others_unaffected();
}

TEST_F(BadInput, MessagePackIsRefusedWithAReason) {
  RawClient bad{daemon.socket()};
  bad.send_bytes(std::string{"\x01\x00\x00\x00\x02\x81\xa1", 7});
  expect_error(bad, "BAD_REQUEST", "MessagePack", true);
  EXPECT_TRUE(bad.is_closed());
  expect_others_unaffected();
}

TEST_F(BadInput, RandomBytesDoNotAffectOthers) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::string noise;
    for (unsigned i = 0, state = seed; i < 400; ++i) {
      state = state * 1664525U + 1013904223U;
      noise += static_cast<char>(state >> 24);
    }
    RawClient bad{daemon.socket()};
    bad.send_bytes(noise);
  }
  expect_others_unaffected();
}

TEST_F(BadInput, PeerThatNeverReadsDoesNotBlockOthers) {
  RawClient stalled{daemon.socket()};
  stalled.hello("Stalled");
  const std::string long_text(60'000, 'x');
  for (int i = 0; i < 400; ++i) healthy->send("Stalled", long_text, format("long-{}", i));
  for (int i = 0; i < 400; ++i) {
    const auto response = healthy->receive();
    ASSERT_TRUE(response.has_value());
    ASSERT_TRUE(type_of(*response) == "ACK" || type_of(*response) == "NACK") << json::serialize(*response);
  }
  expect_others_unaffected();
}

}  // namespace
}  // namespace relay::integration
