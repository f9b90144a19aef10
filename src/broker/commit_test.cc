// Commits: what is sent after them, what happens when they fail, and messages that a client sends again.
#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST(Broker, AcknowledgesAndDeliversOnlyAfterTheCommit) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  fixture.drop_received(bob);
  fixture.hold_commits();
  fixture.send(alice, "m1", "Bob", "hello");
  EXPECT_TRUE(fixture.received(alice).empty());
  EXPECT_TRUE(fixture.received(bob).empty());
  fixture.release_commits();
  EXPECT_EQ(string_field(payload(fixture.first_frame(alice, "ACK")), "ack_id"), "m1");
  EXPECT_EQ(fixture.bodies(bob), Strings{"hello"});
}

TEST(Broker, DeliversBeforeItAcknowledges) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.drop_received(alice);
  fixture.send(alice, "m1", "Alice", "to myself");
  const auto frames = fixture.received(alice);
  EXPECT_EQ(type_of(frames.at(0)), "DELIVER");
  EXPECT_EQ(type_of(frames.at(1)), "ACK");
}

TEST(Broker, WelcomesOnlyAfterTheSessionIsStored) {
  BrokerFixture fixture;
  fixture.hold_commits();
  const auto alice = fixture.join("Alice");
  EXPECT_TRUE(fixture.received(alice).empty());
  EXPECT_TRUE(fixture.paused(alice));
  fixture.send(alice, "m1", "Alice", "to myself");  // in the same write as HELLO
  fixture.release_commits();
  EXPECT_FALSE(fixture.paused(alice));
  const auto frames = fixture.received(alice);
  EXPECT_EQ(type_of(frames.at(0)), "WELCOME");
  EXPECT_EQ(body(frames.at(1)), "to myself");
}

TEST(Broker, ForwardsPayloadUnchanged) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  fixture.drop_received(bob);
  fixture.send_payload(alice, "m", "Bob", R"( "kind":"action","body":"x","data":{"n":1e2})",
                       R"("topic":"chat","payload_meta":{"importance":7})");
  const auto frame = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(string_field(frame, "from"), "Alice");
  EXPECT_EQ(string_field(frame, "to"), "Bob");
  EXPECT_EQ(string_field(frame, "topic"), "chat");
  EXPECT_EQ(integer_member(*object_member(frame, "payload_meta"), "importance"), 7);
  EXPECT_EQ(integer_member(*object_member(payload(frame), "data"), "n"), 100);
}

TEST(Broker, SetsFromByConnection) {
  BrokerFixture fixture;
  const auto mallory = fixture.join("Mallory");
  const auto bob = fixture.join("Bob");
  fixture.drop_received(bob);
  fixture.send(mallory, "m", "Bob", "trust me", R"("from":"Alice")");
  EXPECT_EQ(string_field(fixture.first_frame(bob, "DELIVER"), "from"), "Mallory");
}

TEST(Broker, RefusesMessageOfFailedCommitAndAcceptsItLater) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_outbox("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  fixture.fail_commits();
  fixture.send(alice, "e-1", "Bob", "one");
  fixture.send(alice, "e-2", "Bob", "two");
  const auto nacks = fixture.received(alice, "NACK");
  ASSERT_EQ(nacks.size(), 2u);
  EXPECT_EQ(code_of(nacks[0]), "STORAGE");
  EXPECT_EQ(integer_member(payload(nacks[0]), "retry_after_ms"), 1000);
  fixture.accept_commits();
  fixture.advance(1s);  // retry_after_ms of the NACK
  fixture.send(alice, "e-2", "Bob", "two");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "BUSY");  // the first one is still missing
  fixture.send(alice, "e-1", "Bob", "one");
  fixture.send(alice, "e-2", "Bob", "two");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 2u);
  fixture.advance(2s);
  EXPECT_EQ(fixture.bodies(bob), (Strings{"one", "two"}));
}

