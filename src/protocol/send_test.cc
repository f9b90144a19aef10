#include "protocol/send.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"

namespace relay::protocol {
namespace {

std::string spliced(const std::string& payload, std::string_view members = R"("_x":1)") {
  const auto view = parse_send(payload);
  EXPECT_TRUE(view.has_value()) << payload;
  auto text = splice_data(payload, *view, members);
  EXPECT_TRUE(parse_send(text).has_value()) << text;
  return text;
}

TEST(Send, IsReadAsSlicesOfPayload) {
  const std::string payload = R"({"kind":"action","body":"a\nb","data":{"x":[1]},"thread":"t-1","more":true})";
  const auto view = *parse_send(payload);
  EXPECT_EQ(view.kind, MessageKind::Action);
  EXPECT_EQ(view.kind_name, "action");
  EXPECT_EQ(view.thread, "t-1");
  EXPECT_EQ(view.body, R"("a\nb")");
  EXPECT_EQ(view.data, R"({"x":[1]})");
  EXPECT_EQ(view.data.data(), payload.data() + payload.find(R"({"x")"));
}

TEST(Send, DefaultsToKindMessage) {
  EXPECT_EQ(parse_send("{}")->kind, MessageKind::Message);
  EXPECT_EQ(parse_send("{}")->kind_name, "message");
  for (const auto kind : {MessageKind::Message, MessageKind::Action, MessageKind::State, MessageKind::Thinking}) {
    EXPECT_EQ(parse_send(format(R"({{"kind":"{}"}})", name_of(kind)))->kind, kind);
  }
  EXPECT_EQ(parse_send(R"({"kind":"custom"})")->kind, MessageKind::Other);
  EXPECT_EQ(parse_send(R"({"kind":"custom"})")->kind_name, "custom");
}

TEST(Send, TreatsNullAsAbsentAndIgnoresOtherData) {
  const auto view = *parse_send(R"({"kind":null,"body":null,"data":5,"thread":null})");
  EXPECT_EQ(view.body, "");
  EXPECT_EQ(view.data, "");
  EXPECT_EQ(view.thread, "");
}

TEST(Send, RefusesFieldsOfTheWrongKind) {
  EXPECT_EQ(parse_send(R"({"body":5})").error().message(), "the field \"body\" must be a string");
  for (const auto* bad : {R"({"kind":5})", R"({"thread":{}})", R"({"kind":"a\n"})", "[]", "5", "{\"body\":\"x\"",
                          R"({"body":"x","body":"y"})"}) {
    EXPECT_FALSE(parse_send(bad)) << bad;
  }
  EXPECT_FALSE(parse_send(format(R"({{"kind":"{}"}})", std::string(kMaxKindBytes + 1, 'k'))));
  EXPECT_FALSE(parse_send(format(R"({{"thread":"{}"}})", std::string(kMaxIdBytes + 1, 't'))));
}

TEST(SpliceData, AppendsAndKeepsOtherBytes) {
  EXPECT_EQ(spliced(R"( {"body" : "x", "data" : { "a":1 } , "z":[ ] } )"),
            R"( {"body" : "x", "data" : { "a":1 ,"_x":1} , "z":[ ] } )");
  EXPECT_EQ(spliced(R"({"data":{}})"), R"({"data":{"_x":1}})");
  EXPECT_EQ(spliced(R"({"data":{  }})"), R"({"data":{  "_x":1}})");
  EXPECT_EQ(spliced(R"({"data":{"a":{}}})"), R"({"data":{"a":{},"_x":1}})");
}

TEST(SpliceData, CreatesAbsentData) {
  EXPECT_EQ(spliced("{}"), R"({"data":{"_x":1}})");
  EXPECT_EQ(spliced(R"({"body":"}"}  )"), R"({"body":"}","data":{"_x":1}}  )");
  EXPECT_EQ(spliced("{ }"), R"({ "data":{"_x":1}})");
}

TEST(SpliceData, ReplacesOtherData) {
  EXPECT_EQ(spliced(R"({"data":5,"b":1})"), R"({"data":{"_x":1},"b":1})");
  EXPECT_EQ(spliced(R"({"data":null})"), R"({"data":{"_x":1}})");
  EXPECT_EQ(spliced(R"({"data":"{}"})"), R"({"data":{"_x":1}})");
  EXPECT_EQ(spliced(R"({"data":[{}]})"), R"({"data":{"_x":1}})");
}

