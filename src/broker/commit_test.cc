#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using testing::body;
using testing::BrokerFixture;
using testing::payload;
using testing::text;
using testing::token_of;
using testing::with_token;
using Texts = std::vector<std::string>;

TEST(Broker, AcknowledgesAndDeliversOnlyAfterTheCommit) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.received(alice);
  world.received(bob);
  world.hold_commits();
  world.send(alice, "m1", "Bob", "hello");
  EXPECT_TRUE(world.received(alice).empty());
  EXPECT_TRUE(world.received(bob).empty());
  world.release_commits();
  EXPECT_EQ(text(payload(world.received(alice, "ACK").at(0)), "ack_id"), "m1");
  EXPECT_EQ(world.bodies(bob), Texts{"hello"});
}

TEST(Broker, DeliversBeforeItAcknowledges) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  world.send(alice, "m1", "Alice", "to myself");
  const auto frames = world.received(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "DELIVER");
  EXPECT_EQ(text(frames.at(1), "type"), "ACK");
}

TEST(Broker, WelcomesOnlyAfterTheSessionIsStored) {
  BrokerFixture world;
  world.hold_commits();
  const auto alice = world.join("Alice");
  EXPECT_TRUE(world.received(alice).empty());
  EXPECT_TRUE(world.paused(alice));
  world.send(alice, "m1", "Alice", "to myself");  // in the same write as HELLO
  world.release_commits();
  EXPECT_FALSE(world.paused(alice));
  const auto frames = world.received(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "WELCOME");
  EXPECT_EQ(body(frames.at(1)), "to myself");
}

TEST(Broker, ForwardsThePayloadAsTheBytesThatCameIn) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  world.received(bob);
  world.say(
      alice,
      R"({"v":1,"type":"SEND","id":"m","ts":1,"to":"Bob","topic":"chat","payload":{ "kind":"action","body":"x","data":{"n":1e2}},"payload_meta":{"importance":7}})");
  const auto frame = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(text(frame, "from"), "Alice");
  EXPECT_EQ(text(frame, "to"), "Bob");
  EXPECT_EQ(text(frame, "topic"), "chat");
  EXPECT_EQ(integer_member(*object_member(frame, "payload_meta"), "importance"), 7);
  EXPECT_EQ(integer_member(*object_member(payload(frame), "data"), "n"), 100);
}

TEST(Broker, SetsFromByConnection) {
  BrokerFixture world;
  const auto mallory = world.join("Mallory");
  const auto bob = world.join("Bob");
  world.received(bob);
  world.send(mallory, "m", "Bob", "trust me", R"("from":"Alice")");
  EXPECT_EQ(text(world.received(bob, "DELIVER").at(0), "from"), "Mallory");
}

TEST(Broker, AnswersAFailedCommitAndTakesTheSameMessageLater) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  const auto bob = world.join_ours("Bob");
  world.received(alice);
  world.fail_commits(true);
  world.send(alice, "e-1", "Bob", "one");
  world.send(alice, "e-2", "Bob", "two");
  const auto refusals = world.received(alice, "NACK");
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(text(payload(refusals[0]), "code"), "STORAGE");
  EXPECT_EQ(integer_member(payload(refusals[0]), "retry_after_ms"), 1000);
  world.fail_commits(false);
  world.pass(1s);  // as long as the refusal said
  world.send(alice, "e-2", "Bob", "two");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "BUSY");  // the first one is still missing
  world.send(alice, "e-1", "Bob", "one");
  world.send(alice, "e-2", "Bob", "two");
  EXPECT_EQ(world.received(alice, "ACK").size(), 2u);
  world.pass(2s);
  EXPECT_EQ(world.bodies(bob), (Texts{"one", "two"}));
}

TEST(Broker, PiggybackChangeSharesCommitOfNextMessage) {
  using enum records::CommitMode;
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto bob = world.join_ours("Bob");
  world.commit_modes();
  world.send(alice, "m", "Bob", "hi");
  EXPECT_EQ(world.commit_modes(), std::vector{Immediate}) << "its sender waits";
  world.ack(bob, world.received(bob, "DELIVER").at(0));
  EXPECT_EQ(world.commit_modes(), std::vector{Piggyback});
}

TEST(Broker, KeepsAcknowledgementsThatCouldNotBeSavedUntilTheyCan) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "m", "Bob", "hi");
  const auto frame = world.received(bob, "DELIVER").at(0);
  world.fail_commits(true);
  world.ack(bob, frame);
  world.fail_commits(false);
  world.pass(3s);
  world.restart();
  const auto again = world.join_ours("Bob");
  EXPECT_TRUE(world.bodies(again).empty());
}

TEST(Broker, StoresTheSameIdOnceAndAnswersItTwice) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "same", "Bob", "once");
  world.send(alice, "same", "Bob", "once");
  EXPECT_EQ(world.received(alice, "ACK").size(), 2u);
  EXPECT_EQ(world.bodies(bob), Texts{"once"});
  world.restart();
  const auto later = world.join_ours("Alice");
  const auto bob2 = world.join_ours("Bob");
  world.bodies(bob2);
  world.send(later, "same", "Bob", "once");
  EXPECT_EQ(world.received(later, "ACK").size(), 1u);
  EXPECT_TRUE(world.bodies(bob2).empty());
}

