#include "client/hello_frame.h"

#include "base/json.h"

namespace relay::client {
namespace {

TEST(HelloFrame, IsReadBackWithEveryField) {
  protocol::Hello hello;
  hello.agent = "Alice";
  hello.capabilities.send_ack = true;
  hello.capabilities.resume = true;
  hello.capabilities.receipts = true;
  hello.capabilities.max_inflight = 17;
  hello.capabilities.outbox = "0123456789abcdef";
  hello.entity = protocol::EntityType::User;
  hello.cli = "claude";
  hello.team = "blue";
  hello.resume_token = "token";
  hello.claim_token = "mine";
  const auto read = protocol::parse_hello(write_hello(hello));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->agent, "Alice");
  EXPECT_TRUE(read->capabilities.send_ack && read->capabilities.resume && read->capabilities.receipts);
  EXPECT_EQ(read->capabilities.max_inflight, 17U);
  EXPECT_EQ(read->capabilities.outbox, hello.capabilities.outbox);
  EXPECT_EQ(read->entity, protocol::EntityType::User);
  EXPECT_EQ(read->cli, "claude");
  EXPECT_EQ(read->team, "blue");
  EXPECT_EQ(read->resume_token, "token");
  EXPECT_EQ(read->claim_token, "mine");
}

TEST(HelloFrame, LeavesOutEmptyFields) {
  protocol::Hello hello;
  hello.agent = "Alice";
  const auto object = parse_json_object(write_hello(hello));
  ASSERT_TRUE(object);
  EXPECT_FALSE(object->contains("session"));
  EXPECT_FALSE(object->contains("cli"));
  EXPECT_FALSE(object->contains("entityType"));
}

}  // namespace
}  // namespace relay::client
