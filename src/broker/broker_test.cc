#include "broker/broker.h"

#include <gtest/gtest.h>

#include "broker/testing/world.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using testing::body;
using testing::Frame;
using testing::payload;
using testing::text;
using testing::World;
using Texts = std::vector<std::string>;

std::string token_of(World& world, ConnectionId id) {
  const auto frames = world.heard(id, "WELCOME");
  return frames.empty() ? "" : text(payload(frames.front()), "resume_token");
}
std::string with_token(const std::string& token) { return format(R"("session":{{"resume_token":"{}"}})", token); }
std::uint64_t seq_of(const Frame& frame) {
  return static_cast<std::uint64_t>(*integer_member(*object_member(frame, "delivery"), "seq"));
}

std::vector<records::MessageRow> inbox_of(World& world, const std::string& name) {
  records::MessageQuery query;
  query.delivered_to = name;
  return *world.store().messages(query);
}

// ---------------------------------------------------------------- first the log, then the word

TEST(Broker, AcknowledgesAndDeliversOnlyAfterTheCommit) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.heard(alice);
  world.heard(bob);
  world.hold_commits();
  world.send(alice, "m1", "Bob", "hello");
  EXPECT_TRUE(world.heard(alice).empty());
  EXPECT_TRUE(world.heard(bob).empty());
  world.release_commits();
  EXPECT_EQ(text(payload(world.heard(alice, "ACK").at(0)), "ack_id"), "m1");
  EXPECT_EQ(world.bodies(bob), Texts{"hello"});
}

TEST(Broker, WelcomesOnlyAfterTheSessionIsStored) {
  World world;
  world.hold_commits();
  const auto alice = world.join("Alice");
  EXPECT_TRUE(world.heard(alice).empty());
  EXPECT_TRUE(world.paused(alice));
  world.send(alice, "m1", "Alice", "to myself");  // in the same write as HELLO
  world.release_commits();
  EXPECT_FALSE(world.paused(alice));
  const auto frames = world.heard(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "WELCOME");
  EXPECT_EQ(body(frames.at(1)), "to myself");
}

TEST(Broker, ForwardsThePayloadAsTheBytesThatCameIn) {
  World world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  world.heard(bob);
  world.say(
      alice,
      R"({"v":1,"type":"SEND","id":"m","ts":1,"to":"Bob","topic":"chat","payload":{ "kind":"action","body":"x","data":{"n":1e2}},"payload_meta":{"importance":7}})");
  const auto frame = world.heard(bob, "DELIVER").at(0);
  EXPECT_EQ(text(frame, "from"), "Alice");
  EXPECT_EQ(text(frame, "to"), "Bob");
  EXPECT_EQ(text(frame, "topic"), "chat");
  EXPECT_EQ(integer_member(*object_member(frame, "payload_meta"), "importance"), 7);
  EXPECT_EQ(integer_member(*object_member(payload(frame), "data"), "n"), 100);
}

TEST(Broker, SetsFromByTheConnectionWhateverTheFrameSays) {
  World world;
  const auto mallory = world.join("Mallory");
  const auto bob = world.join("Bob");
  world.heard(bob);
  world.send(mallory, "m", "Bob", "trust me", R"("from":"Alice")");
  EXPECT_EQ(text(world.heard(bob, "DELIVER").at(0), "from"), "Mallory");
}

TEST(Broker, AnswersAFailedCommitAndTakesTheSameMessageLater) {
  World world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  const auto bob = world.join_ours("Bob");
  world.heard(alice);
  world.fail_commits(true);
  world.send(alice, "e-1", "Bob", "one");
  world.send(alice, "e-2", "Bob", "two");
  const auto refusals = world.heard(alice, "NACK");
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(text(payload(refusals[0]), "code"), "STORAGE");
  world.fail_commits(false);
  world.send(alice, "e-2", "Bob", "two");
  EXPECT_EQ(text(payload(world.heard(alice, "NACK").at(0)), "code"), "BUSY");  // the first one is still missing
  world.send(alice, "e-1", "Bob", "one");
  world.send(alice, "e-2", "Bob", "two");
  EXPECT_EQ(world.heard(alice, "ACK").size(), 2u);
  world.pass(2s);
  EXPECT_EQ(world.bodies(bob), (Texts{"one", "two"}));
}

