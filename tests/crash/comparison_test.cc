#include "comparison.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace relay::crash {
namespace {

const Lane kToBob{"Bob", ""}, kFromAlice{"Alice", ""};

/// Alice tried 0..tried-1, the outbox accepted `accepted`, Bob received `received`.
Comparison compare_stream_of(std::uint64_t tried, std::initializer_list<std::uint64_t> accepted,
                             std::initializer_list<std::uint64_t> received) {
  std::map<std::string, ClientJournals> journals;
  for (std::uint64_t n = 0; n < tried; ++n) journals["Alice"].sent += tried_line(kToBob, n);
  for (const auto n : accepted) journals["Alice"].sent += accepted_line(kToBob, n);
  std::uint64_t seq = 0;
  for (const auto n : received) journals["Bob"].received += received_line({kFromAlice, ++seq, n});
  return compare(journals);
}

TEST(Comparison, IsCleanWhenAcceptedMessagesArriveOnceInOrder) {
  const auto comparison = compare_stream_of(3, {0, 1, 2}, {0, 1, 2});
  EXPECT_TRUE(comparison.clean());
  EXPECT_EQ(comparison.accepted, 3U);
  EXPECT_EQ(comparison.received, 3U);
}

TEST(Comparison, FindsALostMessage) {
  const auto comparison = compare_stream_of(3, {0, 1, 2}, {0, 2});
  EXPECT_EQ(comparison.lost, 1U);
  EXPECT_FALSE(comparison.complete());
  EXPECT_EQ(comparison.examples, std::vector<std::string>{"message 1 of Alice -> Bob was lost"});
}

TEST(Comparison, FindsADuplicate) { EXPECT_EQ(compare_stream_of(2, {0, 1}, {0, 1, 1}).duplicated, 1U); }
TEST(Comparison, FindsMessagesOutOfOrder) { EXPECT_EQ(compare_stream_of(3, {0, 1, 2}, {1, 0, 2}).out_of_order, 1U); }
TEST(Comparison, FindsMessagesThatWereNotSent) { EXPECT_EQ(compare_stream_of(1, {0}, {0, 1}).spurious, 1U); }

TEST(Comparison, AllowsAMessageInDoubtToArriveOrNot) {
  EXPECT_TRUE(compare_stream_of(3, {0, 2}, {0, 2}).clean());
  EXPECT_TRUE(compare_stream_of(3, {0, 2}, {0, 1, 2}).clean());
  EXPECT_EQ(compare_stream_of(3, {0, 2}, {0, 1, 1, 2}).duplicated, 1U);
}

TEST(Comparison, FindsAStreamWithoutASender) {
  std::map<std::string, ClientJournals> journals;
  journals["Bob"].received = received_line({Lane{"Ghost", "news"}, 1, 0});
  EXPECT_EQ(compare(journals).spurious, 1U);
}

TEST(Comparison, CountsRefusedMessages) {
  std::map<std::string, ClientJournals> journals;
  journals["Alice"].sent = "X BAD_REQUEST\n";
  EXPECT_FALSE(compare(journals).clean());
}

}  // namespace
}  // namespace relay::crash
