#include <gtest/gtest.h>

#include "broker/active_senders.h"
#include "broker/changes_during_read.h"
#include "broker/deduplication.h"
#include "broker/heartbeat.h"
#include "broker/mailbox.h"
#include "broker/streams.h"
#include "broker/token_bucket.h"
#include "broker/vector_queue.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;

SteadyTime at(Millis time) { return SteadyTime{time}; }

TEST(VectorQueue, ReturnsItemsInOrder) {
  VectorQueue<std::string, 16> queue;
  EXPECT_TRUE(queue.empty());
  int added = 0, taken = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 100; ++i) queue.emplace_back(std::to_string(added++));
    for (int i = 0; i < 60; ++i) EXPECT_EQ(queue.take_front(), std::to_string(taken++));
  }
  EXPECT_EQ(queue.front(), std::to_string(taken));
  EXPECT_EQ(queue.back(), std::to_string(added - 1));
  while (!queue.empty()) EXPECT_EQ(queue.take_front(), std::to_string(taken++));
  EXPECT_EQ(taken, added);
}

TEST(VectorQueue, RemovesItemsFromItsEnd) {
  VectorQueue<int, 4> queue;
  for (int i = 0; i < 10; ++i) queue.emplace_back(i);
  EXPECT_EQ(queue.take_front(), 0);
  EXPECT_EQ(queue.take_from([](int value) { return value >= 7; }), (std::vector{7, 8, 9}));
  EXPECT_EQ(std::vector(queue.begin(), queue.end()), (std::vector{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(queue.erase_if([](int value) { return value % 2 == 1; }), 3U);
  EXPECT_EQ(queue.front(), 2);
  EXPECT_EQ(queue.take_from([](int) { return true; }).size(), 3U);
  EXPECT_TRUE(queue.empty());
}

TEST(Heartbeat, PingsAfterOneIdleIntervalAndGivesUpAfterTwo) {
  Heartbeat beat{5s, at(0s)};
  EXPECT_EQ(beat.poll(at(4s)), Heartbeat::Action::Fine);
  EXPECT_EQ(beat.poll(at(5s)), Heartbeat::Action::SendPing);
  EXPECT_EQ(beat.poll(at(6s)), Heartbeat::Action::Fine);
  EXPECT_EQ(beat.poll(at(10s)), Heartbeat::Action::PeerLost);
}

TEST(Heartbeat, RestartsWithAnyActivity) {
  Heartbeat beat{5s, at(0s)};
  EXPECT_EQ(beat.poll(at(5s)), Heartbeat::Action::SendPing);
  beat.on_activity(at(9s));
  beat.on_sent(at(9s));
  EXPECT_EQ(beat.poll(at(10s)), Heartbeat::Action::Fine);
  EXPECT_EQ(beat.next(), at(14s));
}

TEST(Heartbeat, PingsPeerThatWasSentNothing) {
  Heartbeat beat{5s, at(0s)};
  for (int round = 1; round <= 5; ++round) {
    beat.on_activity(at(5s * round - 1s));
    EXPECT_EQ(beat.next(), at(5s * round));
    EXPECT_EQ(beat.poll(at(5s * round)), Heartbeat::Action::SendPing);
    EXPECT_EQ(beat.poll(at(5s * round + 1s)), Heartbeat::Action::Fine) << "one PING per interval";
  }
  beat.on_activity(at(27s));
  beat.on_sent(at(29s));
  EXPECT_EQ(beat.poll(at(30s)), Heartbeat::Action::Fine) << "another frame was sent";
  EXPECT_EQ(beat.next(), at(32s));
}

TEST(TokenBucket, PassesBurstThenRate) {
  TokenBucket bucket{10, 3};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.take(at(1s)));
  EXPECT_FALSE(bucket.take(at(1s)));
  EXPECT_GT(bucket.wait(at(1s)), 0ms);
  EXPECT_TRUE(bucket.take(at(1101ms)));
}

TEST(TokenBucket, WithoutRateNeverRefuses) {
  TokenBucket bucket{0, 0};
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bucket.take(at(1s)));
}

TEST(RecentIds, RemembersNewestAndForgetsOldest) {
  RecentIds recent;
  for (std::size_t i = 0; i <= RecentIds::kIds; ++i) recent.add("id-" + std::to_string(i));
  EXPECT_FALSE(recent.contains("id-0"));
  EXPECT_TRUE(recent.contains("id-1"));
  EXPECT_TRUE(recent.contains("id-" + std::to_string(RecentIds::kIds)));
}

TEST(RecentIds, RollsBackUnstoredId) {
  RecentIds recent;
  recent.add("a");
  recent.remove("a");
  EXPECT_FALSE(recent.contains("a"));
}

TEST(OutboxMarks, ClassifiesNumbers) {
  OutboxMarks marks;
  EXPECT_EQ(marks.look_up("e", 1), SequenceCheck::Next);
  EXPECT_EQ(marks.look_up("e", 2), SequenceCheck::Gap);
  marks.advance(AgentName{"A"}, "e", 1, false, 1);
  EXPECT_EQ(marks.look_up("e", 1), SequenceCheck::Duplicate);
  marks.advance(AgentName{"A"}, "e", 2, true, 1);
  EXPECT_EQ(marks.look_up("e", 2), SequenceCheck::Refused);
  EXPECT_EQ(marks.look_up("e", 3), SequenceCheck::Next);
}

TEST(OutboxMarks, MarkLostWithDamagedStoreDoesNotBlockOutbox) {
  OutboxMarks marks;
  marks.advance(AgentName{"A"}, "e", 3, false, 1);  // and up to 7 before the damage
  EXPECT_EQ(marks.look_up("e", 8, 7), SequenceCheck::Next) << "the first number of the connection";
  EXPECT_EQ(marks.look_up("e", 9, 7), SequenceCheck::Gap);
  EXPECT_EQ(marks.look_up("e", 3, 2), SequenceCheck::Duplicate) << "the mark is ahead: the response was lost";
}

TEST(OutboxMarks, RollsBackAfterFailedCommit) {
  OutboxMarks marks;
  for (std::uint64_t n = 1; n <= 5; ++n) marks.advance(AgentName{"A"}, "e", n, n == 4, 1);
  marks.roll_back("e", 3);
  EXPECT_EQ(marks.look_up("e", 2), SequenceCheck::Duplicate);
  EXPECT_EQ(marks.look_up("e", 3), SequenceCheck::Next);
  EXPECT_EQ(marks.look_up("e", 4), SequenceCheck::Gap);
}

TEST(OutboxMarks, NumberOfEpochsIsBounded) {
  OutboxMarks marks;
  for (std::size_t i = 0; i <= OutboxMarks::kEpochs; ++i) {
    marks.advance(AgentName{"A"}, "e" + std::to_string(i), 1, false, static_cast<WallMs>(i));
  }
  EXPECT_EQ(marks.look_up("e0", 1), SequenceCheck::Next);
  EXPECT_EQ(marks.look_up("e1", 1), SequenceCheck::Duplicate);
}

TEST(OutboxNumber, ParsesOnlyItsOwnForm) {
  EXPECT_EQ(outbox_number("abc-17", "abc"), 17u);
  for (const char* id : {"abc-", "abc-0", "abc-x", "abd-1", "abc17", "abc-1-2", "abc--1"}) {
    EXPECT_EQ(outbox_number(id, "abc"), std::nullopt) << id;
  }
}

TEST(Streams, NumbersEachStreamSeparately) {
  Streams streams{100};
  const AgentName a{"A"}, b{"B"}, c{"C"};
  const protocol::Lane normal, manual{protocol::DeliveryMode::Manual, protocol::Priority::Normal};
  EXPECT_EQ(streams.next(Topic{}, a, b, normal), Seq{1});
  EXPECT_EQ(streams.next(Topic{}, a, b, normal), Seq{2});
  EXPECT_EQ(streams.next(Topic{}, a, b, manual), Seq{1});
  EXPECT_EQ(streams.next(Topic{"chat"}, a, b, normal), Seq{1});
  EXPECT_EQ(streams.next(Topic{}, a, c, normal), Seq{1});
  EXPECT_EQ(streams.take_changed().size(), 4u);
  EXPECT_TRUE(streams.take_changed().empty());
  streams.acknowledged(Topic{}, a, b, normal, Seq{2});
  EXPECT_EQ(streams.take_changed().front().acked, Seq{2});
}

TEST(Streams, BroadcastGetsRoomForAllRecipientsAtOnce) {
  constexpr std::size_t kTopics = 300;
  Streams streams{kTopics};
  const AgentName from{"A"};
  const protocol::Lane lane;
  for (std::size_t i = 0; i < kTopics; ++i) {
    const Topic topic{format("t{}", i)};
    streams.acknowledged(topic, from, AgentName{"B"}, lane, streams.next(topic, from, AgentName{"B"}, lane));
  }
  (void)streams.take_changed();
  const auto busy = [](const AgentName&) { return false; };
  EXPECT_TRUE(streams.make_room(from, 200, busy));
  EXPECT_EQ(streams.take_forgotten().size(), 200u);
  EXPECT_TRUE(streams.make_room(from, kTopics + 1, busy)) << "a larger broadcast may use all room";
}

TEST(Streams, ForgottenStreamsFreeRoomAndNumbersAreNotReused) {
  Streams streams{3};
  const AgentName a{"A"}, b{"B"}, c{"C"};
  const protocol::Lane lane;
  const auto busy = [](const AgentName&) { return false; };
  const auto send = [&](const char* topic, const AgentName& to) {
    const auto seq = streams.next(Topic{topic}, a, to, lane);
    (void)streams.take_changed();
    return seq;
  };
  send("t1", b);
  send("t1", b);
  send("t2", b);
  send("t3", c);
  send("", b);
  EXPECT_FALSE(streams.make_room(a, 1, busy)) << "nothing is acknowledged";
  EXPECT_TRUE(streams.make_room(c, 1, busy)) << "another sender has its own room";
  streams.acknowledged(Topic{"t1"}, a, b, lane, Seq{2});
  EXPECT_FALSE(streams.make_room(a, 1, busy)) << "its change is not stored yet";
  (void)streams.take_changed();
  EXPECT_TRUE(streams.make_room(a, 1, busy));
  const auto forgotten = streams.take_forgotten();
  ASSERT_EQ(forgotten.size(), 1u);
  EXPECT_EQ(forgotten[0].topic, Topic{"t1"});
  EXPECT_EQ(send("t1", b), Seq{3}) << "its numbers continue";
  EXPECT_EQ(send("t4", c), Seq{1}) << "a pair without forgotten streams starts at 1";
  EXPECT_EQ(send("", b), Seq{2}) << "streams without a topic are not affected";
  streams.acknowledged(Topic{"forgotten"}, a, b, lane, Seq{2});
  EXPECT_FALSE(streams.contains(Topic{"forgotten"}, a, b, lane)) << "a late ACK creates no stream";

  EXPECT_TRUE(streams.make_room(a, 1, [&](const AgentName& to) { return to == c; })) << "C has no pending deliveries";
  EXPECT_FALSE(streams.contains(Topic{"t3"}, a, c, lane));
  EXPECT_TRUE(streams.contains(Topic{"t2"}, a, b, lane));

  Streams restored{3};
  restored.restore_mark({Topic{}, a, b, lane, Seq{7}, Seq{}});
  restored.restore({Topic{"t2"}, a, b, lane, Seq{9}, Seq{9}});
  EXPECT_EQ(restored.next(Topic{"t9"}, a, b, lane), Seq{8});
  EXPECT_EQ(restored.next(Topic{"t2"}, a, b, lane), Seq{10});
}

constexpr protocol::Lane kDefault;
constexpr protocol::Lane kUrgent{protocol::DeliveryMode::OnIdle, protocol::Priority::Urgent};
constexpr protocol::Lane kManual{protocol::DeliveryMode::Manual, protocol::Priority::Normal};

OutboundDelivery outbound(std::int64_t key, protocol::Lane lane = kDefault, const char* from = "Alice") {
  records::Delivery delivery;
  delivery.key = delivery.rank = Key{key};
  delivery.lane = lane;
  delivery.from = AgentName{from};
  return {delivery, std::make_shared<records::Message>()};
}
Key all_open(protocol::Lane) { return kNoLimit; }
std::int64_t sent_key(Mailbox& box, const LaneLimit& open = all_open) {
  const InFlight* item = box.send_next(open, [](const OutboundDelivery&) { return SettledWhen::Acknowledged; });
  return item == nullptr ? 0 : item->outbound.delivery.key.value();
}
Mailbox open_box(std::uint32_t window) {
  Mailbox box;
  box.connect(window);
  return box;
}
records::BacklogPage page_of(std::initializer_list<std::int64_t> keys) {
  records::BacklogPage page;
  page.from = AgentName{"Alice"};
  for (const auto key : keys) page.items.push_back({outbound(key).delivery, {}});
  return page;
}

TEST(Mailbox, SendsAtMostItsWindow) {
  Mailbox box = open_box(2);
  for (int key = 1; key <= 3; ++key) box.committed(outbound(key), 10);
  EXPECT_EQ(sent_key(box), 1);
  EXPECT_EQ(sent_key(box), 2);
  EXPECT_EQ(sent_key(box), 0);
  EXPECT_TRUE(box.finish(Key{1}));
  EXPECT_EQ(sent_key(box), 3);
}

TEST(Mailbox, LoadsOverflowFromStoreLater) {
  Mailbox box = open_box(1);
  for (int key = 1; key <= 5; ++key) box.committed(outbound(key), 2);
  EXPECT_EQ(box.ready_count(), 2u);
  EXPECT_EQ(sent_key(box), 1);
  box.finish(Key{1});
  EXPECT_EQ(sent_key(box), 2);
  box.finish(Key{2});
  const auto load = box.start_load(all_open);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->after, Key{2});
  box.committed(outbound(6), 2);  // while the page is read
  box.page_arrived(page_of({3, 4, 5}));
  for (const int key : {3, 4, 5}) {
    EXPECT_EQ(sent_key(box), key);
    box.finish(Key{key});
  }
  EXPECT_TRUE(box.start_load(all_open));
}

