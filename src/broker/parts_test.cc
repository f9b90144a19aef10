#include <gtest/gtest.h>

#include "broker/duplicates.h"
#include "broker/heartbeat.h"
#include "broker/mailbox.h"
#include "broker/streams.h"
#include "broker/token_bucket.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;

SteadyTime at(Millis time) { return SteadyTime{time}; }

TEST(Heartbeat, AsksAfterOneSilentIntervalAndGivesUpAfterTwo) {
  Heartbeat beat{5s, at(0s)};
  EXPECT_EQ(beat.poll(at(4s)), Heartbeat::Verdict::Fine);
  EXPECT_EQ(beat.poll(at(5s)), Heartbeat::Verdict::SendPing);
  EXPECT_EQ(beat.poll(at(6s)), Heartbeat::Verdict::Fine);
  EXPECT_EQ(beat.poll(at(10s)), Heartbeat::Verdict::PeerIsGone);
}

TEST(Heartbeat, BeginsAnewWithAnySignOfLife) {
  Heartbeat beat{5s, at(0s)};
  EXPECT_EQ(beat.poll(at(5s)), Heartbeat::Verdict::SendPing);
  beat.heard(at(9s));
  EXPECT_EQ(beat.poll(at(10s)), Heartbeat::Verdict::Fine);
  EXPECT_EQ(beat.next(), at(14s));
}

TEST(TokenBucket, LetsABurstThroughThenTheRate) {
  TokenBucket bucket{10, 3};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.take(at(1s)));
  EXPECT_FALSE(bucket.take(at(1s)));
  EXPECT_GT(bucket.wait(at(1s)), 0ms);
  EXPECT_TRUE(bucket.take(at(1101ms)));
}

TEST(TokenBucket, WithoutARateNeverSaysNo) {
  TokenBucket bucket{0, 0};
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bucket.take(at(1s)));
}

TEST(RecentIds, RemembersTheNewestAndForgetsTheOldest) {
  RecentIds recent;
  for (std::size_t i = 0; i <= RecentIds::kIds; ++i) recent.add("id-" + std::to_string(i));
  EXPECT_FALSE(recent.contains("id-0"));
  EXPECT_TRUE(recent.contains("id-1"));
  EXPECT_TRUE(recent.contains("id-" + std::to_string(RecentIds::kIds)));
}

TEST(RecentIds, TakesBackWhatWasNotStored) {
  RecentIds recent;
  recent.add("a");
  recent.remove("a");
  EXPECT_FALSE(recent.contains("a"));
}

TEST(OutboxMarks, KnowsTheNextTheSeenAndTheTooEarly) {
  OutboxMarks marks;
  EXPECT_EQ(marks.look_up("e", 1), Numbered::Next);
  EXPECT_EQ(marks.look_up("e", 2), Numbered::TooEarly);
  marks.advance(AgentName{"A"}, "e", 1, false, 1);
  EXPECT_EQ(marks.look_up("e", 1), Numbered::Seen);
  marks.advance(AgentName{"A"}, "e", 2, true, 1);
  EXPECT_EQ(marks.look_up("e", 2), Numbered::Refused);
  EXPECT_EQ(marks.look_up("e", 3), Numbered::Next);
}

TEST(OutboxMarks, ExpectsEverythingAgainAfterAFailedCommit) {
  OutboxMarks marks;
  for (std::uint64_t n = 1; n <= 5; ++n) marks.advance(AgentName{"A"}, "e", n, n == 4, 1);
  marks.roll_back("e", 3);
  EXPECT_EQ(marks.look_up("e", 2), Numbered::Seen);
  EXPECT_EQ(marks.look_up("e", 3), Numbered::Next);
  EXPECT_EQ(marks.look_up("e", 4), Numbered::TooEarly);
}

TEST(OutboxMarks, KeepsABoundedNumberOfEpochs) {
  OutboxMarks marks;
  for (std::size_t i = 0; i <= OutboxMarks::kEpochs; ++i) {
    marks.advance(AgentName{"A"}, "e" + std::to_string(i), 1, false, static_cast<WallMs>(i));
  }
  EXPECT_EQ(marks.look_up("e0", 1), Numbered::Next);
  EXPECT_EQ(marks.look_up("e1", 1), Numbered::Seen);
}

