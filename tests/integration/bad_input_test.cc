/// What a broken or hostile client may say. Each gets one sentence; the innocent one beside it notices nothing.
#include <gtest/gtest.h>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

struct BadInput : ::testing::Test {
  DaemonProcess daemon;
  std::unique_ptr<RawClient> innocent;
  std::unique_ptr<RawClient> listener;
  int sent = 0;

  void start() {
    ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
    innocent = std::make_unique<RawClient>(daemon.socket());
    listener = std::make_unique<RawClient>(daemon.socket());
    innocent->hello("Innocent");
    listener->hello("Listener");
  }

  void SetUp() override {
    daemon.environment["AGENT_RELAY_HEARTBEAT_MS"] = "1000";
    start();
  }

  /// True when the daemon gave up on that client; the others answer their heartbeats meanwhile.
  bool is_given_up(RawClient& client) {
    const auto deadline = std::chrono::steady_clock::now() + kTimeout;
    while (!client.is_closed(std::chrono::milliseconds{100}) && std::chrono::steady_clock::now() < deadline) {
      for (auto* other : {innocent.get(), listener.get()}) other->hear(std::chrono::milliseconds{0});
    }
    return client.is_closed(std::chrono::milliseconds{0});
  }

  /// The daemon lives and serves others as before.
  void expect_others_unaffected() {
    const std::string text = format("still here {}", ++sent);
    innocent->send("Listener", text, format("innocent-{}", sent));
    innocent->hear_type("ACK");
    EXPECT_EQ(listener->next_text(), text);
  }

  /// One ERROR with that code and a sentence that says what was wrong.
  void expect_error(RawClient& client, std::string_view code, std::string_view part, bool fatal) {
    const auto error = client.hear_type("ERROR");
    EXPECT_EQ(payload_text(error, "code"), code) << json::serialize(error);
    const std::string sentence = payload_text(error, "message");
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    const json::object* payload = object_member(error, "payload");
    ASSERT_NE(payload, nullptr);
    EXPECT_EQ(bool_member(*payload, "fatal"), fatal) << sentence;
  }
};

TEST_F(BadInput, OversizeFrameEndsTheConnectionAfterASentence) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.say_bytes(std::string{"\x00\x10\x00\x01", 4} + std::string(1 << 20, 'x') + "x");
  expect_error(bad, "BAD_REQUEST", "1048576", true);
  EXPECT_TRUE(bad.is_closed());
  expect_others_unaffected();
}

TEST_F(BadInput, OversizeFrameAsTheFirstOneIsRefusedByItsHeaderAlone) {
  RawClient bad{daemon.socket()};
  bad.say_bytes(std::string{"\x00\x7f\xff\xff{\"", 6});
  expect_error(bad, "BAD_REQUEST", "1048576", true);
  EXPECT_TRUE(bad.is_closed());
  expect_others_unaffected();
}

TEST_F(BadInput, TruncatedFrameThenSilenceIsGivenUp) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.answers_pings = false;
  bad.say_bytes(std::string{"\x00\x00\x01\x00{\"v\":1,", 11});
  EXPECT_TRUE(is_given_up(bad));
  expect_others_unaffected();
}

TEST_F(BadInput, TruncatedFrameBeforeHelloIsGivenUp) {
  RawClient bad{daemon.socket()};
  bad.say_bytes(std::string{"\x00\x00", 2});
  EXPECT_TRUE(is_given_up(bad));
  expect_others_unaffected();
}

TEST_F(BadInput, JsonThatIsNoObject) {
  for (const auto* body : {"5", "[]", "null", "\"text\"", "", "{", "{\"v\":1} trailing"}) {
    RawClient bad{daemon.socket()};
    bad.hello("Bad");
    bad.say(body);
    const auto error = bad.hear_type("ERROR");
    EXPECT_EQ(payload_text(error, "code"), "BAD_REQUEST") << body;
    EXPECT_FALSE(payload_text(error, "message").empty()) << body;
  }
  expect_others_unaffected();
}

TEST_F(BadInput, InvalidUtf8) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.say(envelope("SEND", "m-1", "{\"kind\":\"message\",\"body\":\"\xC3\x28\"}", R"("to":"Listener",)"));
  const auto error = bad.hear_type("ERROR");
  EXPECT_NE(payload_text(error, "message").find("UTF-8"), std::string::npos) << payload_text(error, "message");
  expect_others_unaffected();
}

