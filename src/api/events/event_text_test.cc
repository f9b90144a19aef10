#include "api/events/event_text.h"

#include <gtest/gtest.h>

namespace relay::api {
namespace {

constexpr std::string_view kJson =
    R"({"type":"item.started","sessionId":"x","text":"a\nb","_seq":42,"_ts":1707523200000,"_sessionId":"s-1","_agentName":"Al\u0069ce"})";

std::string formatted(StreamFormat stream_format, const FeedEvent& event) {
  std::string out;
  append_event(out, stream_format, event);
  return out;
}

TEST(EventText, ReadsFilterMembersFromTheEvent) {
  const auto event = read_feed_event(42, kJson).value();
  EXPECT_EQ(event.type, "item.started");
  EXPECT_EQ(event.agent, "Alice");
  EXPECT_EQ(event.session, "s-1");
  EXPECT_EQ(event.at, 1707523200000);
}

TEST(EventText, FormatsSseAndWebSocket) {
  const auto event = read_feed_event(42, kJson).value();
  EXPECT_EQ(formatted(StreamFormat::Sse, event), "event: item.started\nid: 42\ndata: " + std::string{kJson} + "\n\n");
  EXPECT_EQ(formatted(StreamFormat::WebSocket, event), "{\"type\":\"event\",\"event\":" + std::string{kJson} + "}");
}

TEST(EventText, StaysOneLine) {
  const auto event = read_feed_event(1, "{\n \"type\":\r\n\"session.ended\"}").value();
  EXPECT_EQ(formatted(StreamFormat::Sse, event),
            "event: session.ended\nid: 1\ndata: {  \"type\":  \"session.ended\"}\n\n");
  EXPECT_FALSE(read_feed_event(1, R"({"type":"a\nid: 7"})"));
  EXPECT_FALSE(read_feed_event(1, "{}"));
  EXPECT_FALSE(read_feed_event(1, "nonsense"));
}

TEST(EventText, FormatsNoticesWithTheirNumber) {
  EXPECT_EQ(gap_text(StreamFormat::Sse, 1, 5),
            ": events 1 to 5 are no longer stored\nevent: relay.gap\nid: 5\ndata: {\"from\":1,\"to\":5}\n\n");
  EXPECT_EQ(gap_text(StreamFormat::WebSocket, 1, 5), R"({"type":"gap","from":1,"to":5})");
  EXPECT_TRUE(
      reset_text(StreamFormat::Sse, 3).starts_with("event: relay.reset\nid: 3\ndata: {\"newest\":3,\"reason\":"));
  EXPECT_TRUE(reset_text(StreamFormat::WebSocket, 3).starts_with(R"({"type":"reset","newest":3,"reason":)"));
  EXPECT_EQ(resume_text(StreamFormat::Sse, 9, "so"),
            "event: relay.resume\nid: 9\ndata: {\"after\":9,\"reason\":\"so\"}\n\n");
  EXPECT_EQ(resume_text(StreamFormat::WebSocket, 9, "so"), R"({"type":"resume","after":9,"reason":"so"})");
}

}  // namespace
}  // namespace relay::api
