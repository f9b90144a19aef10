#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::protocol {
namespace {

TEST(Ack, RoundTrips) {
  EXPECT_EQ(write_ack("d-1"), R"({"ack_id":"d-1"})");
  EXPECT_EQ(write_ack("d-1", 42), R"({"ack_id":"d-1","seq":42})");
  const auto ack = *parse_ack(R"({"ack_id":"d-1","seq":42,"correlationId":"c","response":"OK"})");
  EXPECT_EQ(ack.ack_id, "d-1");
  EXPECT_EQ(ack.seq, 42u);
  EXPECT_EQ(ack.correlation_id, "c");
  EXPECT_EQ(parse_ack(R"({"ack_id":"d-1"})")->seq, 0u);
  Ack stored;
  stored.ack_id = "m";
  stored.seq = 1;
  stored.short_id = "7kq2m9xa";
  EXPECT_EQ(write_ack(stored), R"({"ack_id":"m","seq":1,"short_id":"7kq2m9xa"})");
  stored.delivery_id = "d-2";
  stored.offline_since = 5;
  EXPECT_EQ(parse_ack(write_ack(stored))->short_id, "7kq2m9xa");
  EXPECT_EQ(parse_ack(write_ack(stored))->delivery_id, "d-2");
  EXPECT_EQ(parse_ack(write_ack(stored))->offline_since, 5);
  EXPECT_EQ(parse_ack(write_ack("m"))->short_id, "");
  EXPECT_FALSE(parse_ack(write_ack(stored))->duplicate);
  stored.duplicate = true;
  EXPECT_TRUE(parse_ack(write_ack(stored))->duplicate);
}

TEST(Ack, RequiresAcknowledgedId) {
  for (const auto* bad : {"{}", R"({"ack_id":""})", R"({"ack_id":5})", R"({"ack_id":"d","seq":-1})",
                          R"({"ack_id":"d","seq":1.5})", R"({"ack_id":"d","correlationId":5})", "[]"}) {
    EXPECT_FALSE(parse_ack(bad)) << bad;
  }
  EXPECT_FALSE(parse_ack(format(R"({{"ack_id":"{}"}})", std::string(kMaxIdBytes + 1, 'd'))));
}

TEST(Ack, LeavesRoomForForwarding) {
  const auto answer = [](std::size_t bytes) {
    return format(R"({{"ack_id":"d","response":"{}"}})", std::string(bytes, 'r'));
  };
  EXPECT_TRUE(parse_ack(answer(kMaxFrameBytes - kEnvelopeReserveBytes - 30)));
  EXPECT_FALSE(parse_ack(answer(kMaxFrameBytes - kEnvelopeReserveBytes)));
}

TEST(Nack, RoundTrips) {
  EXPECT_EQ(write_nack("m-1", NackCode::UnknownRecipient, "no agent is named \"Bbo\""),
            R"({"nack_id":"m-1","code":"UNKNOWN_RECIPIENT","message":"no agent is named \"Bbo\""})");
  const auto nack = *parse_nack(write_nack("m-1", NackCode::Busy, "later", 250));
  EXPECT_EQ(nack.nack_id, "m-1");
  EXPECT_EQ(nack.code, "BUSY");
  EXPECT_EQ(nack.message, "later");
  EXPECT_EQ(nack.retry_after_ms, 250);
  for (const auto* bad : {"{}", R"({"nack_id":5})", R"({"nack_id":"m","retry_after_ms":-1})"}) {
    EXPECT_FALSE(parse_nack(bad)) << bad;
  }
}

TEST(NackCode, HasNameAndRetryability) {
  for (int i = 0; i <= static_cast<int>(NackCode::Storage); ++i) {
    const auto refusal = static_cast<NackCode>(i);
    EXPECT_EQ(parse_nack_code(name_of(refusal)), refusal);
  }
  EXPECT_EQ(parse_nack_code("NO_SUCH"), std::nullopt);
  for (const auto later : {NackCode::Busy, NackCode::RateLimited, NackCode::Storage}) EXPECT_TRUE(is_retryable(later));
  for (const auto never : {NackCode::UnknownRecipient, NackCode::Loop, NackCode::TooLarge, NackCode::Expired,
                           NackCode::BadRequest, NackCode::Stale, NackCode::NotOwner, NackCode::Unsupported}) {
    EXPECT_FALSE(is_retryable(never)) << name_of(never);
  }
}

TEST(ErrorFrame, RoundTrips) {
  const auto text = write_error(ErrorCode::DuplicateConnection, "another took the name", Fatal::Yes);
  EXPECT_EQ(text, R"({"code":"DUPLICATE_CONNECTION","message":"another took the name","fatal":true})");
  const auto error = *parse_error(text);
  EXPECT_EQ(error.code, "DUPLICATE_CONNECTION");
  EXPECT_EQ(error.message, "another took the name");
  EXPECT_TRUE(error.fatal);
  EXPECT_FALSE(parse_error("{}")->fatal);
  EXPECT_FALSE(parse_error(R"({"fatal":"yes"})"));
}