TEST(Mailbox, IgnoresPageRequestedBeforeReconnect) {
  Mailbox box;
  box.restore({.to = {}, .lane = kDefault, .from = AgentName{"Alice"}, .pending = 3});
  box.connect(8);
  ASSERT_TRUE(box.start_load(all_open));
  box.connect(8);
  EXPECT_FALSE(box.start_load(all_open));
  box.page_arrived(page_of({1}));
  EXPECT_EQ(sent_key(box), 0);
  EXPECT_TRUE(box.start_load(all_open));
}

TEST(Mailbox, FinishedUnsettledDeliveryOfClosedLaneDoesNotCount) {
  Mailbox box;
  const auto not_manual = [](protocol::Lane lane) { return lane == kManual ? Key{} : kNoLimit; };
  box.connect(1, {Key{1}});
  box.committed(outbound(1, kManual), 10);
  box.committed(outbound(2), 10);
  EXPECT_EQ(sent_key(box, not_manual), 0) << "one unsettled delivery fills the window";
  EXPECT_FALSE(box.finish(Key{1}));
  EXPECT_EQ(sent_key(box, not_manual), 2);
}

TEST(Mailbox, PageDoesNotShowMovedDeliveryAtOldRank) {
  Mailbox box = open_box(8);
  box.expect(kDefault, AgentName{"Alice"});
  ASSERT_TRUE(box.start_load(all_open));
  box.moved(Key{1}, Key{9});
  box.page_arrived(page_of({1, 2}));
  EXPECT_EQ(sent_key(box), 2);
  EXPECT_EQ(sent_key(box), 0);
  box.expect(kDefault, AgentName{"Alice"});
  ASSERT_TRUE(box.start_load(all_open));
  auto page = page_of({1});
  page.items[0].delivery.rank = Key{9};
  box.page_arrived(std::move(page));
  EXPECT_EQ(sent_key(box), 1);
}

