// The queries of every store; see message_store_suite.h.
#include "records/query_errors.h"
#include "store/message_store_suite.h"

namespace relay::store {

using namespace records;
using namespace sample;

TEST_P(MessageStoreSuite, InboxMergesDirectAndSharedMessagesInOrder) {
  std::int64_t key = 1;
  for (int round = 0; round < 5; ++round, key += 6) {
    commit(direct(key, "Alice", "Bob", "for bob alone"));
    commit({AddMessage{message(key + 2, "Alice", "*", "for all")}, AddDelivery{delivery(key + 3, key + 2, "Bob")},
            AddDelivery{delivery(key + 4, key + 2, "Carol")}});
    commit({AddMessage{message(key + 5, "Alice", "Bob", "not delivered")}});
  }
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob")), (Keys{27, 25, 21, 19, 15, 13, 9, 7, 3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").limit(3)), (Keys{27, 25, 21}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").ascending().after(7).before(21)), (Keys{9, 13, 15, 19}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").to("Bob").limit(2)), (Keys{25, 19}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Carol")), (Keys{27, 21, 15, 9, 3}));
}

TEST_P(MessageStoreSuite, RedeliveredMessageHasTheStateOfItsNewestDelivery) {
  const auto state_now = [&] { return rows(QueryBuilder{}).at(0).state; };
  commit({AddMessage{message(1, "Alice", "*", "hello")}, AddDelivery{delivery(2, 1, "Bob")},
          AddDelivery{delivery(3, 1, "Carol")}});
  commit({change(3, DeliveryState::Delivered)});
  commit({change(2, DeliveryState::Cancelled)});
  EXPECT_EQ(state_now(), DeliveryState::Cancelled);
  commit({AddDelivery{delivery(4, 1, "Bob")}});
  EXPECT_EQ(state_now(), DeliveryState::Queued);
  commit({change(4, DeliveryState::Delivered)});
  EXPECT_EQ(state_now(), DeliveryState::Delivered);
}

TEST_P(MessageStoreSuite, FindsMessageByShortIdPrefixOrSenderId) {
  commit(direct(1, "Alice", "Bob", "one"));
  commit(direct(3, "Alice", "Bob", "two"));
  auto foreign = message(5, "Alice", "Bob", "three");
  foreign.id = "0d9f6f2e-6a5e-4c5e-9d0f-1c2b3a4d5e6f";
  commit({AddMessage{foreign}});
  EXPECT_EQ(store_->trace(short_id(Key{3}))->message.key, Key{3});
  EXPECT_EQ(store_->trace(short_id(Key{3}).substr(0, 6))->message.key, Key{3});
  EXPECT_EQ(store_->trace(foreign.id)->message.key, Key{5});
  EXPECT_EQ(keys(QueryBuilder{}.id(short_id(Key{1}))), Keys{1});
  EXPECT_EQ(keys(QueryBuilder{}.id("zzzzzzzz")), Keys{});
  const auto missing = store_->trace("zzzzzzzz");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(is(missing.error(), records::QueryErrc::NotFound));
}

TEST_P(MessageStoreSuite, AmbiguousPrefixListsIds) {
  // Two keys whose short ids share their first four characters.
  const auto prefix = short_id(Key{1}).substr(0, kMinPrefixLength);
  const auto alike = keys_matching(prefix, {Key{1}, Key{4'000'000}}, 2);
  ASSERT_EQ(alike.size(), 2u);
  for (const auto key : alike) commit({AddMessage{message(key.value(), "Alice", "Bob", "x")}});
  const auto trace = store_->trace(prefix);
  ASSERT_FALSE(trace);
  EXPECT_TRUE(is(trace.error(), records::QueryErrc::Ambiguous));
  EXPECT_NE(trace.error().message().find(short_id(alike[1])), std::string::npos);
}

