#include "journal.h"

#include <gtest/gtest.h>

namespace relay::crash {
namespace {

TEST(Journal, ParsesItsOwnLines) {
  const Lane plain{"Bob", ""}, topical{"Bob", "news"};
  const auto sent = parse_sent(tried_line(plain, 0) + tried_line(plain, 1) + accepted_line(plain, 0) +
                               accepted_line(plain, 1) + tried_line(topical, 0) + "D\n");
  EXPECT_EQ(sent.next.at(plain), 2U);
  EXPECT_EQ(sent.next.at(topical), 1U);
  EXPECT_EQ(sent.accepted.at(plain), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_FALSE(sent.accepted.contains(topical));
  EXPECT_TRUE(sent.drained);

  const auto received = parse_received(received_line({topical, 7, 5}) + received_line({plain, 8, 6}));
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].lane, topical);
  EXPECT_EQ(received[0].seq, 7U);
  EXPECT_EQ(received[0].number, 5U);
  EXPECT_EQ(received[1].lane, plain);
}

TEST(Journal, IgnoresATornLastLine) {
  EXPECT_TRUE(parse_received("R 1 2 Bob").empty());
  EXPECT_EQ(parse_sent("T 0 Bob -\nT 1 Bob").next.at(Lane{"Bob", ""}), 1U);
}

}  // namespace
}  // namespace relay::crash