TEST(Broker, KeepsAcknowledgementsThatCouldNotBeSavedUntilTheyCan) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "m", "Bob", "hi");
  const auto frame = world.heard(bob, "DELIVER").at(0);
  world.fail_commits(true);
  world.ack(bob, frame);
  world.fail_commits(false);
  world.pass(3s);
  world.restart();
  const auto again = world.join_ours("Bob");
  EXPECT_TRUE(world.bodies(again).empty());
}

// ---------------------------------------------------------------- nothing twice

TEST(Broker, StoresTheSameIdOnceAndAnswersItTwice) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "same", "Bob", "once");
  world.send(alice, "same", "Bob", "once");
  EXPECT_EQ(world.heard(alice, "ACK").size(), 2u);
  EXPECT_EQ(world.bodies(bob), Texts{"once"});
  world.restart();
  const auto later = world.join_ours("Alice");
  const auto bob2 = world.join_ours("Bob");
  world.bodies(bob2);
  world.send(later, "same", "Bob", "once");
  EXPECT_EQ(world.heard(later, "ACK").size(), 1u);
  EXPECT_TRUE(world.bodies(bob2).empty());
}

TEST(Broker, TellsTwoSendersWithTheSameIdApart) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto carol = world.join_ours("Carol");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "a");
  world.send(carol, "1", "Bob", "c");
  EXPECT_EQ(world.bodies(bob), (Texts{"a", "c"}));
}

TEST(Broker, RemembersAnOutboxForEver) {
  World world;
  const std::string ours = R"("capabilities":{"send_ack":true,"outbox":"e"})";
  auto alice = world.join("Alice", ours);
  world.join_ours("Bob");
  for (int i = 1; i <= 2000; ++i) world.send(alice, format("e-{}", i), "Bob", "x");
  EXPECT_EQ(world.heard(alice, "ACK").size(), 2000u);
  world.restart();
  alice = world.join("Alice", ours);
  world.heard(alice);
  world.send(alice, "e-1", "Bob", "x");
  EXPECT_EQ(world.heard(alice, "ACK").size(), 1u);
  EXPECT_EQ(world.store().stats()->messages, 2000u);
}

TEST(Broker, RepeatsAFinalRefusalOfAnOutbox) {
  World world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"outbox":"e"})");
  world.heard(alice);
  world.send(alice, "e-1", "Nobody", "x");
  EXPECT_EQ(text(payload(world.heard(alice, "NACK").at(0)), "code"), "UNKNOWN_RECIPIENT");
  world.send(alice, "e-1", "Nobody", "x");
  EXPECT_EQ(world.heard(alice, "NACK").size(), 1u);
  world.join_ours("Bob");
  world.send(alice, "e-2", "Bob", "x");
  EXPECT_EQ(world.heard(alice, "ACK").size(), 1u);
}

// ---------------------------------------------------------------- delivery

TEST(Broker, NumbersEachStreamAndGoesOnAfterARestart) {
  World world;
  auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "a");
  world.send(alice, "2", "Bob", "b");
  auto frames = world.heard(bob, "DELIVER");
  EXPECT_EQ(seq_of(frames[0]), 1u);
  EXPECT_EQ(seq_of(frames[1]), 2u);
  world.restart();
  alice = world.join_ours("Alice");
  world.send(alice, "3", "Bob", "c");
  bob = world.join_ours("Bob");
  frames = world.heard(bob, "DELIVER");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(seq_of(frames[2]), 3u);
}

TEST(Broker, ResumesWithTheOldIdsAndNumbersAcrossARestart) {
  World world;
  auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto welcome = world.heard(bob, "WELCOME").at(0);
  world.send(alice, "1", "Bob", "a");
  const auto first = world.heard(bob, "DELIVER").at(0);
  world.restart();
  bob = world.join_ours("Bob", with_token(text(payload(welcome), "resume_token")));
  const auto frames = world.heard(bob);
  EXPECT_EQ(text(payload(frames.at(0)), "session_id"), text(payload(welcome), "session_id"));
  EXPECT_EQ(text(frames.at(1), "id"), text(first, "id"));
  EXPECT_EQ(seq_of(frames.at(1)), seq_of(first));
}