TEST(Broker, PiggybackChangeSharesCommitOfNextMessage) {
  using enum records::CommitMode;
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.commit_modes();
  fixture.send(alice, "m", "Bob", "hi");
  EXPECT_EQ(fixture.commit_modes(), std::vector{Immediate}) << "the sender waits for it";
  fixture.ack(bob, fixture.first_frame(bob, "DELIVER"));
  EXPECT_EQ(fixture.commit_modes(), std::vector{Piggyback});
}

TEST(Broker, RetriesAcknowledgementsThatCouldNotBeStored) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "m", "Bob", "hi");
  const auto frame = fixture.first_frame(bob, "DELIVER");
  fixture.fail_commits();
  fixture.ack(bob, frame);
  fixture.accept_commits();
  fixture.advance(3s);
  fixture.restart();
  const auto again = fixture.join_with_acks("Bob");
  EXPECT_TRUE(fixture.bodies(again).empty());
}

TEST(Broker, StoresRepeatedIdOnceAndAnswersItTwice) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "same", "Bob", "once");
  fixture.send(alice, "same", "Bob", "once");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 2u);
  EXPECT_EQ(fixture.bodies(bob), Strings{"once"});
  fixture.restart();
  const auto later = fixture.join_with_acks("Alice");
  const auto bob2 = fixture.join_with_acks("Bob");
  fixture.drop_received(bob2);
  fixture.send(later, "same", "Bob", "once");
  EXPECT_EQ(fixture.received(later, "ACK").size(), 1u);
  EXPECT_TRUE(fixture.bodies(bob2).empty());
}

TEST(Broker, SeparatesEqualIdsOfTwoSenders) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto carol = fixture.join_with_acks("Carol");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "1", "Bob", "a");
  fixture.send(carol, "1", "Bob", "c");
  EXPECT_EQ(fixture.bodies(bob), (Strings{"a", "c"}));
}

TEST(Broker, RemembersAllMessagesOfOutbox) {
  BrokerFixture fixture;
  auto alice = fixture.join_with_outbox("Alice");
  fixture.join_with_acks("Bob");
  for (int i = 1; i <= 2000; ++i) fixture.send(alice, format("e-{}", i), "Bob", "x");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 2000u);
  fixture.restart();
  alice = fixture.join_with_outbox("Alice");
  fixture.drop_received(alice);
  fixture.send(alice, "e-1", "Bob", "x");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(fixture.store().stats()->messages, 2000u);
}

TEST(Broker, ContinuesOutboxOnNewStore) {
  BrokerFixture fixture;  // e-1 to e-3 were stored by another store
  const auto alice = fixture.join_with_outbox("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  fixture.send(alice, "e-4", "Bob", "four");
  fixture.send(alice, "e-6", "Bob", "six");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "BUSY");
  fixture.send(alice, "e-5", "Bob", "five");
  fixture.send(alice, "e-6", "Bob", "six");
  fixture.send(alice, "e-4", "Bob", "four");
  EXPECT_EQ(fixture.bodies(bob), (Strings{"four", "five", "six"}));
}

TEST(Broker, RepeatsFinalNackOfOutbox) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_outbox("Alice");
  fixture.drop_received(alice);
  fixture.send(alice, "e-1", "Unknown", "x");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "UNKNOWN_RECIPIENT");
  fixture.send(alice, "e-1", "Unknown", "x");
  EXPECT_EQ(fixture.received(alice, "NACK").size(), 1u);
  fixture.join_with_acks("Bob");
  fixture.send(alice, "e-2", "Bob", "x");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
}

TEST(Broker, CountsNumberOfInvalidMessage) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_outbox("Alice");
  fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  fixture.send_payload(alice, "e-1", "Bob", R"("body":5)");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "BAD_REQUEST");
  fixture.send(alice, "e-2", "Bob", "readable");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
}

