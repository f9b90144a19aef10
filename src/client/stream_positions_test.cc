#include "client/stream_positions.h"

namespace relay::client {
namespace {

constexpr protocol::Lane kDefault;
constexpr protocol::Lane kNow{protocol::DeliveryMode::Immediate};

TEST(StreamPositions, TakesANumberOnceAndOnlyForward) {
  StreamPositions positions;
  EXPECT_TRUE(positions.advance("chat", "Alice", kDefault, 1));
  EXPECT_FALSE(positions.advance("chat", "Alice", kDefault, 1));
  EXPECT_TRUE(positions.advance("chat", "Alice", kDefault, 5));  // 2 to 4 expired
  EXPECT_FALSE(positions.advance("chat", "Alice", kDefault, 4));
  EXPECT_EQ(positions.last("chat", "Alice", kDefault), 5U);
}

TEST(StreamPositions, StreamsAreIndependent) {
  StreamPositions positions;
  EXPECT_TRUE(positions.advance("", "Alice", kDefault, 7));
  EXPECT_TRUE(positions.advance("", "Bob", kDefault, 1));
  EXPECT_TRUE(positions.advance("chat", "Alice", kDefault, 1));
  EXPECT_TRUE(positions.advance("", "Alice", kNow, 1));
  EXPECT_EQ(positions.last("", "Alice", kDefault), 7U);
  EXPECT_EQ(positions.last("", "Carol", kDefault), 0U);
}

TEST(StreamPositions, ForgetsTheLeastRecentStreamBeyondItsBound) {
  StreamPositions positions{2};
  positions.advance("", "Alice", kDefault, 1);
  positions.advance("", "Bob", kDefault, 1);
  positions.advance("", "Alice", kDefault, 2);
  positions.advance("", "Carol", kDefault, 1);
  EXPECT_EQ(positions.size(), 2U);
  EXPECT_EQ(positions.last("", "Bob", kDefault), 0U);
  EXPECT_EQ(positions.last("", "Alice", kDefault), 2U);
}

TEST(StreamPositions, ReportedPositionsCanBeRestored) {
  StreamPositions positions;
  positions.advance("chat", "Alice", kDefault, 3);
  positions.advance("", "Bob", kDefault, 9);
  positions.advance("", "Bob", kNow, 2);
  StreamPositions later;
  for (const auto& position : positions.all())
    later.advance(position.topic, position.from, position.lane, position.seq);
  EXPECT_EQ(later.all(), positions.all());
}

}  // namespace
}  // namespace relay::client
