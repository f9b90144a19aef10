#include "client/stream_positions.h"

namespace relay::client {
namespace {

TEST(StreamPositions, TakesANumberOnceAndNeverGoesBack) {
  StreamPositions positions;
  EXPECT_TRUE(positions.advance("chat", "Alice", 1));
  EXPECT_FALSE(positions.advance("chat", "Alice", 1));
  EXPECT_TRUE(positions.advance("chat", "Alice", 5));  // 2 to 4 expired
  EXPECT_FALSE(positions.advance("chat", "Alice", 4));
  EXPECT_EQ(positions.last("chat", "Alice"), 5U);
}

TEST(StreamPositions, StreamsDoNotKnowEachOther) {
  StreamPositions positions;
  EXPECT_TRUE(positions.advance("", "Alice", 7));
  EXPECT_TRUE(positions.advance("", "Bob", 1));
  EXPECT_TRUE(positions.advance("chat", "Alice", 1));
  EXPECT_EQ(positions.last("", "Carol"), 0U);
}

TEST(StreamPositions, ForgetsTheLongestSilentBeyondItsBound) {
  StreamPositions positions{2};
  positions.advance("", "Alice", 1);
  positions.advance("", "Bob", 1);
  positions.advance("", "Alice", 2);
  positions.advance("", "Carol", 1);
  EXPECT_EQ(positions.size(), 2U);
  EXPECT_EQ(positions.last("", "Bob"), 0U);
  EXPECT_EQ(positions.last("", "Alice"), 2U);
}

TEST(StreamPositions, WhatWasReportedCanBeGivenBack) {
  StreamPositions positions;
  positions.advance("chat", "Alice", 3);
  positions.advance("", "Bob", 9);
  StreamPositions later;
  for (const auto& position : positions.all()) later.advance(position.topic, position.from, position.seq);
  EXPECT_EQ(later.all(), positions.all());
}

}  // namespace
}  // namespace relay::client