TEST(Broker, RepeatsNackOnlyOnceItIsStored) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_outbox("Alice");
  fixture.drop_received(alice);
  fixture.hold_commits();
  fixture.send(alice, "e-1", "Unknown", "x");
  fixture.send(alice, "e-1", "Unknown", "x");
  EXPECT_TRUE(fixture.received(alice).empty());
  fixture.fail_commits();
  fixture.release_commits();
  for (const auto& frame : fixture.received(alice, "NACK")) EXPECT_EQ(code_of(frame), "STORAGE");
}

TEST(Broker, DoesNotResendDeliveryAcknowledgedWhileStoreFailed) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  auto bob = fixture.join_with_acks("Bob");
  const auto token = token_of(fixture, bob);
  fixture.send(alice, "m", "Bob", "hi");
  const auto frame = fixture.first_frame(bob, "DELIVER");
  fixture.fail_commits();
  fixture.ack(bob, frame);
  fixture.disconnect(bob);
  bob = fixture.join_with_acks("Bob", with_token(token));
  fixture.accept_commits();
  fixture.advance(std::chrono::seconds{3});
  EXPECT_TRUE(fixture.bodies(bob).empty());
}

TEST(Broker, StoresFailedChangesBeforeLaterOnes) {
  BrokerFixture fixture;
  const auto bob = fixture.join_with_acks("Bob");
  fixture.fail_commits();
  fixture.request(bob, "CHANNEL_JOIN", R"({"channel":"#dev"})");
  fixture.accept_commits();
  fixture.request(bob, "CHANNEL_LEAVE", R"({"channel":"#dev"})");
  fixture.advance(std::chrono::seconds{3});
  const auto snapshot = *fixture.store().load();
  for (const auto& membership : snapshot.memberships) EXPECT_NE(membership.channel, "#dev");
}

TEST(Broker, OneAgentCannotUseUpProposalsOfOthers) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  for (int n = 0; n < 65; ++n)
    fixture.send(alice, format("p{}", n), "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob\nTIMEOUT: 60000)");
  const auto refused = fixture.received(alice, "NACK");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(code_of(refused.front()), "BUSY");
  fixture.send(bob, "p1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Alice\nTIMEOUT: 60000)");
  EXPECT_TRUE(fixture.received(bob, "NACK").empty());
}

TEST(Broker, ResendsItsOwnMessagesAfterFailedCommit) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join("Bob");
  fixture.send(alice, "1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  fixture.drop_received(bob);
  fixture.fail_commits();
  fixture.advance(std::chrono::milliseconds{1500});
  fixture.accept_commits();
  fixture.advance(std::chrono::seconds{3});
  EXPECT_EQ(fixture.bodies(bob).size(), 1u);
}

TEST(Broker, PausesClientWhoseChangesCannotBeStored) {
  BrokerFixture fixture;
  const auto bob = fixture.join_with_acks("Bob");
  const auto alice = fixture.join_with_acks("Alice");
  fixture.fail_commits();
  std::size_t requests = 0;
  while (!fixture.paused(bob) && requests < 100'000) {
    fixture.request(bob, ++requests % 2 == 1 ? "CHANNEL_JOIN" : "CHANNEL_LEAVE", R"({"channel":"#dev"})");
    if (requests % 1000 == 0) fixture.advance(1s);
  }
  EXPECT_TRUE(fixture.paused(bob));
  EXPECT_FALSE(fixture.paused(alice));
  fixture.accept_commits();
  fixture.advance(3s);
  EXPECT_FALSE(fixture.paused(bob));
}

TEST(Broker, ProposesOnceAfterFailedCommits) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_outbox("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  const auto propose = [&] { fixture.send(alice, "e-1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)"); };
  fixture.fail_commits();
  propose();
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "STORAGE");
  fixture.advance(3s);
  propose();
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "STORAGE");
  fixture.accept_commits();
  fixture.advance(3s);
  propose();
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
  propose();
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(fixture.bodies(bob).size(), 1u);
  fixture.restart();
  EXPECT_EQ(fixture.store().load()->proposals.size(), 1u);
  const auto again = fixture.join_with_outbox("Alice");
  fixture.drop_received(again);
  fixture.send(again, "e-1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)");
  EXPECT_EQ(fixture.received(again, "ACK").size(), 1u);
  EXPECT_EQ(fixture.store().load()->proposals.size(), 1u);
}