TEST(OutboxNumber, ReadsOnlyItsOwnForm) {
  EXPECT_EQ(outbox_number("abc-17", "abc"), 17u);
  for (const char* id : {"abc-", "abc-0", "abc-x", "abd-1", "abc17", "abc-1-2", "abc--1"}) {
    EXPECT_EQ(outbox_number(id, "abc"), std::nullopt) << id;
  }
}

TEST(Streams, NumberEachStreamByItself) {
  Streams streams;
  const AgentName a{"A"}, b{"B"}, c{"C"};
  EXPECT_EQ(streams.next(Topic{}, a, b), Seq{1});
  EXPECT_EQ(streams.next(Topic{}, a, b), Seq{2});
  EXPECT_EQ(streams.next(Topic{"chat"}, a, b), Seq{1});
  EXPECT_EQ(streams.next(Topic{}, a, c), Seq{1});
  EXPECT_EQ(streams.take_changed().size(), 3u);
  EXPECT_TRUE(streams.take_changed().empty());
  streams.acknowledged(Topic{}, a, b, Seq{2});
  EXPECT_EQ(streams.take_changed().front().acked, Seq{2});
}

Parcel parcel(std::int64_t key) {
  records::Delivery delivery;
  delivery.key = Key{key};
  return {delivery, std::make_shared<records::Message>()};
}
std::int64_t sent_key(Mailbox& box) {
  const InFlight* item = box.send_next([](const Parcel&) { return DoneWhen::Acknowledged; });
  return item == nullptr ? 0 : item->parcel.delivery.key.value();
}

/// Whose owner is here and has nothing in the store.
Mailbox empty_box(std::uint32_t window) {
  Mailbox box;
  box.connect(window);
  EXPECT_TRUE(box.wants_page());
  box.begin_load();
  box.page_arrived({});
  return box;
}

TEST(Mailbox, SendsNoMoreThanItsWindow) {
  Mailbox box = empty_box(2);
  for (int key = 1; key <= 3; ++key) box.committed(parcel(key), 10);
  EXPECT_EQ(sent_key(box), 1);
  EXPECT_EQ(sent_key(box), 2);
  EXPECT_EQ(sent_key(box), 0);
  EXPECT_TRUE(box.finish(Key{1}));
  EXPECT_EQ(sent_key(box), 3);
}

TEST(Mailbox, LeavesInTheStoreWhatDoesNotFitAndLoadsItLater) {
  Mailbox box = empty_box(1);
  for (int key = 1; key <= 5; ++key) box.committed(parcel(key), 2);
  EXPECT_EQ(box.ready_count(), 2u);
  EXPECT_EQ(sent_key(box), 1);
  box.finish(Key{1});
  EXPECT_EQ(sent_key(box), 2);
  box.finish(Key{2});
  ASSERT_TRUE(box.wants_page());
  EXPECT_EQ(box.begin_load(), Key{2});
  box.committed(parcel(6), 2);  // while the page is read: only remembered
  records::BacklogPage page;
  for (int key = 3; key <= 5; ++key) page.items.push_back({parcel(key).delivery, {}});
  box.page_arrived(std::move(page));
  EXPECT_EQ(sent_key(box), 3);
  box.finish(Key{3});
  EXPECT_EQ(sent_key(box), 4);
  box.finish(Key{4});
  EXPECT_EQ(sent_key(box), 5);
  EXPECT_TRUE(box.wants_page());
}

TEST(Mailbox, IgnoresAPageAskedForBeforeAReconnect) {
  Mailbox box;
  box.pending = 3;
  box.connect(8);
  box.begin_load();
  box.connect(8);
  EXPECT_FALSE(box.wants_page());
  records::BacklogPage page;
  page.items.push_back({parcel(1).delivery, {}});
  box.page_arrived(std::move(page));
  EXPECT_EQ(sent_key(box), 0);
  EXPECT_TRUE(box.wants_page());
}

}  // namespace
}  // namespace relay::broker