TEST(Mailbox, ReloadsFromStoreAfterReconnect) {
  Mailbox box = open_box(8);
  box.committed(outbound(1), 10);
  box.committed(outbound(2), 10);
  EXPECT_EQ(sent_key(box), 1);
  box.disconnect();
  box.connect(8);
  EXPECT_EQ(sent_key(box), 0);
  const auto load = box.start_load(all_open);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->after, Key{});
}

TEST(Mailbox, UnsettledDeliveryCountsUntilSentAgain) {
  Mailbox box;
  box.connect(2, {Key{1}, Key{2}});
  box.committed(outbound(3, kUrgent, "Bob"), 10);
  EXPECT_EQ(sent_key(box), 0);
  box.expect(kDefault, AgentName{"Alice"});
  ASSERT_TRUE(box.start_load(all_open));
  box.page_arrived(page_of({1}));
  EXPECT_EQ(sent_key(box), 1);
  EXPECT_EQ(sent_key(box), 0);
  box.finish(Key{2});  // it was settled meanwhile
  EXPECT_EQ(sent_key(box), 3);
}

TEST(Mailbox, RequeuedUnsettledDeliveryDoesNotBlockFlow) {
  Mailbox box;
  box.connect(1, {Key{1}});
  box.locate_unsettled(Key{1}, kDefault, AgentName{"Alice"});
  box.committed(outbound(2), 10);
  EXPECT_EQ(sent_key(box), 2);
}

