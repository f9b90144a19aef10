#include "protocol/outgoing_send.h"

#include <gtest/gtest.h>

#include "protocol/limits.h"
#include "text/json_scanner.h"

namespace relay::protocol {
namespace {

TEST(OutgoingSend, WritesOnlyTheFieldsThatAreSet) {
  const auto encoded = *encode_send({.to = "Bob", .body = "hi"});
  EXPECT_EQ(encoded.payload, R"({"kind":"message","body":"hi"})");
  EXPECT_EQ(encoded.payload_meta, "");
}

TEST(OutgoingSend, IsReadBackWithEveryField) {
  const OutgoingSend send{
      .to = "Bob",
      .body = "look",
      .kind = "action",
      .topic = "deploys",
      .thread = "t-1",
      .data = R"({"x":1})",
      .mentions = {"Carol"},
      .attachments = {{.name = "a.txt", .path = "/tmp/a.txt", .bytes = 3, .sha256 = "ab", .media_type = "text/plain"}},
      .meta = {.requires_ack = true,
               .ttl_ms = 60'000,
               .importance = 80,
               .reply_to = "k7mx2p9d",
               .sync = SyncRequest{.correlation_id = "c-1", .timeout_ms = 5'000, .blocking = true},
               .delivery = DeliveryOptions{.mode = DeliveryMode::Immediate,
                                           .priority = Priority::Urgent,
                                           .deadline = 99,
                                           .idempotency_key = "once"},
               .receipt_steps = true}};
  const auto encoded = encode_send(send);
  ASSERT_TRUE(encoded) << encoded.error().message();

  const auto view = *parse_send(encoded->payload);
  EXPECT_EQ(view.kind, MessageKind::Action);
  EXPECT_EQ(text::decode_string(view.body), "look");
  EXPECT_EQ(view.data, R"({"x":1})");
  const auto message = message_from({.id = "m", .from = "Alice", .to = "Bob", .payload = encoded->payload});
  EXPECT_EQ(message.thread, "t-1");
  EXPECT_EQ(message.mentions, std::vector<std::string>{"Carol"});
  EXPECT_EQ(message.attachments.at(0).path, "/tmp/a.txt");
  EXPECT_EQ(message.attachments.at(0).media_type, "text/plain");

  const auto meta = *parse_send_meta(encoded->payload_meta);
  EXPECT_TRUE(meta.requires_ack && meta.receipt_steps);
  EXPECT_EQ(meta.ttl_ms, 60'000);
  EXPECT_EQ(meta.importance, 80);
  EXPECT_EQ(meta.reply_to, "k7mx2p9d");
  EXPECT_EQ(meta.sync->correlation_id, "c-1");
  EXPECT_EQ(meta.sync->timeout_ms, 5'000);
  EXPECT_TRUE(meta.sync->blocking);
  EXPECT_EQ(meta.delivery->mode, DeliveryMode::Immediate);
  EXPECT_EQ(meta.delivery->priority, Priority::Urgent);
  EXPECT_EQ(meta.delivery->deadline, 99);
  EXPECT_EQ(meta.delivery->idempotency_key, "once");
}

TEST(OutgoingSend, LeavesOutDeliveryOptionsWithDefaults) {
  EXPECT_EQ(encode_send({.to = "Bob", .meta = {.delivery = DeliveryOptions{}}})->payload_meta, "");
  EXPECT_EQ(encode_send({.to = "Bob", .meta = {.delivery = DeliveryOptions{.idempotency_key = "k"}}})->payload_meta,
            R"({"delivery":{"idempotencyKey":"k"}})");
}

TEST(OutgoingSend, MovesImportanceAndTimeoutIntoTheirRange) {
  const auto meta = *parse_send_meta(
      encode_send({.to = "Bob",
                   .meta = {.importance = 400,
                            .sync = SyncRequest{.correlation_id = "c", .timeout_ms = kMaxSyncTimeoutMs + 1}}})
          ->payload_meta);
  EXPECT_EQ(meta.importance, 100);
  EXPECT_EQ(meta.sync->timeout_ms, kMaxSyncTimeoutMs);
}

TEST(OutgoingSend, ReplacesBytesThatAreNotUtf8InTheBody) {
  EXPECT_EQ(encode_send({.to = "Bob", .body = "a\xff"})->payload, "{\"kind\":\"message\",\"body\":\"a\uFFFD\"}");
}

TEST(OutgoingSend, RefusesFieldsBeyondTheirLimits) {
  const std::string long_id(kMaxIdBytes + 1, 'x');
  const OutgoingSend bad[] = {
      {},
      {.to = std::string(kMaxTopicBytes + 1, 'x')},
      {.to = "B\nob"},
      {.to = "Bob\xff"},
      {.to = "Bob", .kind = std::string(kMaxKindBytes + 1, 'x')},
      {.to = "Bob", .topic = "a\x1b[31m"},
      {.to = "Bob", .thread = "a\nb"},
      {.to = "Bob", .meta = {.reply_to = "a\x1b"}},
      {.to = "Bob", .meta = {.delivery = DeliveryOptions{.idempotency_key = "a\x7f"}}},
      {.to = "Bob", .meta = {.sync = SyncRequest{.correlation_id = "a\xc2\x85"}}},
      {.to = "Bob", .thread = long_id},
      {.to = "Bob", .data = "[1]"},
      {.to = "Bob", .data = "{\"a\":\"\xff\"}"},
      {.to = "Bob", .mentions = std::vector<std::string>(kMaxMentions + 1, "x")},
      {.to = "Bob", .attachments = std::vector<Attachment>(kMaxAttachments + 1, {.name = "a", .path = "/a"})},
      {.to = "Bob", .attachments = {{.name = "a", .path = "a"}}},
      {.to = "Bob", .attachments = {{.name = "", .path = "/a"}}},
      {.to = "Bob", .meta = {.ttl_ms = 0}},
      {.to = "Bob", .meta = {.ttl_ms = kMaxTtlMs + 1}},
      {.to = "Bob", .meta = {.reply_to = long_id}},
      {.to = "Bob", .meta = {.delivery = DeliveryOptions{.idempotency_key = long_id}}},
      {.to = "Bob", .meta = {.sync = SyncRequest{}}},
  };
  for (const auto& send : bad) {
    const auto encoded = encode_send(send);
    ASSERT_FALSE(encoded) << encoded->payload << encoded->payload_meta;
    EXPECT_EQ(nack_code_of(encoded.error()), NackCode::BadRequest) << encoded.error().message();
    EXPECT_GT(encoded.error().message().size(), 20U);
  }
}

TEST(OutgoingSend, RefusesMoreThanAFrameCanForward) {
  const std::string body(kMaxFrameBytes - kEnvelopeReserveBytes, 'x');
  const auto encoded = encode_send({.to = "Bob", .body = body});
  ASSERT_FALSE(encoded);
  EXPECT_EQ(nack_code_of(encoded.error()), NackCode::TooLarge);
  EXPECT_TRUE(encode_send({.to = "Bob", .body = body.substr(64)}));
}

}  // namespace
}  // namespace relay::protocol