TEST(Broker, SeparatesEqualIdsOfTwoSenders) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto carol = world.join_ours("Carol");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "a");
  world.send(carol, "1", "Bob", "c");
  EXPECT_EQ(world.bodies(bob), (Texts{"a", "c"}));
}

TEST(Broker, RemembersAnOutboxForEver) {
  BrokerFixture world;
  const std::string ours = R"("capabilities":{"send_ack":true,"outbox":"e"})";
  auto alice = world.join("Alice", ours);
  world.join_ours("Bob");
  for (int i = 1; i <= 2000; ++i) world.send(alice, format("e-{}", i), "Bob", "x");
  EXPECT_EQ(world.received(alice, "ACK").size(), 2000u);
  world.restart();
  alice = world.join("Alice", ours);
  world.received(alice);
  world.send(alice, "e-1", "Bob", "x");
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(world.store().stats()->messages, 2000u);
}

TEST(Broker, ContinuesOutboxOnNewStore) {
  BrokerFixture world;  // knows nothing of e-1 to e-3, which another store answered
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  const auto bob = world.join_ours("Bob");
  world.received(alice);
  world.send(alice, "e-4", "Bob", "four");
  world.send(alice, "e-6", "Bob", "six");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "BUSY");
  world.send(alice, "e-5", "Bob", "five");
  world.send(alice, "e-6", "Bob", "six");
  world.send(alice, "e-4", "Bob", "four");
  EXPECT_EQ(world.bodies(bob), (Texts{"four", "five", "six"}));
}

TEST(Broker, RepeatsAFinalRefusalOfAnOutbox) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  world.received(alice);
  world.send(alice, "e-1", "Nobody", "x");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "UNKNOWN_RECIPIENT");
  world.send(alice, "e-1", "Nobody", "x");
  EXPECT_EQ(world.received(alice, "NACK").size(), 1u);
  world.join_ours("Bob");
  world.send(alice, "e-2", "Bob", "x");
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
}

TEST(Broker, CountsTheNumberOfAMessageItCannotRead) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  world.join_ours("Bob");
  world.received(alice);
  world.say(alice, R"({"v":1,"type":"SEND","id":"e-1","ts":1,"to":"Bob","payload":{"body":5}})");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "BAD_REQUEST");
  world.send(alice, "e-2", "Bob", "readable");
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
}

TEST(Broker, RepeatsARefusalOnlyOnceItIsStored) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  world.received(alice);
  world.hold_commits();
  world.send(alice, "e-1", "Nobody", "x");
  world.send(alice, "e-1", "Nobody", "x");
  EXPECT_TRUE(world.received(alice).empty());
  world.fail_commits(true);
  world.release_commits();
  for (const auto& frame : world.received(alice, "NACK")) EXPECT_EQ(text(payload(frame), "code"), "STORAGE");
}

TEST(Broker, DoesNotSendAgainWhatWasAcknowledgedWhileTheStoreFailed) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto token = token_of(world, bob);
  world.send(alice, "m", "Bob", "hi");
  const auto frame = world.received(bob, "DELIVER").at(0);
  world.fail_commits(true);
  world.ack(bob, frame);
  world.leave(bob);
  bob = world.join_ours("Bob", with_token(token));
  world.fail_commits(false);
  world.pass(std::chrono::seconds{3});
  EXPECT_TRUE(world.bodies(bob).empty());
}