TEST(Broker, SaysSoWhenATokenIsTooOldAndBeginsANewSession) {
  World world;
  const auto bob = world.join("Bob", with_token("no-such-token"));
  const auto frames = world.heard(bob);
  EXPECT_EQ(text(payload(frames.at(0)), "code"), "RESUME_TOO_OLD");
  EXPECT_EQ(bool_member(payload(frames.at(0)), "fatal"), false);
  EXPECT_EQ(text(frames.at(1), "type"), "WELCOME");
}

TEST(Broker, KeepsMailForThoseWhoAreAway) {
  World world;
  const auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  world.leave(bob);
  world.send(alice, "1", "Bob", "while you were out");
  bob = world.join("Bob");
  const auto frame = world.heard(bob, "DELIVER").at(0);
  EXPECT_EQ(body(frame), "while you were out");
  EXPECT_EQ(bool_member(*object_member(payload(frame), "data"), "_offlineQueued"), true);
}

TEST(Broker, NeverHasMoreInFlightThanTheClientAllows) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join("Bob", R"("capabilities":{"max_inflight":2})");
  for (int i = 0; i < 1500; ++i) world.send(alice, format("{}", i), "Bob", format("{}", i));
  Texts got;
  for (auto frames = world.heard(bob, "DELIVER"); !frames.empty(); frames = world.heard(bob, "DELIVER")) {
    EXPECT_LE(frames.size(), 2u);
    for (const auto& frame : frames) got.push_back(body(frame));
    for (const auto& frame : frames) world.ack(bob, frame);
  }
  ASSERT_EQ(got.size(), 1500u);
  for (int i = 0; i < 1500; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], format("{}", i));
}

TEST(Broker, SendsAgainWhatIsNotAcknowledged) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "hi");
  const auto first = world.heard(bob, "DELIVER").at(0);
  world.say(bob, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{}})");
  world.pass(4s);
  EXPECT_TRUE(world.heard(bob, "DELIVER").empty());
  world.pass(1500ms);
  const auto again = world.heard(bob, "DELIVER");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(text(again[0], "id"), text(first, "id"));
  world.ack(bob, again[0]);
  world.pass(4s);
  EXPECT_TRUE(world.heard(bob, "DELIVER").empty());
}

TEST(Broker, LetsAMessageExpireVisiblyAndTellsTheSender) {
  World world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  const auto bob = world.join("Bob");
  world.leave(bob);
  world.send(alice, "1", "Bob", "soon stale", R"("payload_meta":{"ttl_ms":1000})");
  world.heard(alice);
  world.pass(2s);
  const auto receipt = world.heard(alice, "RECEIPT").at(0);
  EXPECT_EQ(text(payload(receipt), "status"), "failed");
  EXPECT_EQ(text(payload(receipt), "messageId"), "1");
  const auto back = world.join("Bob");
  EXPECT_TRUE(world.bodies(back).empty());
  EXPECT_EQ(inbox_of(world, "Bob").at(0).state, records::DeliveryState::Expired);
}

TEST(Broker, SendsAReceiptWhenTheRecipientAcknowledges) {
  World world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "hi");
  world.heard(alice);
  world.ack(bob, world.heard(bob, "DELIVER").at(0));
  const auto receipt = world.heard(alice, "RECEIPT").at(0);
  EXPECT_EQ(text(payload(receipt), "status"), "delivered");
  EXPECT_EQ(text(payload(receipt), "agent"), "Bob");
}

TEST(Broker, RefusesTheSenderWhenTheBacklogIsFullAndNobodyElse) {
  World world{{.max_backlog = 2}};
  const auto alice = world.join_ours("Alice");
  const auto carol = world.join_ours("Carol");
  const auto published = world.join("Dave");
  world.leave(world.join("Bob"));
  for (int i = 0; i < 3; ++i) world.send(alice, format("{}", i), "Bob", "x");
  const auto frames = world.heard(alice);
  EXPECT_EQ(text(frames.at(frames.size() - 2), "type"), "BUSY");
  EXPECT_EQ(text(payload(frames.back()), "code"), "BUSY");
  world.heard(published);
  world.send(published, "p", "Bob", "x");
  EXPECT_EQ(text(payload(world.heard(published, "ERROR").at(0)), "code"), "BUSY");
  world.heard(carol);
  world.send(carol, "c", "Alice", "fine");
  EXPECT_EQ(world.heard(carol, "ACK").size(), 1u);
}

