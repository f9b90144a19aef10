#include "protocol/contract.h"

#include <gtest/gtest.h>

#include "protocol/limits.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

RelayMessage message_to(std::string_view to, std::string_view payload, std::string_view from = "Alice") {
  return message_from({.id = "k7mx2p9d", .from = from, .to = to, .payload = payload, .at = 17});
}

TEST(RelayMessage, IsBuiltFromStoredMessage) {
  const auto message = message_to("Bob", R"({"kind":"message","body":"see \"this\"","thread":"t-1","mentions":["Bob"],
      "data":{"x":1},"attachments":[{"name":"a.txt","path":"/tmp/a.txt","bytes":3,"sha256":"ab","mediaType":"text/plain"}]})");
  EXPECT_EQ(message.target, (MessageTarget{.type = TargetType::Dm, .name = "Bob"}));
  EXPECT_EQ(message.from, identity_of("Alice"));
  EXPECT_EQ(message.from.handle, "@Alice");
  EXPECT_EQ(message.text, "see \"this\"");
  EXPECT_EQ(message.thread, "t-1");
  EXPECT_EQ(message.mentions, std::vector<std::string>{"Bob"});
  EXPECT_EQ(message.metadata, R"({"x":1})");
  EXPECT_EQ(message.created_at, 17);
  ASSERT_EQ(message.attachments.size(), 1U);
  EXPECT_EQ(message.attachments[0].path, "/tmp/a.txt");
  EXPECT_EQ(message.attachments[0].bytes, 3);
}

TEST(RelayMessage, HasTarget) {
  EXPECT_EQ(message_to("#general", "{}").target, (MessageTarget{.type = TargetType::Channel, .name = "#general"}));
  EXPECT_EQ(message_to("*", "{}").target, (MessageTarget{.type = TargetType::Group, .agents = {"*"}}));
  EXPECT_EQ(message_to("dm:Alice:Bob", "{}").target,
            (MessageTarget{.type = TargetType::Group, .name = "dm:Alice:Bob", .agents = {"Alice", "Bob"}}));
  EXPECT_EQ(message_to("", R"({"thread":"t-1"})").target, (MessageTarget{.type = TargetType::Thread, .name = "t-1"}));
  EXPECT_EQ(message_to("Bob", "{}", "_router").from.kind, AgentKind::System);
}

TEST(RelayMessage, OmitsMembersOfAnotherForm) {
  const auto message =
      message_to("Bob", R"({"body":7,"mentions":"Bob","attachments":["x",{"bytes":-1},{"type":"text","text":"hi"}]})");
  EXPECT_EQ(message.text, "");
  EXPECT_TRUE(message.mentions.empty());
  ASSERT_EQ(message.attachments.size(), 1U);
  EXPECT_EQ(message.attachments[0].object, R"({"type":"text","text":"hi"})");
  EXPECT_EQ(message_to("Bob", "no JSON at all").text, "");
}

TEST(RelayMessage, FindsAttachmentsInData) {
  const auto message = message_to("Bob", R"({"data":{"attachments":[{"name":"a"}],"mentions":["Carol"]}})");
  EXPECT_EQ(message.attachments.at(0).name, "a");
  EXPECT_EQ(message.mentions.at(0), "Carol");
}

TEST(RelayMessage, RoundTrips) {
  for (const auto* to : {"Bob", "#general", "*", "dm:a:b", ""}) {
    const auto message = message_to(
        to, R"({"body":"hi","thread":"t","mentions":["Bob"],"data":{"x":[1]},"attachments":[{"name":"a","bytes":2}]})");
    const auto again = parse_message(write_message(message));
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(*again, message);
  }
  const auto system = message_to("Bob", "{}", "system");
  EXPECT_EQ(*parse_message(write_message(system)), system);
  for (const auto* bad : {"{}", R"({"id":"m","from":"Alice","target":{"type":"dm","agent":"B"}})",
                          R"({"id":"m","from":"system","target":{"type":"pigeon"}})"})
    EXPECT_FALSE(parse_message(bad)) << bad;
}

TEST(MessageContext, FollowsFromMessageAndItsOptions) {
  const auto direct = message_to("Bob", "{}");
  const auto plain = context_from("d-1", {}, {}, direct, "Bob");
  EXPECT_EQ(plain.id, "d-1");
  EXPECT_EQ(plain.mode, DeliveryMode::OnIdle);
  EXPECT_EQ(plain.reason, DeliveryReason::Dm);
  const auto context = context_from(
      "d-1", {},
      R"({"delivery":{"mode":"manual","priority":"urgent","deadline":99,"idempotencyKey":"k","metadata":{"a":1}}})",
      direct, "Bob");
  EXPECT_EQ(context.mode, DeliveryMode::Manual);
  EXPECT_EQ(context.priority, Priority::Urgent);
  EXPECT_EQ(context.deadline, 99);
  EXPECT_EQ(context.idempotency_key, "k");
  EXPECT_EQ(context.metadata, R"({"a":1})");
}

