#include "protocol/ended_session.h"

#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

const EndedSession kEnded{.agent = "Bob",
                          .session = "s-1",
                          .bye = {.end = EndReason::Released, .by = "Alice", .reason = "enough", .ended_at = 17},
                          .events = {{"e1-1", R"({"event":{"type":"a"}})"}, {"e1-2", R"({"event":{"type":"b"}})"}}};

TEST(EndedSession, RoundTrips) {
  const auto read = *parse_ended_session(write_ended_session(kEnded));
  EXPECT_EQ(read.agent, "Bob");
  EXPECT_EQ(read.session, "s-1");
  EXPECT_EQ(read.bye.end, EndReason::Released);
  EXPECT_EQ(read.bye.by, "Alice");
  EXPECT_EQ(read.bye.reason, "enough");
  EXPECT_EQ(read.bye.ended_at, 17);
  ASSERT_EQ(read.events.size(), 2U);
  EXPECT_EQ(read.events[1].id, "e1-2");
  EXPECT_EQ(read.events[1].payload, R"({"event":{"type":"b"}})");
}

TEST(EndedSession, RecordIsBoundedAndKeepsTheOldestEvents) {
  auto ended = kEnded;
  ended.bye.reason = std::string(3'000, '\n');
  ended.events.assign(40, {"e1-1", R"({"event":{"text":")" + std::string(10'000, 'x') + R"("}})"});
  const auto text = write_ended_session(ended);
  EXPECT_LE(text.size(), kMaxEndedSessionBytes);
  const auto read = parse_ended_session(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_GT(read->events.size(), 20U);
  EXPECT_LT(read->events.size(), 40U);
}

TEST(EndedSession, DamagedRecordIsRefused) {
  const auto whole = write_ended_session(kEnded);
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    EXPECT_FALSE(parse_ended_session(whole.substr(0, cut)).has_value()) << cut;
  for (const auto* text :
       {"{}", "[]", R"({"agent":"Bob","session":"s-1"})", R"({"agent":"Bob","session":"../x","bye":{}})",
        R"({"agent":"","session":"s-1","bye":{}})", R"({"agent":"Bob","session":"s-1","bye":{"end":"won"}})",
        R"({"agent":"Bob","session":"s-1","bye":{},"events":[7]})"})
    EXPECT_FALSE(parse_ended_session(text).has_value()) << text;
}

}  // namespace
}  // namespace relay::protocol