TEST(Broker, PausesAFloodingSenderUntilItsBytesAreCommitted) {
  World world{{.max_uncommitted_bytes = 1000}};
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.hold_commits();
  for (int i = 0; i < 20; ++i) world.send(alice, format("{}", i), "Bob", std::string(100, 'x'));
  EXPECT_TRUE(world.paused(alice));
  world.release_commits();
  EXPECT_FALSE(world.paused(alice));
}

TEST(Broker, RefusesOrSlowsWhoeverIsTooFast) {
  World world{{.rate_per_second = 10, .rate_burst = 5}};
  const auto ours = world.join_ours("Alice");
  const auto published = world.join("Dave");
  const auto bob = world.join_ours("Bob");
  for (int i = 0; i < 6; ++i) world.send(ours, format("{}", i), "Bob", "x");
  const auto nack = world.heard(ours, "NACK").at(0);
  EXPECT_EQ(text(payload(nack), "code"), "RATE_LIMITED");
  EXPECT_GT(*integer_member(payload(nack), "retry_after_ms"), 0);
  world.heard(bob);
  for (int i = 0; i < 6; ++i) world.send(published, format("{}", i), "Bob", "y");
  EXPECT_TRUE(world.paused(published));
  EXPECT_EQ(world.bodies(bob).size(), 6u);  // slowed, not refused
  world.pass(1s);
  EXPECT_FALSE(world.paused(published));
}

// ---------------------------------------------------------------- who hears

TEST(Broker, BroadcastsToEveryoneButTheSender) {
  World world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  const auto carol = world.join("Carol", R"("entityType":"user")");
  world.send(alice, "1", "*", "hear me");
  EXPECT_TRUE(world.bodies(alice).empty());
  const auto frame = world.heard(bob, "DELIVER").at(0);
  EXPECT_EQ(text(*object_member(frame, "delivery"), "originalTo"), "*");
  EXPECT_EQ(text(frame, "to"), "Bob");
  EXPECT_EQ(world.bodies(carol), Texts{"hear me"});
}

TEST(Broker, CountsASessionThatWasJustLostAsAudience) {
  World world;
  const auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  world.leave(bob);
  world.send(alice, "1", "*", "quick");
  bob = world.join("Bob");
  EXPECT_EQ(world.bodies(bob), Texts{"quick"});
  world.leave(bob);
  world.pass(2min);
  const auto later = world.join("Dora");
  world.send(later, "2", "*", "much later");
  bob = world.join("Bob");
  EXPECT_EQ(world.bodies(bob), Texts{"quick"});  // never acknowledged; the later one was not for it
}

TEST(Broker, BroadcastsATopicToItsSubscribersAlsoAfterAResume) {
  World world;
  auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  const auto token = token_of(world, bob);
  const auto carol = world.join("Carol");
  world.say(bob, R"({"v":1,"type":"SUBSCRIBE","id":"s","ts":1,"topic":"review","payload":{}})");
  world.send(alice, "1", "*", "look", R"("topic":"review")");
  EXPECT_EQ(world.bodies(bob), Texts{"look"});
  EXPECT_TRUE(world.bodies(carol).empty());
  world.restart();
  alice = world.join("Alice");
  bob = world.join("Bob", with_token(token));
  world.bodies(bob);
  world.send(alice, "2", "*", "again", R"("topic":"review")");
  EXPECT_EQ(world.bodies(bob), Texts{"again"});
}

TEST(Broker, NamesTheNearestWhenNobodyIsCalledThat) {
  World world;
  const auto alice = world.join_ours("Alice");
  world.join("Bobby");
  world.heard(alice);
  world.send(alice, "1", "Boby", "hi");
  const auto nack = world.heard(alice, "NACK").at(0);
  EXPECT_EQ(text(payload(nack), "code"), "UNKNOWN_RECIPIENT");
  EXPECT_NE(text(payload(nack), "message").find("Bobby"), std::string::npos);
  const auto published = world.join("Dave");
  world.heard(published);
  world.send(published, "1", "Nobody", "hi");
  EXPECT_EQ(text(payload(world.heard(published, "ERROR").at(0)), "code"), "NOT_FOUND");
}

