#include "pty/byte_queue.h"

#include <gtest/gtest.h>

namespace relay::pty {
namespace {

TEST(ByteQueue, TakesUpToItsBoundAndReturnsHowMuch) {
  ByteQueue queue{4};
  EXPECT_EQ(queue.push("abcdef"), 4U);
  EXPECT_EQ(queue.push("g"), 0U);
  EXPECT_EQ(queue.front(), "abcd");
}

TEST(ByteQueue, HasRoomAgainAfterPop) {
  ByteQueue queue{4};
  queue.push("abcd");
  queue.pop(3);
  EXPECT_EQ(queue.push("efgh"), 3U);
  EXPECT_EQ(queue.front(), "defg");
  queue.pop(4);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.room(), 4U);
}

TEST(ByteQueue, KeepsTheOrderForAnySplit) {
  std::string all, out;
  for (int i = 0; i < 1000; ++i) all += static_cast<char>('a' + i % 26);
  for (std::size_t cut = 1; cut < 16; ++cut) {
    ByteQueue queue{10};
    out.clear();
    for (std::size_t given = 0; out.size() < all.size();) {
      given += queue.push(std::string_view{all}.substr(given, cut));
      const auto some = std::min<std::size_t>(queue.size(), 1 + given % 7);
      out += queue.front().substr(0, some);
      queue.pop(some);
    }
    EXPECT_EQ(out, all) << "cut " << cut;
  }
}

}  // namespace
}  // namespace relay::pty