TEST(ActiveSenders, CountsThisPeriodAndTheLast) {
  ActiveSenders senders;
  std::uint64_t alice = 0, bob = 0;
  senders.on_activity(alice, at(1s));
  senders.on_activity(alice, at(1010ms));
  EXPECT_FALSE(senders.more_than_one());
  senders.on_activity(bob, at(1020ms));
  EXPECT_TRUE(senders.more_than_one());
  senders.on_activity(alice, at(1110ms));
  EXPECT_TRUE(senders.more_than_one());
  senders.on_activity(alice, at(1210ms));
  EXPECT_FALSE(senders.more_than_one());
  senders.on_activity(bob, at(9s));
  EXPECT_FALSE(senders.more_than_one());
}

TEST(Mailbox, RequeuedUnsettledDeliveryStaysWithSession) {
  Mailbox box;
  box.connect(1, {Key{1}});
  box.locate_unsettled(Key{1}, kDefault, AgentName{"Alice"});
  box.committed(outbound(2), 10);
  EXPECT_EQ(sent_key(box), 2);
  EXPECT_TRUE(box.is_with_session(Key{1}));
  box.finish(Key{1});
  EXPECT_FALSE(box.is_with_session(Key{1}));
}

TEST(ChangesDuringRead, KeepsChangeUntilNoReadCanMissIt) {
  ChangesDuringRead changes_during_read;
  changes_during_read.add(DeliveryChange::Finished, Key{1});
  const auto before = changes_during_read.start_read();
  changes_during_read.stored(DeliveryChange::Finished, Key{1});
  const auto after = changes_during_read.start_read();
  EXPECT_TRUE(changes_during_read.has(DeliveryChange::Finished, Key{1}));
  changes_during_read.end_read(before);
  EXPECT_FALSE(changes_during_read.has(DeliveryChange::Finished, Key{1}));
  changes_during_read.end_read(after);
  changes_during_read.add(DeliveryChange::Redelivered, Key{2});
  EXPECT_FALSE(changes_during_read.has(DeliveryChange::Finished, Key{2}));
  changes_during_read.undo(DeliveryChange::Redelivered, Key{2});
  EXPECT_FALSE(changes_during_read.has(DeliveryChange::Redelivered, Key{2}));
}

