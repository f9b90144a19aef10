#include "host/mailroom.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct MailroomTest : testing::Test, MailroomHands {
  client::testing::MemoryDirectory disk;
  Intent intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  Mailroom mailroom{rules, intent, *this};
  Mailroom::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  std::vector<std::string> done;
  bool connected = true;

  void paste(std::string_view text) override { done.push_back(format("paste {}", text)); }
  void press_enter() override { done.push_back("enter"); }
  void report(const client::Place& place, protocol::Receipt receipt) override {
    done.push_back(
        format("{} {}{}{}", place.id, name_of(receipt.status), receipt.reason.empty() ? "" : ": ", receipt.reason));
  }
  bool reachable() const override { return connected; }

  Letter letter(const std::string& id) {
    return {
        .place = {.id = id}, .from = "Alice", .message = id, .text = "text of " + id, .injection = Injection{rules}};
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = state;
    (void)mailroom.deliver(view);
  }
  void deliver_one() {
    after(10ms, State::Idle);
    after(1s, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
  }
  std::vector<std::string> heard() { return std::exchange(done, {}); }
};

TEST_F(MailroomTest, OneAfterTheOtherEachWithItsReceipts) {
  mailroom.add(letter("a"));
  mailroom.add(letter("b"));
  EXPECT_EQ(heard(), (std::vector<std::string>{"a accepted", "b accepted"}));
  deliver_one();
  EXPECT_EQ(heard(), (std::vector<std::string>{"paste text of a", "enter", "a delivered: the agent began to work",
                                               "b deferred: the agent is working"}));
  deliver_one();
  EXPECT_EQ(heard(), (std::vector<std::string>{"paste text of b", "enter", "b delivered: the agent began to work"}));
  EXPECT_TRUE(mailroom.waiting().empty());
}

TEST_F(MailroomTest, AReasonIsToldOnceAndPassingOnesAreNot) {
  mailroom.add(letter("a"));
  (void)heard();
  after(0ms, State::Blocked);
  after(1s, State::Blocked);
  EXPECT_EQ(heard(), (std::vector<std::string>{"a deferred: a dialog is open"}));
  after(10ms, State::Idle);
  EXPECT_TRUE(heard().empty()) << "it just became idle: gone in a moment";
  EXPECT_EQ(mailroom.waiting().front().reason, "it just became idle");
}

TEST_F(MailroomTest, WhatAPredecessorMayHaveTypedIsInDoubt) {
  ASSERT_TRUE(intent.add("a"));
  mailroom.add(letter("a"));
  EXPECT_EQ(heard(), (std::vector<std::string>{"a in_doubt: the host ended while it was being typed"}));
  EXPECT_FALSE(intent.holds("a"));
  EXPECT_TRUE(mailroom.waiting().empty());
}

TEST_F(MailroomTest, TheNoteIsThereBeforeTheFirstByteAndStaysUntilTheEndIsTold) {
  mailroom.add(letter("a"));
  after(1s, State::Idle);
  EXPECT_TRUE(intent.holds("a"));
  connected = false;
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_TRUE(intent.holds("a")) << "the daemon has not heard of its end";
}

TEST_F(MailroomTest, WhatCannotBeNotedIsNotTyped) {
  mailroom.add(letter("a"));
  (void)heard();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (std::vector<std::string>{"a deferred: the note of what is typed cannot be written"}));
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (std::vector<std::string>{"paste text of a"}));
}

TEST_F(MailroomTest, WhatExpiredWhileItWaitedIsNotTyped) {
  auto stale = letter("a");
  stale.expires_at = 5'000;
  mailroom.add(stale);
  after(0ms, State::Blocked);
  (void)heard();
  view.wall = 5'000;
  after(10s, State::Idle);
  EXPECT_EQ(heard(), (std::vector<std::string>{"a failed: its time was over before it could be typed"}));
}

TEST_F(MailroomTest, ExplanationsEndWhenNobodyLearns) {
  for (int i = 0; i < 10; ++i) mailroom.explain("no such\nagent");
  EXPECT_EQ(mailroom.waiting().size(), static_cast<std::size_t>(kMaxExplanations));
  EXPECT_EQ(mailroom.waiting().front().text, "Relay: no such agent");
  mailroom.understood();
  mailroom.explain("again");
  EXPECT_EQ(mailroom.waiting().size(), kMaxExplanations + 1u);
}

TEST_F(MailroomTest, ADraftThatIsNotOursIsNeverEntered) {
  mailroom.add(letter("a"));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = "rm -rf"};
  view.composer = &composer;
  after(1s, State::Idle);
  (void)heard();
  after(1s, State::Typing);
  after(1s, State::Typing);
  EXPECT_TRUE(heard().empty());
  EXPECT_EQ(mailroom.waiting().front().reason, "a person is editing it");
  composer->draft = "text of a and what wraps";
  after(1s, State::Typing);
  EXPECT_EQ(heard(), (std::vector<std::string>{"enter"}));
}

constexpr const char* kLongText = "Relay message from Alice [abc12345]: the quick brown fox jumps over the lazy dog";

TEST_F(MailroomTest, KnowsItsTextHoweverTheComposerShowsIt) {
  const char* const ways[] = {kLongText, "Relay\nmessage\nfrom Alice", "brown fox jumps\nover the lazy dog",
                              "[Pasted text #1]"};  // whole, wrapped early, scrolled to its end, folded
  for (const auto* draft : ways) {
    auto one = letter("a");
    one.text = kLongText;
    mailroom.add(one);
    std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = draft};
    view.composer = &composer;
    (void)heard();
    deliver_one();
    EXPECT_EQ(heard().back(), "a delivered: the agent began to work") << draft;
  }
}

TEST_F(MailroomTest, DoesNotTakeOtherWordsForItsOwn) {
  auto one = letter("a");
  one.text = kLongText;
  mailroom.add(one);
  after(1s, State::Idle);
  (void)heard();
  for (const auto* draft : {"fox", "please Relay message from Alice", "brown fox jumps over the lazy cat"}) {
    std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = draft};
    view.composer = &composer;
    after(10s, State::Typing);
    EXPECT_TRUE(heard().empty()) << draft;
  }
}

TEST_F(MailroomTest, TellsTheDoubtWhenTheAgentEndsInBetween) {
  mailroom.add(letter("a"));
  mailroom.add(letter("b"));
  after(1s, State::Idle);
  (void)heard();
  mailroom.on_agent_gone();
  EXPECT_EQ(heard(), (std::vector<std::string>{"a in_doubt: the agent ended while it was being typed"}));
  EXPECT_FALSE(intent.holds("a")) << "the daemon knows";
  mailroom.on_agent_gone();
  EXPECT_TRUE(heard().empty()) << "the next one was never typed: it stays with the daemon";
}

}  // namespace
}  // namespace relay::host