TEST(Broker, CarriesChannelMessagesToTheMembersOnly) {
  World world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  const auto carol = world.join("Carol");
  for (const auto id : {alice, bob}) world.request(id, "CHANNEL_JOIN", R"({"channel":"#Dev"})");
  EXPECT_EQ(text(world.heard(alice, "CHANNEL_JOIN").at(0), "from"), "Bob");
  world.request(alice, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"hi devs"})", "c1");
  const auto frame = world.heard(bob, "CHANNEL_MESSAGE").at(0);
  EXPECT_EQ(text(frame, "from"), "Alice");
  EXPECT_EQ(body(frame), "hi devs");
  EXPECT_TRUE(world.heard(carol, "CHANNEL_MESSAGE").empty());
  EXPECT_TRUE(world.heard(alice, "CHANNEL_MESSAGE").empty());
  world.took_everything(bob);  // published clients do not acknowledge these
  EXPECT_EQ(world.broker().roster().at(1).pending, 0u);
  world.request(carol, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"let me in"})", "c2");
  EXPECT_EQ(world.heard(carol, "ERROR").size(), 1u);
}

TEST(Broker, KeepsChannelsAcrossARestart) {
  World world;
  world.request(world.join("Bob"), "CHANNEL_JOIN", R"({"channel":"#dev"})");
  world.restart();
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  world.request(alice, "CHANNEL_JOIN", R"({"channel":"#dev"})");
  EXPECT_EQ(world.heard(bob, "CHANNEL_JOIN").size(), 1u);
}

TEST(Broker, LetsAShadowHearBothDirections) {
  World world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  const auto shadow = world.join("Shade");
  world.request(shadow, "SHADOW_BIND", R"({"primaryAgent":"Alice","speakOn":["SESSION_END"]})");
  world.send(alice, "1", "Bob", "out");
  world.send(bob, "2", "Alice", "in");
  const auto frames = world.heard(shadow, "DELIVER");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(text(*object_member(payload(frames[0]), "data"), "_shadowDirection"), "outgoing");
  EXPECT_EQ(text(*object_member(payload(frames[1]), "data"), "_shadowOf"), "Alice");
  world.leave(alice);
  EXPECT_EQ(body(world.heard(shadow, "DELIVER").at(0)), "SHADOW_TRIGGER:SESSION_END");
  world.request(shadow, "SHADOW_UNBIND", R"({"primaryAgent":"Alice"})");
  world.send(bob, "3", "Alice", "unseen");
  EXPECT_TRUE(world.bodies(shadow).empty());
}

TEST(Broker, ForwardsTheAnswerToABlockingMessage) {
  World world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  world.heard(alice);
  const std::string sync = R"("payload_meta":{"sync":{"correlationId":"c1","timeoutMs":1000,"blocking":true}})";
  world.send(alice, "1", "Bob", "ready?", sync);
  const auto frame = world.heard(bob, "DELIVER").at(0);
  world.ack(bob, frame);
  EXPECT_TRUE(world.heard(alice, "ACK").empty());  // the automatic one carries no correlation id
  world.say(
      bob,
      format(
          R"({{"v":1,"type":"ACK","id":"x","ts":1,"payload":{{"ack_id":"{}","seq":1,"correlationId":"c1","response":"OK"}}}})",
          text(frame, "id")));
  const auto answer = world.heard(alice, "ACK").at(0);
  EXPECT_EQ(text(answer, "from"), "Bob");
  EXPECT_EQ(text(payload(answer), "response"), "OK");
  world.send(alice, "2", "Bob", "and now?", sync);
  world.heard(alice);
  world.pass(1500ms);
  EXPECT_EQ(text(payload(world.heard(alice, "ERROR").at(0)), "code"), "INTERNAL");
}

TEST(Broker, HoldsAVoteAndTellsEveryoneHowItEnded) {
  World world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join("Bob");
  const auto carol = world.join("Carol");
  world.send(alice, "1", "_consensus", R"(PROPOSE: Ship it\nTYPE: majority\nPARTICIPANTS: Bob, Carol\nTIMEOUT: 5000)");
  const auto asked = world.heard(bob, "DELIVER").at(0);
  EXPECT_EQ(text(asked, "from"), "Alice");
  const auto text_of = body(asked);
  const auto begin = text_of.find("ID: ") + 4;
  const auto id = text_of.substr(begin, text_of.find('\n', begin) - begin);
  world.send(bob, "2", "_consensus", "VOTE " + id + " approve fine");
  world.send(carol, "3", "_consensus", "VOTE " + id + " approve");
  for (const auto who : {alice, bob, carol}) {
    const auto frames = world.heard(who, "DELIVER");
    EXPECT_EQ(text(frames.back(), "from"), "_consensus");
    EXPECT_NE(body(frames.back()).find("APPROVED"), std::string::npos);
  }
  world.send(alice, "4", "_consensus", R"(PROPOSE: Again\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  world.heard(bob);
  world.restart();  // an open vote survives
  const auto back = world.join("Bob");
  world.pass(2s);
  EXPECT_NE(world.bodies(back).back().find("NO_CONSENSUS"), std::string::npos);
}

// ---------------------------------------------------------------- names and handshakes

TEST(Broker, TellsTheLoserOfANameBeforeItCloses) {
  World world;
  const auto first = world.join("Bob");
  world.heard(first);
  const auto second = world.join("Bob");
  const auto last = world.heard(first, "ERROR").at(0);
  EXPECT_EQ(text(payload(last), "code"), "DUPLICATE_CONNECTION");
  EXPECT_EQ(bool_member(payload(last), "fatal"), true);
  EXPECT_TRUE(world.closed(first));
  EXPECT_EQ(world.heard(second, "WELCOME").size(), 1u);
}

TEST(Broker, EndsAFightOverANameByRefusingTheNewcomer) {
  World world;
  ConnectionId owner = world.join("Bob");
  for (int i = 0; i < 2; ++i) owner = world.join("Bob");
  const auto refused = world.join("Bob");
  EXPECT_TRUE(world.heard(refused, "WELCOME").empty());
  EXPECT_TRUE(world.closed(refused));
  EXPECT_FALSE(world.closed(owner));
  world.pass(4s);
  world.say(owner, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{}})");
  world.pass(4s);
  world.say(owner, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{}})");
  world.pass(4s);
  EXPECT_EQ(world.heard(world.join("Bob"), "WELCOME").size(), 1u);
}

TEST(Broker, KeepsAClaimedNameForItsOwner) {
  World world;
  const std::string claim = R"("session":{"claim_token":"secret"})";
  const auto owner = world.join("Host", claim);
  EXPECT_TRUE(world.closed(world.join("Host")));
  EXPECT_TRUE(world.closed(world.join("Host", R"("session":{"claim_token":"guess"})")));
  EXPECT_FALSE(world.closed(owner));
  EXPECT_FALSE(world.closed(world.join("Host", claim)));
  world.restart();
  EXPECT_TRUE(world.closed(world.join("Host")));
}

TEST(Broker, GivesAUserAsManyWindowsAsItLikes) {
  World world;
  const std::string user = R"("entityType":"user")";
  const auto one = world.join("Ann", user);
  const auto two = world.join("Ann", user);
  const auto bob = world.join("Bob");
  world.send(bob, "1", "Ann", "hi");
  EXPECT_EQ(world.bodies(one), Texts{"hi"});
  EXPECT_EQ(world.bodies(two), Texts{"hi"});
  EXPECT_FALSE(world.closed(one));
}

TEST(Broker, RefusesWhatIsNoHandshake) {
  World world;
  const auto early = world.connect();
  world.send(early, "1", "Bob", "hi");
  EXPECT_EQ(text(payload(world.heard(early, "ERROR").at(0)), "code"), "BAD_REQUEST");
  world.request(early, "STATUS");
  EXPECT_EQ(world.heard(early, "ERROR").size(), 1u);
  EXPECT_FALSE(world.closed(early));
  EXPECT_TRUE(world.closed(world.join("system")));
  EXPECT_TRUE(world.closed(world.join(R"(a\u0007b)")));
  EXPECT_TRUE(world.closed(world.join(std::string(10'000, 'x'))));
  const auto twice = world.join("Bob");
  world.heard(twice);
  world.hello(twice, "Bob");
  EXPECT_EQ(bool_member(payload(world.heard(twice, "ERROR").at(0)), "fatal"), false);
}

TEST(Broker, ClosesAConnectionThatNeverSaysHello) {
  World world;
  const auto silent = world.connect();
  world.pass(5s);
  EXPECT_EQ(world.heard(silent, "ERROR").size(), 1u);
  EXPECT_TRUE(world.closed(silent));
}

TEST(Broker, AnswersBrokenFramesWithOneSentence) {
  World world;
  const auto odd = world.join("Odd");
  world.heard(odd);
  for (const char* frame : {"5", "[]", R"({"v":1,"type":"NONSENSE","id":"x","ts":1,"payload":{}})",
                            R"({"v":1,"type":"SEND","id":"x","ts":1})"}) {
    world.say(odd, frame);
    EXPECT_EQ(world.heard(odd, "ERROR").size(), 1u) << frame;
    EXPECT_FALSE(world.closed(odd)) << frame;
  }
  world.say(odd, "{\"v\":1,");
  EXPECT_EQ(bool_member(payload(world.heard(odd, "ERROR").at(0)), "fatal"), true);
  EXPECT_TRUE(world.closed(odd));
}

TEST(Broker, TakesAOneShotMessageUnderAFreeNameOnly) {
  World world;
  const auto bob = world.join_ours("Bob");
  const auto tool = world.connect();
  world.send(tool, "1", "Bob", "ping", R"("from":"tool")");
  EXPECT_EQ(world.heard(tool, "ACK").size(), 1u);
  EXPECT_EQ(text(world.heard(bob, "DELIVER").at(0), "from"), "tool");
  world.send(tool, "2", "Bob", "forged", R"("from":"Bob")");
  EXPECT_EQ(text(payload(world.heard(tool, "NACK").at(0)), "code"), "NOT_OWNER");
  world.send(bob, "3", "tool", "answer");  // a sender can be answered
  EXPECT_EQ(world.heard(bob, "ACK").size(), 1u);
}

TEST(Broker, ResumesByPositionAndSaysStaleWhenThatIsNotPossible) {
  World world;
  const auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto session = text(payload(world.heard(bob, "WELCOME").at(0)), "session_id");
  for (int i = 1; i <= 3; ++i) world.send(alice, format("{}", i), "Bob", format("{}", i), R"("topic":"chat")");
  world.ack(bob, world.heard(bob, "DELIVER").at(0));
  world.leave(bob);
  bob = world.connect();
  const auto resume = [&](int last) {
    world.request(
        bob, "RESUME",
        format(R"({{"session_id":"{}","agent":"Bob","streams":[{{"topic":"chat","peer":"Alice","last_seq":{}}}]}})",
               session, last));
  };
  resume(0);
  EXPECT_EQ(text(payload(world.heard(bob, "NACK").at(0)), "code"), "STALE");
  resume(2);
  const auto frames = world.heard(bob);
  EXPECT_EQ(text(frames.at(0), "type"), "SYNC");
  EXPECT_EQ(body(frames.at(1)), "3");
  EXPECT_EQ(frames.size(), 2u);
}

TEST(Broker, PingsTheSilentAndLetsTheDeadGo) {
  World world;
  const auto bob = world.join("Bob");
  world.heard(bob);
  world.pass(5500ms);
  EXPECT_EQ(world.heard(bob, "PING").size(), 1u);
  world.say(bob, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{"nonce":"x"}})");
  world.pass(9s);
  EXPECT_FALSE(world.closed(bob));
  world.pass(3s);
  EXPECT_TRUE(world.closed(bob));
}

TEST(Broker, SparesAPeerThatIsSlowButTakesBytes) {
  World world;
  const auto bob = world.join("Bob");
  for (int i = 0; i < 20; ++i) {
    world.pass(4s);
    world.broker().on_written(bob, 1000, world.now());
    world.settle();
  }
  EXPECT_FALSE(world.closed(bob));
}

TEST(Broker, BlamesItselfAndNotThePeersForALongSleep) {
  World world;
  const auto bob = world.join("Bob");
  world.now().steady += 60s;
  world.broker().on_tick(world.now());
  world.settle();
  EXPECT_FALSE(world.closed(bob));
}

// ---------------------------------------------------------------- questions

TEST(Broker, AnswersQuestionsUnderTheRequestsId) {
  World world;
  const auto alice = world.join("Alice", R"("cli":"claude")");
  world.leave(world.join("Bob"));
  world.send(alice, "1", "Bob", "first");
  world.heard(alice);
  const std::map<std::string, std::string> questions{{"STATUS", "STATUS_RESPONSE"},
                                                     {"LIST_AGENTS", "LIST_AGENTS_RESPONSE"},
                                                     {"LIST_CONNECTED_AGENTS", "LIST_CONNECTED_AGENTS_RESPONSE"},
                                                     {"HEALTH", "HEALTH_RESPONSE"},
                                                     {"METRICS", "METRICS_RESPONSE"},
                                                     {"MESSAGES_QUERY", "MESSAGES_RESPONSE"}};
  for (const auto& [question, answer] : questions) {
    world.request(alice, question, "{}", "id-" + question);
    const auto frames = world.heard(alice);
    ASSERT_EQ(frames.size(), 1u) << question;
    EXPECT_EQ(text(frames[0], "type"), answer);
    EXPECT_EQ(text(frames[0], "id"), "id-" + question);
  }
  world.request(alice, "INBOX", R"({"agent":"Bob"})");
  const auto inbox = world.heard(alice, "INBOX_RESPONSE").at(0);
  EXPECT_EQ(text(payload(inbox).at("messages").as_array().at(0).as_object(), "body"), "first");
  world.request(alice, "LIST_AGENTS", R"({"includeIdle":true})");
  EXPECT_EQ(payload(world.heard(alice).at(0)).at("agents").as_array().size(), 2u);
}

TEST(Broker, RemovesAnAgentThatIsAway) {
  World world;
  const auto alice = world.join_ours("Alice");
  world.leave(world.join("Bob"));
  world.send(alice, "1", "Bob", "never read");
  world.heard(alice);
  world.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_EQ(bool_member(payload(world.heard(alice, "REMOVE_AGENT_RESPONSE").at(0)), "removed"), true);
  world.send(alice, "2", "Bob", "x");
  EXPECT_EQ(text(payload(world.heard(alice, "NACK").at(0)), "code"), "UNKNOWN_RECIPIENT");
  world.request(alice, "REMOVE_AGENT", R"({"name":"Alice"})");
  EXPECT_EQ(bool_member(payload(world.heard(alice, "REMOVE_AGENT_RESPONSE").at(0)), "success"), false);
}

TEST(Broker, SaysUnsupportedToSpawnFrames) {
  World world;
  const auto alice = world.join("Alice");
  world.heard(alice);
  world.request(alice, "SPAWN", R"({"name":"W","cli":"claude","task":"t"})", "s1");
  const auto result = world.heard(alice, "SPAWN_RESULT").at(0);
  EXPECT_EQ(text(payload(result), "replyTo"), "s1");
  EXPECT_EQ(bool_member(payload(result), "success"), false);
}

TEST(Broker, ShowsAWatcherThePastAndThenThePresentWithoutGapOrRepeat) {
  World world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  for (int i = 0; i < 450; ++i) world.send(alice, format("a{}", i), "Bob", format("{}", i));
  const auto cli = world.join("cli", R"("_isSystemComponent":true)");
  world.heard(cli);
  world.hold_commits();
  world.request(cli, "EVENTS_SUBSCRIBE", R"({"types":["message"],"sinceKey":0})");
  world.send(alice, "b", "Bob", "450");
  world.release_commits();
  world.send(alice, "c", "Bob", "451");
  Texts seen;
  for (const auto& frame : world.heard(cli, "AGENT_EVENT"))
    seen.push_back(text(*object_member(payload(frame), "message"), "body"));
  ASSERT_EQ(seen.size(), 452u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], format("{}", i));
}

TEST(Broker, AnnouncesNewcomersToPublishedClients) {
  World world;
  const auto alice = world.join("Alice");
  world.heard(alice);
  world.join("Bob", R"("cli":"codex")");
  EXPECT_EQ(text(payload(world.heard(alice, "AGENT_READY").at(0)), "name"), "Bob");
}

TEST(Broker, SaysGoodbyeAfterTheLastCommit) {
  World world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.heard(alice);
  world.hold_commits();
  world.send(alice, "1", "Bob", "last words");
  world.broker().shut_down(world.now());
  world.settle();
  EXPECT_FALSE(world.broker().quiet());
  world.release_commits();
  const auto frames = world.heard(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "ACK");
  EXPECT_EQ(text(frames.at(1), "type"), "BYE");
  EXPECT_TRUE(world.closed(alice));
}

}  // namespace
}  // namespace relay::broker
