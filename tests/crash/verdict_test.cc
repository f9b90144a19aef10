#include "verdict.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace relay::crash {
namespace {

const Lane kToBob{"Bob", ""}, kFromAlice{"Alice", ""};

/// Alice tried 0..tried-1, her outbox took `accepted`, Bob heard `heard`.
Verdict judged(std::uint64_t tried, std::initializer_list<std::uint64_t> accepted,
               std::initializer_list<std::uint64_t> heard) {
  std::map<std::string, Witness> witnesses;
  for (std::uint64_t n = 0; n < tried; ++n) witnesses["Alice"].sent += tried_line(kToBob, n);
  for (const auto n : accepted) witnesses["Alice"].sent += accepted_line(kToBob, n);
  std::uint64_t seq = 0;
  for (const auto n : heard) witnesses["Bob"].received += received_line({kFromAlice, ++seq, n});
  return judge(witnesses);
}

TEST(Verdict, IsCleanWhenAllThatWasAcceptedCameOnceAndInOrder) {
  const auto verdict = judged(3, {0, 1, 2}, {0, 1, 2});
  EXPECT_TRUE(verdict.clean());
  EXPECT_EQ(verdict.accepted, 3U);
  EXPECT_EQ(verdict.received, 3U);
}

TEST(Verdict, FindsALostMessage) {
  const auto verdict = judged(3, {0, 1, 2}, {0, 2});
  EXPECT_EQ(verdict.lost, 1U);
  EXPECT_FALSE(verdict.complete());
  EXPECT_EQ(verdict.examples, std::vector<std::string>{"message 1 of Alice -> Bob was lost"});
}

TEST(Verdict, FindsADuplicate) { EXPECT_EQ(judged(2, {0, 1}, {0, 1, 1}).duplicated, 1U); }
TEST(Verdict, FindsDisorder) { EXPECT_EQ(judged(3, {0, 1, 2}, {1, 0, 2}).disordered, 1U); }
TEST(Verdict, FindsWhatNobodySent) { EXPECT_EQ(judged(1, {0}, {0, 1}).invented, 1U); }

TEST(Verdict, LetsAMessageInDoubtArriveOrNot) {
  EXPECT_TRUE(judged(3, {0, 2}, {0, 2}).clean());
  EXPECT_TRUE(judged(3, {0, 2}, {0, 1, 2}).clean());
  EXPECT_EQ(judged(3, {0, 2}, {0, 1, 1, 2}).duplicated, 1U);
}

TEST(Verdict, FindsAStreamThatNobodySpokeOn) {
  std::map<std::string, Witness> witnesses;
  witnesses["Bob"].received = received_line({Lane{"Ghost", "news"}, 1, 0});
  EXPECT_EQ(judge(witnesses).invented, 1U);
}

TEST(Verdict, CountsRefusals) {
  std::map<std::string, Witness> witnesses;
  witnesses["Alice"].sent = "X BAD_REQUEST\n";
  EXPECT_FALSE(judge(witnesses).clean());
}

}  // namespace
}  // namespace relay::crash
