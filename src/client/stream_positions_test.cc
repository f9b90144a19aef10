#include "client/stream_positions.h"

namespace relay::client {
namespace {

constexpr protocol::Lane kUsual;
constexpr protocol::Lane kNow{protocol::DeliveryMode::Immediate};

TEST(StreamPositions, TakesANumberOnceAndNeverGoesBack) {
  StreamPositions positions;
  EXPECT_TRUE(positions.advance("chat", "Alice", kUsual, 1));
  EXPECT_FALSE(positions.advance("chat", "Alice", kUsual, 1));
  EXPECT_TRUE(positions.advance("chat", "Alice", kUsual, 5));  // 2 to 4 expired
  EXPECT_FALSE(positions.advance("chat", "Alice", kUsual, 4));
  EXPECT_EQ(positions.last("chat", "Alice", kUsual), 5U);
}

TEST(StreamPositions, StreamsDoNotKnowEachOther) {
  StreamPositions positions;
  EXPECT_TRUE(positions.advance("", "Alice", kUsual, 7));
  EXPECT_TRUE(positions.advance("", "Bob", kUsual, 1));
  EXPECT_TRUE(positions.advance("chat", "Alice", kUsual, 1));
  EXPECT_TRUE(positions.advance("", "Alice", kNow, 1));
  EXPECT_EQ(positions.last("", "Alice", kUsual), 7U);
  EXPECT_EQ(positions.last("", "Carol", kUsual), 0U);
}

TEST(StreamPositions, ForgetsTheLongestSilentBeyondItsBound) {
  StreamPositions positions{2};
  positions.advance("", "Alice", kUsual, 1);
  positions.advance("", "Bob", kUsual, 1);
  positions.advance("", "Alice", kUsual, 2);
  positions.advance("", "Carol", kUsual, 1);
  EXPECT_EQ(positions.size(), 2U);
  EXPECT_EQ(positions.last("", "Bob", kUsual), 0U);
  EXPECT_EQ(positions.last("", "Alice", kUsual), 2U);
}

TEST(StreamPositions, WhatWasReportedCanBeGivenBack) {
  StreamPositions positions;
  positions.advance("chat", "Alice", kUsual, 3);
  positions.advance("", "Bob", kUsual, 9);
  positions.advance("", "Bob", kNow, 2);
  StreamPositions later;
  for (const auto& position : positions.all())
    later.advance(position.topic, position.from, position.lane, position.seq);
  EXPECT_EQ(later.all(), positions.all());
}

}  // namespace
}  // namespace relay::client