TEST(Broker, CountsDecidingVoteOnceItIsStored) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "1", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)");
  const auto proposal = fixture.first_frame(bob, "DELIVER");
  const std::string id = string_field(*object_member(payload(proposal), "data"), "proposalId");
  fixture.fail_commits();
  const auto vote = [&] { fixture.send(bob, "v", "_consensus", "VOTE " + id + " approve"); };
  vote();
  EXPECT_EQ(code_of(fixture.first_frame(bob, "NACK")), "STORAGE");
  fixture.accept_commits();
  fixture.advance(3s);
  vote();
  EXPECT_EQ(fixture.received(bob, "ACK").size(), 1u);
  EXPECT_EQ(fixture.bodies(alice).size(), 1u);
}

TEST(Broker, KeepsMessageBeforeProposalWhoseCommitFailed) {
  BrokerFixture fixture;
  auto alice = fixture.join_with_outbox("Alice");
  fixture.join_with_acks("Bob");
  const auto send = [&] { fixture.send(alice, "e-1", "Bob", "one"); };
  const auto propose = [&] { fixture.send(alice, "e-2", "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob)"); };
  fixture.fail_commits();
  send();
  propose();
  fixture.accept_commits();
  fixture.advance(3s);
  fixture.restart();
  alice = fixture.join_with_outbox("Alice");
  fixture.drop_received(alice);
  send();
  propose();
  fixture.send(alice, "e-3", "Bob", "three");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 3u);
  auto bob = fixture.join_with_acks("Bob");
  const auto bodies = fixture.bodies(bob);
  EXPECT_EQ(std::ranges::count(bodies, "one"), 1);
  EXPECT_EQ(std::ranges::count(bodies, "three"), 1);
}

TEST(Broker, NumbersItsOwnMessagesOnceAfterFailedCommit) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.disconnect(fixture.join_with_acks("Bob"));
  const auto propose = [&](const char* id) {
    fixture.send(alice, id, "_consensus", R"(PROPOSE: Ship it\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  };
  propose("1");
  fixture.fail_commits();
  fixture.advance(1500ms);  // the vote ends
  fixture.accept_commits();
  fixture.advance(3s);
  fixture.restart();
  const auto again = fixture.join_with_acks("Alice");
  fixture.send(again, "2", "_consensus", R"(PROPOSE: Once more\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  fixture.advance(3s);
  const auto bob = fixture.join_with_acks("Bob");
  std::map<std::string, std::vector<std::uint64_t>> numbers;
  for (const auto& frame : fixture.received(bob, "DELIVER")) {
    numbers[string_field(frame, "from")].push_back(seq_of(frame));
    fixture.ack(bob, frame);
  }
  EXPECT_EQ(numbers["_consensus"], (std::vector<std::uint64_t>{1, 2}));
}

TEST(Broker, NackForInvalidRecipientNamesMessage) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_outbox("Alice");
  fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  fixture.send(alice, "e-1", R"(Bob\tCarol)", "x");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "BAD_REQUEST");
  fixture.send(alice, "e-2", "Bob", "x");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
}

TEST(Broker, ForgetsAgentWhoseSessionWasNeverStored) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.drop_received(alice);
  fixture.hold_commits();
  fixture.fail_commits();
  const auto bob = fixture.join_with_acks("Bob");
  fixture.disconnect(bob);
  fixture.release_commits();
  fixture.accept_commits();
  fixture.advance(3s);
  fixture.send(alice, "m", "Bob", "hi");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "UNKNOWN_RECIPIENT");
}

}  // namespace
}  // namespace relay::broker