TEST(SpliceData, FindsDataInAnotherCopy) {
  const std::string payload = R"({"data":{"a":1}})";
  const std::string copy = payload;
  EXPECT_EQ(splice_data(copy, *parse_send(payload), R"("_x":1)"), R"({"data":{"a":1,"_x":1}})");
  EXPECT_EQ(splice_data(copy, SendView{}, R"("_x":1)"), R"({"data":{"a":1,"_x":1}})");
}

TEST(SpliceData, KeepsPayloadWithoutMembers) { EXPECT_EQ(spliced(R"({"a":1})", ""), R"({"a":1})"); }

TEST(SendMeta, IsEmptyWhenAbsent) {
  const auto meta = *parse_send_meta("");
  EXPECT_FALSE(meta.requires_ack || meta.ttl_ms || meta.importance || meta.sync || meta.delivery);
}

TEST(SendMeta, ReadsFormOfPublishedClients) {
  const auto meta =
      *parse_send_meta(R"({"requires_ack":true,"ttl_ms":60000,"importance":80,"replyTo":"m-1",)"
                       R"("sync":{"correlationId":"c-1","timeoutMs":5000,"blocking":true},"unknown":{}})");
  EXPECT_TRUE(meta.requires_ack);
  EXPECT_EQ(meta.ttl_ms, 60000);
  EXPECT_EQ(meta.importance, 80);
  EXPECT_EQ(meta.reply_to, "m-1");
  ASSERT_TRUE(meta.sync);
  EXPECT_EQ(meta.sync->correlation_id, "c-1");
  EXPECT_EQ(meta.sync->timeout_ms, 5000);
  EXPECT_TRUE(meta.sync->blocking);
}

TEST(SendMeta, ReadsDeliveryOptions) {
  const auto delivery =
      *parse_send_meta(
           R"({"delivery":{"mode":"next-tool-call","priority":"urgent","deadline":"2026-03-01T12:30:05.250Z",)"
           R"("idempotencyKey":"k"}})")
           ->delivery;
  EXPECT_EQ(delivery.mode, DeliveryMode::NextToolCall);
  EXPECT_EQ(delivery.priority, Priority::Urgent);
  EXPECT_EQ(delivery.deadline, 1772368205250);
  EXPECT_EQ(delivery.idempotency_key, "k");
  EXPECT_EQ(parse_send_meta(R"({"delivery":{"deadline":1772368205250.5}})")->delivery->deadline, 1772368205250);
  EXPECT_EQ(parse_send_meta(R"({"delivery":{}})")->delivery->mode, DeliveryMode::OnIdle);
  for (const auto* name : {"immediate", "next-message", "next-tool-call", "on-idle", "manual"}) {
    EXPECT_EQ(name_of(*parse_delivery_mode(name)), name);
  }
  EXPECT_EQ(parse_delivery_mode("soon"), std::nullopt);
}

TEST(SendMeta, ClampsNumbers) {
  EXPECT_EQ(parse_send_meta(R"({"ttl_ms":1e15})")->ttl_ms, kMaxTtlMs);
  EXPECT_EQ(parse_send_meta(R"({"ttl_ms":0})")->ttl_ms, 0);
  EXPECT_EQ(parse_send_meta(R"({"importance":1e9})")->importance, 100);
  EXPECT_EQ(parse_send_meta(R"({"importance":-3})")->importance, 0);
  EXPECT_EQ(parse_send_meta(R"({"importance":49.6})")->importance, 50);
  EXPECT_EQ(parse_send_meta(R"({"sync":{"correlationId":"c","timeoutMs":1e15}})")->sync->timeout_ms, kMaxSyncTimeoutMs);
}

TEST(SendMeta, RefusesFieldsOfTheWrongKind) {
  for (const auto* bad :
       {R"({"requires_ack":1})", R"({"ttl_ms":-1})", R"({"ttl_ms":"x"})", R"({"importance":"high"})",
        R"({"replyTo":5})", R"({"sync":true})", R"({"sync":{}})", R"({"sync":{"correlationId":""}})",
        R"({"delivery":"now"})", R"({"sync":{"correlationId":"c","timeoutMs":-1}})", R"({"delivery":{"mode":"soon"}})",
        R"({"delivery":{"priority":"high"}})", R"({"delivery":{"deadline":"tomorrow"}})",
        R"({"delivery":{"deadline":1e300}})", R"({"delivery":{"deadline":-5}})", R"({"delivery":{"deadline":true}})"}) {
    EXPECT_FALSE(parse_send_meta(bad)) << bad;
  }
}

}  // namespace
}  // namespace relay::protocol
