#include "client/event_queue.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::client {
namespace {

using Answer = EventQueue::EventResult;

struct EventQueueTest : ::testing::Test {
  SeededRandom random{3};
  EventQueue queue;

  std::string add(std::string payload = "{}") { return *queue.add(std::move(payload), random); }
  /// Sends all events that may be sent; returns their number.
  std::size_t send() {
    std::size_t count = 0;
    for (const auto* event = queue.next(); event != nullptr; event = queue.next()) queue.sent(*event), ++count;
    return count;
  }
};

TEST_F(EventQueueTest, NumbersWithoutGaps) {
  const auto first = add(), second = add();
  EXPECT_TRUE(first.starts_with('e'));
  EXPECT_TRUE(first.ends_with("-1"));
  EXPECT_EQ(second, first.substr(0, first.size() - 1) + "2");
}

TEST_F(EventQueueTest, OneEventGoesFirstThenManyAtOnce) {
  const auto first = add();
  for (int i = 0; i < 200; ++i) add();
  EXPECT_EQ(send(), 1U);
  EXPECT_TRUE(queue.answered(first, Answer::Taken));
  EXPECT_EQ(send(), kMaxUnanswered);
  EXPECT_FALSE(queue.answered(first, Answer::Taken));
  EXPECT_EQ(queue.counts().acked, 1U);
  EXPECT_EQ(queue.counts().waiting, 200U);
}

TEST_F(EventQueueTest, NewConnectionStartsWithTheFirstUnansweredEvent) {
  const auto first = add(), second = add(), third = add();
  send();
  queue.answered(first, Answer::Taken);
  EXPECT_EQ(send(), 2U);
  queue.on_new_connection();
  ASSERT_NE(queue.next(), nullptr);
  EXPECT_EQ(queue.next()->id, second);
  EXPECT_EQ(send(), 1U);
  queue.answered(second, Answer::Refused);
  EXPECT_EQ(queue.next()->id, third);
  EXPECT_EQ(queue.counts().refused, 1U);
}

TEST_F(EventQueueTest, RetryableNackResendsInOrder) {
  const auto first = add();
  send();
  queue.answered(first, Answer::Taken);
  const auto second = add(), third = add();
  EXPECT_EQ(send(), 2U);
  EXPECT_TRUE(queue.on_retryable_nack(second));
  EXPECT_TRUE(queue.on_retryable_nack(third));
  EXPECT_EQ(queue.next()->id, second);
  EXPECT_FALSE(queue.on_retryable_nack("unknown"));
}

TEST_F(EventQueueTest, IsBoundedInNumberAndBytes) {
  for (std::size_t i = 0; i < kMaxEvents; ++i) add();
  EXPECT_FALSE(queue.add("{}", random));
  EventQueue heavy;
  EXPECT_TRUE(heavy.add(std::string(kMaxEventBytes / 2, 'x'), random));
  EXPECT_FALSE(heavy.add(std::string(kMaxEventBytes / 2 + 1, 'x'), random));
  EXPECT_TRUE(heavy.add("{}", random)) << "a small one still fits";
}

TEST_F(EventQueueTest, LastChanceSendsEverythingToADaemonThatAnswers) {
  const auto first = add();
  for (int i = 0; i < 99; ++i) add();
  send();
  EXPECT_EQ(queue.last_chance(), nullptr);
  queue.answered(first, Answer::Taken);
  std::size_t count = 0;
  for (const auto* event = queue.last_chance(); event != nullptr; event = queue.last_chance())
    queue.sent(*event), ++count;
  EXPECT_EQ(count, 99U);
}

}  // namespace
}  // namespace relay::client