TEST(Broker, SavesWhatFailedBeforeWhatCameLater) {
  BrokerFixture world;
  const auto bob = world.join_ours("Bob");
  world.fail_commits(true);
  world.request(bob, "CHANNEL_JOIN", R"({"channel":"#dev"})");
  world.fail_commits(false);
  world.request(bob, "CHANNEL_LEAVE", R"({"channel":"#dev"})");
  world.pass(std::chrono::seconds{3});
  const auto snapshot = *world.store().load();
  for (const auto& membership : snapshot.memberships) EXPECT_NE(membership.channel, "#dev");
}

TEST(Broker, OneAgentCannotUseUpTheProposalsOfAll) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  for (int n = 0; n < 65; ++n)
    world.send(alice, format("p{}", n), "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob\nTIMEOUT: 60000)");
  const auto refused = world.received(alice, "NACK");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(text(payload(refused.front()), "code"), "BUSY");
  world.send(bob, "p1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Alice\nTIMEOUT: 60000)");
  EXPECT_TRUE(world.received(bob, "NACK").empty());
}

TEST(Broker, SendsItsOwnMessagesAgainWhenACommitFails) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join("Bob");
  world.send(alice, "1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  world.received(bob);
  world.fail_commits(true);
  world.pass(std::chrono::milliseconds{1500});
  world.fail_commits(false);
  world.pass(std::chrono::seconds{3});
  EXPECT_EQ(world.bodies(bob).size(), 1u);
}

TEST(Broker, StopsReadingFromAClientWhoseChangesCannotBeSavedForLong) {
  BrokerFixture world;
  const auto bob = world.join_ours("Bob");
  const auto alice = world.join_ours("Alice");
  world.fail_commits(true);
  std::size_t read = 0;
  while (!world.paused(bob) && read < 100'000) {
    world.request(bob, ++read % 2 == 1 ? "CHANNEL_JOIN" : "CHANNEL_LEAVE", R"({"channel":"#dev"})");
    if (read % 1000 == 0) world.pass(1s);
  }
  EXPECT_TRUE(world.paused(bob));
  EXPECT_FALSE(world.paused(alice));
  world.fail_commits(false);
  world.pass(3s);
  EXPECT_FALSE(world.paused(bob));
}

TEST(Broker, ProposesOnceHoweverManyCommitsFail) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  const auto bob = world.join_ours("Bob");
  world.received(alice);
  const auto propose = [&] { world.send(alice, "e-1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)"); };
  world.fail_commits(true);
  propose();
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "STORAGE");
  world.pass(3s);
  propose();
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "STORAGE");
  world.fail_commits(false);
  world.pass(3s);
  propose();
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
  propose();
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(world.bodies(bob).size(), 1u);
  world.restart();
  EXPECT_EQ(world.store().load()->proposals.size(), 1u);
  const auto again = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  world.received(again);
  world.send(again, "e-1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)");
  EXPECT_EQ(world.received(again, "ACK").size(), 1u);
  EXPECT_EQ(world.store().load()->proposals.size(), 1u);
}

TEST(Broker, CountsADecidingVoteOnceItCanBeStored) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)");
  const auto asked = world.received(bob, "DELIVER").at(0);
  const std::string id = text(*object_member(payload(asked), "data"), "proposalId");
  world.fail_commits(true);
  const auto vote = [&] { world.send(bob, "v", "_consensus", "VOTE " + id + " approve"); };
  vote();
  EXPECT_EQ(text(payload(world.received(bob, "NACK").at(0)), "code"), "STORAGE");
  world.fail_commits(false);
  world.pass(3s);
  vote();
  EXPECT_EQ(world.received(bob, "ACK").size(), 1u);
  EXPECT_EQ(world.bodies(alice).size(), 1u);
}

TEST(Broker, LosesNoMessageBeforeAProposalWhoseCommitFailed) {
  BrokerFixture world;
  const std::string ours = R"("capabilities":{"send_ack":true,"outbox":"e"})";
  auto alice = world.join("Alice", ours);
  world.join_ours("Bob");
  const auto send = [&] { world.send(alice, "e-1", "Bob", "one"); };
  const auto propose = [&] { world.send(alice, "e-2", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)"); };
  world.fail_commits(true);
  send();
  propose();
  world.fail_commits(false);
  world.pass(3s);
  world.restart();
  alice = world.join("Alice", ours);
  world.received(alice);
  send();
  propose();
  world.send(alice, "e-3", "Bob", "three");
  EXPECT_EQ(world.received(alice, "ACK").size(), 3u);
  auto bob = world.join_ours("Bob");
  const auto heard = world.bodies(bob);
  EXPECT_EQ(std::ranges::count(heard, "one"), 1);
  EXPECT_EQ(std::ranges::count(heard, "three"), 1);
}

TEST(Broker, NumbersItsOwnMessagesOnceThoughTheirCommitFailed) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.leave(world.join_ours("Bob"));
  const auto propose = [&](const char* id) {
    world.send(alice, id, "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  };
  propose("1");
  world.fail_commits(true);
  world.pass(1500ms);  // its result
  world.fail_commits(false);
  world.pass(3s);
  world.restart();
  const auto again = world.join_ours("Alice");
  world.send(again, "2", "_consensus", R"(PROPOSE: Once more\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  world.pass(3s);
  const auto bob = world.join_ours("Bob");
  std::map<std::string, std::vector<std::uint64_t>> numbers;
  for (const auto& frame : world.received(bob, "DELIVER")) {
    numbers[text(frame, "from")].push_back(testing::seq_of(frame));
    world.ack(bob, frame);
  }
  EXPECT_EQ(numbers["_consensus"], (std::vector<std::uint64_t>{1, 2}));
}

TEST(Broker, RefusesByItsIdAMessageWhoseAddressIsNoAddress) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  world.join_ours("Bob");
  world.received(alice);
  world.send(alice, "e-1", R"(Bob\tCarol)", "x");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "BAD_REQUEST");
  world.send(alice, "e-2", "Bob", "x");
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
}

TEST(Broker, ForgetsAgentThatLeftBeforeItsSessionFailedToCommit) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  world.hold_commits();
  world.fail_commits(true);
  const auto bob = world.join_ours("Bob");
  world.leave(bob);
  world.release_commits();
  world.fail_commits(false);
  world.pass(3s);
  world.send(alice, "m", "Bob", "hi");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "UNKNOWN_RECIPIENT");
}

}  // namespace
}  // namespace relay::broker
