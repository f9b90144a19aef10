#include "session/message_draft.h"

#include <gtest/gtest.h>

namespace relay::session {
namespace {

TEST(MessageDraft, BecomesASendWithEveryField) {
  const auto encoded =
      encode_draft({.to = "Bob",
                    .text = "look",
                    .thread = "t-1",
                    .reply_to = "k7mx2p9d",
                    .mentions = {"Carol"},
                    .attachments = {{.name = "a.txt", .path = "/tmp/a.txt", .bytes = 3, .sha256 = "ab"}},
                    .metadata = R"({"x":1})"},
                   {.mode = protocol::DeliveryMode::Immediate,
                    .priority = protocol::Priority::Urgent,
                    .deadline = 99,
                    .idempotency_key = "once"});
  ASSERT_TRUE(encoded) << encoded.error().message();
  const auto message = protocol::message_from({.id = "m", .from = "Alice", .to = "Bob", .payload = encoded->payload});
  EXPECT_EQ(message.text, "look");
  EXPECT_EQ(message.thread, "t-1");
  EXPECT_EQ(message.mentions, std::vector<std::string>{"Carol"});
  EXPECT_EQ(message.attachments.at(0).path, "/tmp/a.txt");
  EXPECT_EQ(message.metadata, R"({"x":1})");
  const auto meta = protocol::parse_send_meta(encoded->payload_meta);
  ASSERT_TRUE(meta) << meta.error().message();
  EXPECT_EQ(meta->reply_to, "k7mx2p9d");
  EXPECT_EQ(meta->delivery->mode, protocol::DeliveryMode::Immediate);
  EXPECT_EQ(meta->delivery->priority, protocol::Priority::Urgent);
  EXPECT_EQ(meta->delivery->deadline, 99);
  EXPECT_EQ(meta->delivery->idempotency_key, "once");
}

TEST(MessageDraft, LeavesOutDefaultDeliveryOptions) {
  EXPECT_EQ(encode_draft({.to = "Bob", .text = "hi"}, {})->payload_meta, "");
}

TEST(MessageDraft, InvalidDraftIsRefused) {
  for (const auto& bad :
       {MessageDraft{.to = "", .text = "hi"}, MessageDraft{.to = "Bob", .text = "hi", .metadata = "[1]"},
        MessageDraft{.to = "Bob", .text = "hi", .metadata = "{\"a\":\"\xff\"}"},
        MessageDraft{.to = "Bob", .text = "hi", .attachments = {{.name = "a", .path = "a"}}},
        MessageDraft{.to = "Bob", .text = "hi", .attachments = {{.name = "", .path = "/a"}}},
        MessageDraft{.to = "Bob", .text = "hi", .attachments = std::vector<protocol::Attachment>(17)}}) {
    const auto encoded = encode_draft(bad, {});
    ASSERT_FALSE(encoded);
    EXPECT_GT(encoded.error().message().size(), 20U);
  }
}

}  // namespace
}  // namespace relay::session