TEST(ErrorFrame, ParsesPublishedNameOfEveryCode) {
  EXPECT_EQ(name_of(ErrorCode::BadRequest), "BAD_REQUEST");
  EXPECT_EQ(name_of(ErrorCode::Unauthorized), "UNAUTHORIZED");
  EXPECT_EQ(name_of(ErrorCode::NotFound), "NOT_FOUND");
  EXPECT_EQ(name_of(ErrorCode::Internal), "INTERNAL");
  EXPECT_EQ(name_of(ErrorCode::ResumeTooOld), "RESUME_TOO_OLD");
  EXPECT_EQ(name_of(ErrorCode::Timeout), "TIMEOUT");
  EXPECT_EQ(name_of(ErrorCode::RateLimited), "RATE_LIMITED");
  EXPECT_EQ(name_of(ErrorCode::Busy), "BUSY");
}

TEST(ErrorFrame, TruncatesLongMessage) {
  const auto error = *parse_error(format(R"({{"code":"X","message":"{}"}})", std::string(100'000, 'm')));
  EXPECT_EQ(error.message.size(), kMaxReasonBytes);
}

TEST(Busy, MatchesSpecification) { EXPECT_EQ(write_busy(50, 1000), R"({"retry_after_ms":50,"queue_depth":1000})"); }

TEST(DeliveryBlock, RoundTrips) {
  EXPECT_EQ(write_delivery({.seq = 42, .session_id = "s-1"}), R"({"seq":42,"session_id":"s-1"})");
  const auto text = write_delivery({.seq = 1, .session_id = "s", .original_to = "*", .message_id = "7kq2m9xa"});
  EXPECT_EQ(text, R"({"seq":1,"session_id":"s","originalTo":"*","messageId":"7kq2m9xa"})");
  const auto view = *parse_delivery(text);
  EXPECT_EQ(view.seq, 1u);
  EXPECT_EQ(view.session_id, "s");
  EXPECT_EQ(view.original_to, "*");
  EXPECT_EQ(view.message_id, "7kq2m9xa");
  EXPECT_FALSE(view.expires_at);
  for (const WallMs end : {WallMs{0}, WallMs{1'790'000'000'000}})
    EXPECT_EQ(parse_delivery(write_delivery({.seq = 1, .session_id = "s", .expires_at = end}))->expires_at, end);
  for (const auto* bad :
       {R"({"seq":"x"})", R"({"session_id":5})", R"({"originalTo":[]})", "5", R"({"expiresAt":-1})"}) {
    EXPECT_FALSE(parse_delivery(bad)) << bad;
  }
}

TEST(Receipt, RoundTrips) {
  const Receipt receipt{.status = ReceiptStatus::Deferred,
                        .delivery_id = "d-1",
                        .message_id = "m",
                        .agent = "Bob",
                        .proof = "written",
                        .reason = "a dialog is open",
                        .available_at = 5000,
                        .retryable = true};
  const auto text = write_receipt(receipt);
  EXPECT_EQ(text, R"({"status":"deferred","deliveryId":"d-1","messageId":"m","agent":"Bob","proof":"written",)"
                  R"("reason":"a dialog is open","availableAt":5000,"retryable":true})");
  const auto back = *parse_receipt(text);
  EXPECT_EQ(back.status, ReceiptStatus::Deferred);
  EXPECT_EQ(back.delivery_id, "d-1");
  EXPECT_EQ(back.message_id, "m");
  EXPECT_EQ(back.agent, "Bob");
  EXPECT_EQ(back.proof, "written");
  EXPECT_EQ(back.reason, "a dialog is open");
  EXPECT_EQ(back.available_at, 5000);
  EXPECT_TRUE(back.retryable);
}

TEST(Receipt, ParsesFourStatuses) {
  for (const auto* status : {"accepted", "delivered", "deferred", "failed"}) {
    EXPECT_EQ(name_of(parse_receipt(format(R"({{"status":"{}","deliveryId":"d"}})", status))->status), status);
  }
  EXPECT_EQ(
      parse_receipt(R"({"status":"deferred","deliveryId":"d","availableAt":"1970-01-01T00:00:01Z"})")->available_at,
      1000);
  for (const auto* bad : {"{}", R"({"deliveryId":"d"})", R"({"status":"lost","deliveryId":"d"})",
                          R"({"status":"failed"})", R"({"status":"failed","deliveryId":"d","retryable":1})",
                          R"({"status":"deferred","deliveryId":"d","availableAt":"soon"})"}) {
    EXPECT_FALSE(parse_receipt(bad)) << bad;
  }
}

}  // namespace
}  // namespace relay::protocol