TEST(MessageContext, DaemonOverridesOptionsOfSender) {
  DeliveryView flushed;
  flushed.mode = DeliveryMode::OnIdle;
  flushed.attempt = 3;
  flushed.reason = DeliveryReason::ActionResult;
  const auto context =
      context_from("d-1", flushed, R"({"delivery":{"mode":"manual"}})", message_to("Bob", "{}"), "Bob");
  EXPECT_EQ(context.mode, DeliveryMode::OnIdle);
  EXPECT_EQ(context.attempt, 3U);
  EXPECT_EQ(context.reason, DeliveryReason::ActionResult);
}

TEST(MessageContext, HasReason) {
  const auto reason = [](const RelayMessage& message) { return context_from("d", {}, {}, message, "Bob").reason; };
  EXPECT_EQ(reason(message_to("#general", "{}")), DeliveryReason::Message);
  EXPECT_EQ(reason(message_to("#general", R"({"mentions":["Bob"]})")), DeliveryReason::Mention);
  EXPECT_EQ(reason(message_to("Bob", R"({"thread":"t"})")), DeliveryReason::ThreadReply);
  EXPECT_EQ(reason(message_to("Bob", "{}", "_consensus")), DeliveryReason::Notification);
}

TEST(DeliveryEvent, CarriesItsMessage) {
  const DeliveryEvent event{.type = DeliveryEventType::Failed,
                            .delivery_id = "d-k7mx2p9d",
                            .message = message_to("Bob", R"({"body":"hi"})"),
                            .agent = identity_of("Bob"),
                            .at = 5,
                            .state = "failed",
                            .proof = "accepted",
                            .reason = "it has ended",
                            .retryable = true,
                            .via = "callback"};
  const auto text = write_delivery_event(event);
  EXPECT_TRUE(text.starts_with(R"({"type":"delivery.failed","deliveryId":"d-k7mx2p9d","message":{"id":"k7mx2p9d",)"));
  const auto again = parse_delivery_event(text);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->message, event.message);
  EXPECT_EQ(again->agent, event.agent);
  EXPECT_EQ(again->reason, event.reason);
  EXPECT_TRUE(again->retryable);
  EXPECT_FALSE(parse_delivery_event(R"({"type":"delivery.lost","deliveryId":"d"})"));
}

TEST(DeliveryEvent, AlwaysFitsFrame) {
  std::string deep = "1";
  for (int i = 0; i < 61; ++i) deep = "[" + deep + "]";  // as deep as `data` may be in a SEND
  for (const auto& payload :
       {R"({"body":")" + std::string(900'000, 'x') + R"("})",
        R"({"data":{"x":")" + std::string(900'000, 'x') + R"("}})", R"({"data":{"x":)" + deep + "}}",
        R"({"attachments":[{"name":"a","data":")" + std::string(900'000, 'x') + R"("}]})"}) {
    const auto text = write_delivery_event({.message = message_to("Bob", payload), .agent = identity_of("Bob")});
    EXPECT_LT(text.size(), kMaxFrameBytes / 2);
    EXPECT_NE(text.find(R"("truncated":true)"), std::string::npos);
  }
}

TEST(SessionCapabilities, RoundTrip) {
  AgentSessionCapabilities can;
  can.delivery.modes.add(DeliveryMode::Immediate);
  can.delivery.modes.add(DeliveryMode::NextToolCall);
  can.messaging.attachments = {"text"};
  can.actions = {.invoke = true};
  can.lifecycle.pause = true;
  const auto again = parse_session_capabilities(write_session_capabilities(can));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->delivery.modes, can.delivery.modes);
  EXPECT_EQ(again->messaging.attachments, can.messaging.attachments);
  EXPECT_EQ(again->events.emits, std::vector<std::string>{"status.changed"});
  EXPECT_TRUE(again->actions->invoke && again->lifecycle.pause && !again->lifecycle.fork);

  Capabilities hello;
  ASSERT_TRUE(declare(can, hello));
  EXPECT_EQ(hello.modes, can.delivery.modes);
  EXPECT_TRUE(hello.pause);
  text::JsonWriter writer;
  writer.begin_object("capabilities").field("ack", true);
  write_contract(writer, hello);
  const auto parsed = parse_hello(R"({"agent":"A",)" + writer.end().take().substr(1));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->capabilities.modes, can.delivery.modes);
  EXPECT_TRUE(parsed->capabilities.pause);
  EXPECT_EQ(parse_session_capabilities(parsed->capabilities.contract)->actions->invoke, true);
}

TEST(SessionCapabilities, AreRefusedWhenTooLongForHello) {
  AgentSessionCapabilities can;
  can.events.emits.assign(200, "something.happened");
  Capabilities hello;
  EXPECT_FALSE(declare(can, hello));
}

}  // namespace
}  // namespace relay::protocol