TEST_F(BadInput, NestingBomb) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  const std::string bomb = std::string(200'000, '[') + std::string(200'000, ']');
  bad.say(envelope("SEND", "m-1", format(R"({{"kind":"message","body":"x","data":{{"a":{}}}}})", bomb),
                   R"("to":"Listener",)"));
  const auto error = bad.hear_type("ERROR");
  EXPECT_NE(payload_text(error, "message").find("deep"), std::string::npos) << payload_text(error, "message");
  expect_others_unaffected();
}

TEST_F(BadInput, UnknownTypeIsNamedAndTheConnectionLivesOn) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.say(envelope("TELEPORT", "m-1"));
  expect_error(bad, "BAD_REQUEST", "TELEPORT", false);
  bad.send("Listener", "after all", "m-2");
  bad.hear_type("ACK");
  EXPECT_EQ(listener->next_text(), "after all");
  expect_others_unaffected();
}

TEST_F(BadInput, SendBeforeHello) {
  RawClient bad{daemon.socket()};
  bad.say(envelope("SEND", "m-1", R"({"kind":"message","body":"x"})", R"("to":"Listener",)"));
  expect_error(bad, "BAD_REQUEST", "HELLO", false);
  bad.hello("Bad");  // it may still introduce itself
  expect_others_unaffected();
}

TEST_F(BadInput, SendBeforeHelloInALivingName) {
  RawClient bad{daemon.socket()};
  bad.say(envelope("SEND", "m-1", R"({"kind":"message","body":"x"})", R"("from":"Innocent","to":"Listener",)"));
  const auto answer = bad.hear();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(type_of(*answer), "NACK") << json::serialize(*answer);
  EXPECT_EQ(payload_text(*answer, "code"), "NOT_OWNER");
  EXPECT_NE(payload_text(*answer, "message").find("Innocent"), std::string::npos);
  expect_others_unaffected();
}

TEST_F(BadInput, ForgedFromIsReplacedByTheTruth) {
  RawClient bad{daemon.socket()};
  bad.hello("Bad");
  bad.say(envelope("SEND", "m-1", R"({"kind":"message","body":"trust me"})", R"("from":"Innocent","to":"Listener",)"));
  bad.hear_type("ACK");
  const auto deliver = listener->hear_type("DELIVER");
  EXPECT_EQ(string_member(deliver, "from"), "Bad");
  listener->say(envelope("ACK", "a", format(R"({{"ack_id":"{}","seq":1}})", *string_member(deliver, "id"))));
  expect_others_unaffected();
}

TEST_F(BadInput, NamesNobodyCouldRead) {
  const std::string endless(10'000, 'n');
  for (const std::string& name : {std::string{"with\\u0007bell"}, std::string{"two words"}, std::string{"line\\nbreak"},
                                  std::string{"*"}, std::string{""}, endless}) {
    RawClient bad{daemon.socket()};
    bad.say(envelope("HELLO", "h", format(R"({{"agent":"{}","capabilities":{{}}}})", name)));
    const auto error = bad.hear_type("ERROR");
    const std::string sentence = payload_text(error, "message");
    EXPECT_EQ(payload_text(error, "code"), "BAD_REQUEST") << sentence;
    EXPECT_FALSE(sentence.empty());
    EXPECT_LT(sentence.size(), 1'000U) << "an answer does not repeat ten thousand letters";
    EXPECT_EQ(sentence.find('\a'), std::string::npos);
  }
  expect_others_unaffected();
}

TEST_F(BadInput, MessagePackIsRefusedWithASentence) {
  RawClient bad{daemon.socket()};
  bad.say_bytes(std::string{"\x01\x00\x00\x00\x02\x81\xa1", 7});
  expect_error(bad, "BAD_REQUEST", "MessagePack", true);
  EXPECT_TRUE(bad.is_closed());
  expect_others_unaffected();
}

TEST_F(BadInput, NoiseIsNoProblem) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::string noise;
    for (unsigned i = 0, state = seed; i < 400; ++i) {
      state = state * 1664525U + 1013904223U;
      noise += static_cast<char>(state >> 24);
    }
    RawClient bad{daemon.socket()};
    bad.say_bytes(noise);
  }
  expect_others_unaffected();
}

TEST_F(BadInput, APeerThatNeverReadsIsLetGoAndOthersAreServed) {
  RawClient deaf{daemon.socket()};
  deaf.hello("Deaf");
  const std::string long_text(60'000, 'x');
  for (int i = 0; i < 400; ++i) innocent->send("Deaf", long_text, format("long-{}", i));
  for (int i = 0; i < 400; ++i) {
    const auto answer = innocent->hear();
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(type_of(*answer) == "ACK" || type_of(*answer) == "NACK") << json::serialize(*answer);
  }
  expect_others_unaffected();
}

}  // namespace
}  // namespace relay::integration
