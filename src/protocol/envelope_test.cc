#include "protocol/envelope.h"
#include "text/json_errors.h"

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "protocol/limits.h"

namespace relay::protocol {
namespace {

const std::string kSend =
    R"({"v":1,"type":"SEND","id":"m-001","ts":1734440000100,"to":"codex-1","topic":"chat",)"
    R"("payload":{"kind":"message","body":"Your turn","data":{}},"payload_meta":{"requires_ack":true}})";

std::string quoted(const std::string& text) { return format("\"{}\"", text); }

template <class Code>
bool refused(std::string_view frame, Code code) {
  const auto result = parse_envelope(frame);
  return !result && is(result.error(), code);
}

/// A good frame with one member changed.
std::string with(std::string_view member, std::string_view value) {
  std::string frame = R"({"v":1,"type":"SEND","id":"x")";
  if (member == "v")
    frame = format(R"({{"v":{},"type":"SEND","id":"x")", value);
  else if (member == "type")
    frame = format(R"({{"v":1,"type":{},"id":"x")", value);
  else if (member == "id")
    frame = format(R"({{"v":1,"type":"SEND","id":{})", value);
  else if (member != "payload")
    frame += format(",\"{}\":{}", member, value);
  return frame + format(",\"payload\":{}}}", member == "payload" ? value : "{}");
}

TEST(Envelope, IsReadWithoutTouchingPayload) {
  const auto envelope = *parse_envelope(kSend);
  EXPECT_EQ(envelope.type, MessageType::Send);
  EXPECT_EQ(envelope.id, "m-001");
  EXPECT_EQ(envelope.ts, 1734440000100);
  EXPECT_EQ(envelope.from, "");
  EXPECT_EQ(envelope.to, "codex-1");
  EXPECT_EQ(envelope.topic, "chat");
  EXPECT_EQ(envelope.payload, R"({"kind":"message","body":"Your turn","data":{}})");
  EXPECT_EQ(envelope.payload_meta, R"({"requires_ack":true})");
  EXPECT_EQ(envelope.delivery, "");
  EXPECT_EQ(envelope.decoded, nullptr);
}

TEST(Envelope, ResolvesEscapesAndKeepsThemWhenMoved) {
  auto first = parse_envelope(
      R"({"v":1,"type":"SEND","id":"a\u002fb","from":"Zo\u00eb","to":"\uD83E\uDD16","topic":"plain","payload":{}})");
  ASSERT_TRUE(first);
  const Envelope moved = *std::move(first);
  EXPECT_EQ(moved.id, "a/b");
  EXPECT_EQ(moved.from, "Zoë");
  EXPECT_EQ(moved.to, "🤖");
  EXPECT_EQ(moved.topic, "plain");
}

TEST(Envelope, IgnoresUnknownMembers) { EXPECT_TRUE(parse_envelope(with("later", R"({"deep":[1,2,{"x":null}]})"))); }

TEST(Envelope, TreatsNullAsAbsent) {
  for (const auto* member : {"from", "to", "topic", "payload_meta", "delivery", "ts"}) {
    EXPECT_TRUE(parse_envelope(with(member, "null"))) << member;
  }
}

TEST(Envelope, AcceptsAnySenderTime) {
  EXPECT_EQ(parse_envelope(with("to", "\"x\""))->ts, 0);
  EXPECT_EQ(parse_envelope(with("ts", "1.5e3"))->ts, 1500);
  EXPECT_EQ(parse_envelope(with("ts", "12.75"))->ts, 12);
  EXPECT_EQ(parse_envelope(with("ts", "1e999"))->ts, 0);
  EXPECT_TRUE(refused(with("ts", "\"now\""), Errc::BadField));
}

TEST(Envelope, AcceptsVersionOneOnly) {
  EXPECT_TRUE(parse_envelope(with("v", "1.0")));
  for (const auto* other : {"2", "0", "\"1\"", "true", "1.5"}) EXPECT_TRUE(refused(with("v", other), Errc::BadField));
  EXPECT_TRUE(refused(R"({"type":"PONG","id":"x","payload":{}})", Errc::MissingField));
}

TEST(Envelope, ErrorNamesUnknownType) {
  const auto result = parse_envelope(with("type", "\"DANCE\""));
  ASSERT_FALSE(result);
  EXPECT_TRUE(is(result.error(), Errc::UnknownType));
  EXPECT_EQ(result.error().message(), "unknown message type \"DANCE\"");
  EXPECT_LT(parse_envelope(with("type", quoted(std::string(100'000, 'X')))).error().message().size(), 100u);
  EXPECT_TRUE(refused(with("type", "5"), Errc::BadField));
  EXPECT_TRUE(refused(R"({"v":1,"id":"x","payload":{}})", Errc::MissingField));
}

TEST(Envelope, RequiresId) {
  EXPECT_TRUE(refused(R"({"v":1,"type":"PONG","payload":{}})", Errc::MissingField));
  EXPECT_TRUE(refused(with("id", "null"), Errc::MissingField));
  EXPECT_TRUE(refused(with("id", "\"\""), Errc::BadField));
  EXPECT_TRUE(refused(with("id", "5"), Errc::BadField));
  EXPECT_TRUE(refused(with("id", R"("a\u0000b")"), Errc::BadField));
  EXPECT_TRUE(parse_envelope(with("id", quoted(std::string(kMaxIdBytes, 'i')))));
  EXPECT_TRUE(refused(with("id", quoted(std::string(kMaxIdBytes + 1, 'i'))), Errc::BadField));
}

TEST(Envelope, RequiresPayloadObject) {
  EXPECT_TRUE(refused(R"({"v":1,"type":"PONG","id":"x"})", Errc::MissingField));
  for (const auto* other : {"null", "[]", "\"x\"", "5"}) EXPECT_TRUE(refused(with("payload", other), Errc::BadField));
  EXPECT_TRUE(refused(with("payload_meta", "[]"), Errc::BadField));
  EXPECT_TRUE(refused(with("delivery", "5"), Errc::BadField));
}

TEST(Envelope, EnforcesLimitsOfStrings) {
  EXPECT_TRUE(refused(with("to", quoted(std::string(10'000, 'n'))), Errc::BadField));
  EXPECT_TRUE(refused(with("from", quoted(std::string(kMaxNameBytes + 1, 'n'))), Errc::BadField));
  EXPECT_TRUE(refused(with("topic", quoted(std::string(kMaxTopicBytes + 1, 'n'))), Errc::BadField));
  EXPECT_TRUE(refused(with("to", R"("a\u001b[2J")"), Errc::BadField));
  EXPECT_TRUE(refused(with("to", "[\"a\"]"), Errc::BadField));
  EXPECT_EQ(parse_envelope(with("to", "7")).error().message(), "the field \"to\" must be a string");
}

TEST(Envelope, RefusesInvalidUtf8) {
  for (const auto* bytes : {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_TRUE(refused(with("payload", format("{{\"body\":\"{}\"}}", bytes)), text::JsonErrc::BadUtf8));
  }
}

TEST(Envelope, RefusesOtherJson) {
  EXPECT_TRUE(refused("5", text::JsonErrc::NotAnObject));
  EXPECT_TRUE(refused("[]", text::JsonErrc::NotAnObject));
  EXPECT_TRUE(refused("", text::JsonErrc::BadJson));
  EXPECT_TRUE(refused("hello", text::JsonErrc::BadJson));
  EXPECT_TRUE(refused(kSend + "x", text::JsonErrc::BadJson));
}

TEST(Envelope, RefusesMalformedJsonInPayload) {
  for (const auto* bad : {R"({"a":tru})", R"({"a":"\ud800"})", R"({"a":1,})", R"({"a":01})"}) {
    EXPECT_TRUE(refused(with("payload", bad), text::JsonErrc::BadJson)) << bad;
  }
}

TEST(Envelope, RefusesNestingBombInPayload) {
  EXPECT_TRUE(refused(with("payload", "{\"a\":" + std::string(50'000, '[') + std::string(50'000, ']') + "}"),
                      text::JsonErrc::TooDeep));
}

TEST(Envelope, RefusesDuplicateField) {
  EXPECT_TRUE(refused(with("id\":\"y\",\"to", "\"z\""), text::JsonErrc::BadJson));
}

TEST(Envelope, RefusesTruncationAtEveryByte) {
  for (std::size_t cut = 0; cut < kSend.size(); ++cut) EXPECT_FALSE(parse_envelope(kSend.substr(0, cut))) << cut;
}

TEST(Envelope, OmitsAbsentFields) {
  EXPECT_EQ(write_envelope({.type = MessageType::Bye, .id = "b", .ts = 5}),
            R"({"v":1,"type":"BYE","id":"b","ts":5,"payload":{}})");
}

TEST(Envelope, RoundTrips) {
  const std::string text = write_envelope({.type = MessageType::Deliver,
                                           .id = "d\"1",
                                           .ts = 7,
                                           .from = "Zoë",
                                           .to = "Bob",
                                           .topic = "a\\b",
                                           .payload = R"({"body":"x"})",
                                           .payload_meta = R"({"ttl_ms":1})",
                                           .delivery = R"({"seq":1})"});
  const auto envelope = *parse_envelope(text);
  EXPECT_EQ(envelope.type, MessageType::Deliver);
  EXPECT_EQ(envelope.id, "d\"1");
  EXPECT_EQ(envelope.ts, 7);
  EXPECT_EQ(envelope.from, "Zoë");
  EXPECT_EQ(envelope.to, "Bob");
  EXPECT_EQ(envelope.topic, "a\\b");
  EXPECT_EQ(envelope.payload, R"({"body":"x"})");
  EXPECT_EQ(envelope.payload_meta, R"({"ttl_ms":1})");
  EXPECT_EQ(envelope.delivery, R"({"seq":1})");
}

TEST(Errors, EachHasADescription) {
  for (int code = 0; code <= static_cast<int>(Errc::UnknownType); ++code) {
    EXPECT_FALSE(describe(static_cast<Errc>(code)).empty());
  }
}

}  // namespace
}  // namespace relay::protocol