TEST(Mailbox, SendersTakeTurnsInLane) {
  Mailbox box = open_box(100);
  for (int key = 1; key <= 6; ++key) box.committed(outbound(key, kDefault, "Chatterbox"), 100);
  box.committed(outbound(7, kDefault, "Other"), 100);
  EXPECT_EQ(sent_key(box), 1);
  EXPECT_EQ(sent_key(box), 7);
  for (const int key : {2, 3, 4, 5, 6}) EXPECT_EQ(sent_key(box), key);
}

TEST(Mailbox, UrgentDeliveryIsSentFirst) {
  Mailbox box = open_box(100);
  box.committed(outbound(1), 100);
  box.committed(outbound(2, kUrgent), 100);
  EXPECT_EQ(sent_key(box), 2);
  EXPECT_EQ(sent_key(box), 1);
}

TEST(Mailbox, ClosedLaneBlocksNoOther) {
  Mailbox box = open_box(100);
  box.committed(outbound(1, kManual), 100);
  box.committed(outbound(2), 100);
  const auto no_manual = [](protocol::Lane lane) {
    return lane.mode == protocol::DeliveryMode::Manual ? Key{} : kNoLimit;
  };
  EXPECT_EQ(sent_key(box, no_manual), 2);
  EXPECT_EQ(sent_key(box, no_manual), 0);
  EXPECT_EQ(sent_key(box), 1);
}

TEST(Mailbox, LaneCanBeOpenUpToRank) {
  Mailbox box = open_box(100);
  box.committed(outbound(5), 100);
  box.committed(outbound(9), 100);
  const auto up_to_five = [](protocol::Lane) { return Key{5}; };
  EXPECT_EQ(sent_key(box, up_to_five), 5);
  EXPECT_EQ(sent_key(box, up_to_five), 0);
}

TEST(Mailbox, LaneOfLongUnsettledDeliveriesUsesPartOfWindow) {
  Mailbox box = open_box(16);
  for (int key = 1; key <= 10; ++key) box.committed(outbound(key, kManual), 100);
  EXPECT_EQ(sent_key(box), 1);
  EXPECT_EQ(sent_key(box), 2);
  EXPECT_EQ(sent_key(box), 0);
  box.committed(outbound(11), 100);
  EXPECT_EQ(sent_key(box), 11);
}

}  // namespace
}  // namespace relay::broker