TEST_P(MessageStoreSuite, FiltersAndOrdersMessages) {
  commit(direct(1, "Alice", "Bob", "a"));
  commit(direct(3, "Bob", "Alice", "b"));
  commit(direct(5, "Alice", "Bob", "c"));
  commit({AddMessage{message(7, "Alice", "#general", "d")}, AddDelivery{delivery(8, 7, "Bob")},
          AddDelivery{delivery(9, 7, "Carol")}});
  EXPECT_EQ(keys(QueryBuilder{}), (Keys{7, 5, 3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.limit(2)), (Keys{7, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.limit(2).ascending()), (Keys{1, 3}));
  EXPECT_EQ(keys(QueryBuilder{}.from("Alice")), (Keys{7, 5, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.to("Bob")), (Keys{5, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.from("Alice").to("Bob").ascending()), (Keys{1, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.channel("#general")), Keys{7});
  EXPECT_EQ(keys(QueryBuilder{}.since(kStart + 5)), (Keys{7, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.since(kStart + 100)), Keys{});
  EXPECT_EQ(keys(QueryBuilder{}.after(3)), (Keys{7, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.before(5)), (Keys{3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.after(1).before(7).ascending()), (Keys{3, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").before(7)), (Keys{5, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.from("Nobody")), Keys{});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Carol")), Keys{7});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").after(5)), Keys{7});
}

TEST_P(MessageStoreSuite, InboxHasEachMessageOnceAndCanBeUnreadOnly) {
  commit(direct(1, "Alice", "Bob", "a"));
  commit(direct(3, "Alice", "Bob", "b"));
  commit({AddDelivery{delivery(5, 3, "Bob")}});  // a second copy of one message
  commit({change(2, DeliveryState::Delivered)});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob")), (Keys{3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").unread_only()), Keys{3});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Alice")), Keys{});
}

TEST_P(MessageStoreSuite, InboxKeepsMessageOrderAfterRedelivery) {
  for (std::int64_t key = 1; key <= 5; key += 2) commit(direct(key, "Alice", "Bob", "a"));
  commit({change(2, DeliveryState::Dead), AddDelivery{delivery(7, 1, "Bob", 9)}});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob")), (Keys{5, 3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").ascending()), (Keys{1, 3, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").unread_only()), (Keys{5, 3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").unread_only().before(5).limit(1)), Keys{3});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").before(3)), Keys{1});
}

TEST_P(MessageStoreSuite, MessageHasStateOfLeastAdvancedDelivery) {
  commit({AddMessage{message(1, "Alice", "*", "all")}, AddDelivery{delivery(2, 1, "Bob")},
          AddDelivery{delivery(3, 1, "Carol")}});
  EXPECT_EQ(rows(QueryBuilder{}).at(0).state, DeliveryState::Queued);
  commit({change(2, DeliveryState::Delivered)});
  EXPECT_EQ(rows(QueryBuilder{}).at(0).state, DeliveryState::Queued);
  commit({change(3, DeliveryState::Failed)});
  EXPECT_EQ(rows(QueryBuilder{}).at(0).state, DeliveryState::Failed);
  EXPECT_EQ(rows(QueryBuilder{}).at(0).deliveries, 2u);
  commit({AddMessage{message(4, "Alice", "*", "all again")}, AddDelivery{delivery(5, 4, "Bob")},
          AddDelivery{delivery(6, 4, "Carol")}, change(5, DeliveryState::Delivered),
          change(6, DeliveryState::Delivered)});
  EXPECT_EQ(rows(QueryBuilder{}).at(0).state, DeliveryState::Delivered);
}

TEST_P(MessageStoreSuite, CountsRepliesByShortIdAndBySendersId) {
  commit(direct(1, "Alice", "Bob", "question"));
  auto by_short = message(3, "Bob", "Alice", "answer");
  by_short.thread = short_id(Key{1});
  auto by_sender = message(4, "Bob", "Alice", "more");
  by_sender.thread = "id-1";
  commit({AddMessage{by_short}, AddMessage{by_sender}});
  EXPECT_EQ(rows(QueryBuilder{}.ascending()).at(0).reply_count, 2u);
  EXPECT_EQ(keys(QueryBuilder{}.thread("id-1")), Keys{4});
}

TEST_P(MessageStoreSuite, FindsWordsBeforeAndAfterTheyAreIndexed) {
  commit(direct(1, "Alice", "Bob", "the build is Green"));
  commit(direct(3, "Bob", "Alice", "all builds are red"));
  index_all();
  commit(direct(5, "Alice", "Carol", "BUILD foo-bar broken"));
  EXPECT_EQ(keys(QueryBuilder{}.search("build")), (Keys{5, 3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.ascending().search("build")), (Keys{1, 3, 5}));
  EXPECT_EQ(keys(QueryBuilder{}.limit(1).search("build")), Keys{5});
  EXPECT_EQ(keys(QueryBuilder{}.search("build green")), Keys{1});
  EXPECT_EQ(keys(QueryBuilder{}.search("foo-bar")), Keys{5});
  EXPECT_EQ(keys(QueryBuilder{}.from("Alice").search("build")), (Keys{5, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").search("build")), Keys{1});
  EXPECT_EQ(keys(QueryBuilder{}.search("nothing")), Keys{});
  index_all();
  EXPECT_EQ(keys(QueryBuilder{}.search("build")), (Keys{5, 3, 1}));
  EXPECT_EQ(keys(QueryBuilder{}.search("foo-bar")), Keys{5});
}

TEST_P(MessageStoreSuite, SearchTreatsInputAsPlainWords) {
  commit(direct(1, "Alice", "Bob", "plain words"));
  index_all();
  for (const char* typed : {"\"", "' OR 1=1", "NEAR(", "a AND", "*", "body:plain", "^plain", "-", "\xe2\x80\x94",
                            "(plain)", "plain*", "\x01"}) {
    EXPECT_TRUE(store_->messages(QueryBuilder{}.search(typed))) << typed;
  }
  EXPECT_EQ(keys(QueryBuilder{}.search("(plain)")), Keys{1});
  EXPECT_EQ(keys(QueryBuilder{}.search("***")), Keys{});
}

TEST_P(MessageStoreSuite, SubscriptionsAreAddedAndRemovedOneByOne) {
  auto open = session("s1", "Alice");
  open.topics = {"a"};
  commit({PutAgent{agent("Alice")}, PutSession{open}});
  commit({AddSubscription{SessionId{"s1"}, "c"}, AddSubscription{SessionId{"s1"}, "b"},
          AddSubscription{SessionId{"s1"}, "c"}, AddSubscription{SessionId{"nobody"}, "x"},
          RemoveSubscription{SessionId{"s1"}, "a"}});
  auto topics = load().sessions.at(0).topics;
  std::ranges::sort(topics);
  EXPECT_EQ(topics, (std::vector<std::string>{"b", "c"}));
  open.topics = {"b", "c"};
  open.ended = 5;
  commit({PutSession{open}});
  EXPECT_TRUE(load().sessions.empty());
}

TEST_P(MessageStoreSuite, ForgottenStreamsLeaveAMark) {
  const auto stream = [](const char* topic, std::uint64_t last) {
    return Stream{Topic{topic}, AgentName{"Alice"}, AgentName{"Bob"}, {}, Seq{last}, Seq{last}};
  };
  commit({SetStream{stream("a", 4)}, SetStream{stream("b", 2)}});
  commit({ForgetStream{stream("a", 4)}, ForgetStream{stream("b", 1)}, SetStream{stream("c", 5)}});
  auto snapshot = load();
  ASSERT_EQ(snapshot.streams.size(), 2u);
  EXPECT_EQ(snapshot.streams[0].topic, Topic{"b"}) << "its numbers grew meanwhile";
  EXPECT_EQ(snapshot.streams[1].topic, Topic{"c"});
  ASSERT_EQ(snapshot.stream_marks.size(), 1u);
  EXPECT_EQ(snapshot.stream_marks[0].last, Seq{4});
  EXPECT_EQ(snapshot.stream_marks[0].to, AgentName{"Bob"});
  commit({SetStream{stream("a", 6)}, ForgetStream{stream("c", 5)}, ForgetStream{stream("b", 2)}});
  snapshot = load();
  ASSERT_EQ(snapshot.streams.size(), 1u);
  EXPECT_EQ(snapshot.streams[0].last, Seq{6});
  EXPECT_EQ(snapshot.stream_marks.at(0).last, Seq{5});
}

TEST_P(MessageStoreSuite, LoadsStateOfBroker) {
  auto alice = agent("Alice");
  alice.entity = protocol::EntityType::User;
  alice.cli = "claude";
  alice.claim_hash = "abc";
  alice.first_seen = 5;
  alice.last_seen = 6;
  auto open = session("s1", "Alice");
  open.token_hash = "hash";
  open.capabilities.send_ack = true;
  open.capabilities.max_inflight = 77;
  open.capabilities.outbox = "epoch";
  open.topics = {"a", "b \"quoted\""};
  open.shadows = {{AgentName{"Bob"}, {"ALL_MESSAGES"}, false, true}};
  auto ended = session("s2", "Alice");
  ended.ended = 9;
  OutboxMark mark{AgentName{"Alice"}, "e1", 42, {7, 9}, 100};
  auto open_proposal = proposal("p1", "Alice");
  open_proposal.participants = {AgentName{"Bob"}};
  open_proposal.votes = {{AgentName{"Bob"}, "approve", "fine"}};
  open_proposal.threshold = 0.5;
  auto closed = proposal("p2", "Alice");
  closed.outcome = "approved";
  commit({PutAgent{alice}, PutSession{open}, PutSession{ended}, JoinChannel{{"#general", AgentName{"Alice"}}},
          JoinChannel{{"#general", AgentName{"Alice"}}}, JoinChannel{{"#dev", AgentName{"Alice"}}},
          LeaveChannel{{"#dev", AgentName{"Alice"}}}, SetOutboxMark{mark}, PutProposal{open_proposal},
          PutProposal{closed}});
  commit(direct(1, "Alice", "Bob", "hello", 3));
  commit({SetStream{{Topic{}, AgentName{"Alice"}, AgentName{"Bob"}, {}, Seq{2}, Seq{1}}}});

  const auto snapshot = load();
  EXPECT_EQ(snapshot.newest, Key{2});
  ASSERT_EQ(snapshot.agents.size(), 1u);
  EXPECT_EQ(snapshot.agents[0].entity, protocol::EntityType::User);
  EXPECT_EQ(snapshot.agents[0].cli, "claude");
  EXPECT_EQ(snapshot.agents[0].claim_hash, "abc");
  EXPECT_EQ(snapshot.agents[0].last_seen, 6);
  ASSERT_EQ(snapshot.sessions.size(), 1u);
  EXPECT_EQ(snapshot.sessions[0].id, SessionId{"s1"});
  EXPECT_TRUE(snapshot.sessions[0].capabilities.send_ack);
  EXPECT_EQ(snapshot.sessions[0].capabilities.max_inflight, 77u);
  EXPECT_EQ(snapshot.sessions[0].capabilities.outbox, "epoch");
  EXPECT_EQ(snapshot.sessions[0].topics, open.topics);
  ASSERT_EQ(snapshot.sessions[0].shadows.size(), 1u);
  EXPECT_FALSE(snapshot.sessions[0].shadows[0].incoming);
  EXPECT_EQ(snapshot.sessions[0].shadows[0].speak_on, std::vector<std::string>{"ALL_MESSAGES"});
  ASSERT_EQ(snapshot.streams.size(), 1u);
  EXPECT_EQ(snapshot.streams[0].last, Seq{3}) << "a stream only grows";
  EXPECT_EQ(snapshot.streams[0].acked, Seq{1});
  ASSERT_EQ(snapshot.memberships.size(), 1u);
  EXPECT_EQ(snapshot.memberships[0].channel, "#general");
  ASSERT_EQ(snapshot.marks.size(), 1u);
  EXPECT_EQ(snapshot.marks[0].high, 42u);
  EXPECT_EQ(snapshot.marks[0].refused, (std::vector<std::uint64_t>{7, 9}));
  ASSERT_EQ(snapshot.proposals.size(), 1u);
  EXPECT_EQ(snapshot.proposals[0].participants, std::vector{AgentName{"Bob"}});
  EXPECT_EQ(snapshot.proposals[0].votes.at(0).reason, "fine");
  EXPECT_EQ(snapshot.proposals[0].threshold, 0.5);
  ASSERT_EQ(snapshot.recent_ids.size(), 1u);
  EXPECT_EQ(snapshot.recent_ids[0].id, "id-1");
  EXPECT_EQ(snapshot.recent_ids[0].from, AgentName{"Alice"});
  ASSERT_EQ(snapshot.backlogs.size(), 1u);
  EXPECT_EQ(snapshot.backlogs[0].to, AgentName{"Bob"});
  EXPECT_EQ(snapshot.backlogs[0].pending, 1u);
  EXPECT_EQ(snapshot.next_expiry, kStart + 1'000'000);
}

TEST_P(MessageStoreSuite, CountsItsContent) {
  commit(direct(1, "Alice", "Bob", "a"));
  commit(direct(3, "Alice", "Bob", "b"));
  commit({change(2, DeliveryState::Delivered)});
  const auto stats = store_->stats();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->driver, GetParam().name);
  EXPECT_EQ(stats->messages, 2u);
  EXPECT_EQ(stats->pending, 1u);
  EXPECT_GT(stats->bytes, 0u);
}

}  // namespace relay::store
