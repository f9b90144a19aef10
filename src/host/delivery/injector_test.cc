#include "host/delivery/injector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct InjectorTest : ::testing::Test, InjectorActions, SilentDeliveries, ReceiptReporter {
  client::testing::MemoryDirectory disk;
  IntentLog intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  Injector injector{rules, intent, *this, *this};
  Injector::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  std::vector<std::string> done;
  std::vector<Delivery> quiet;
  std::optional<profiles::Composer>* drafted = nullptr;  // emptied when the agent takes what stands there
  protocol::Receipt last;

  void interrupt() override { done.push_back("interrupt"); }
  void paste(std::string_view text) override { done.push_back(format("paste {}", text)); }
  void press_enter() override { done.push_back("enter"); }
  void erase(std::size_t characters) override { done.push_back(format("erase {}", characters)); }
  void report(const client::DeliveryRef& place, protocol::Receipt receipt) override {
    done.push_back(format("{} {}{}{}{}", place.id, name_of(receipt.status),
                          receipt.proof == "written" ? " written" : "", receipt.reason.empty() ? "" : ": ",
                          receipt.reason));
    last = receipt;
  }
  std::vector<Delivery> take_silent(std::size_t) override { return std::exchange(quiet, {}); }
  void return_silent(std::vector<Delivery> deliveries) override { quiet = std::move(deliveries); }

  Delivery delivery(const std::string& id) {
    return {.ref = {.id = id}, .from = "Alice", .message = id, .text = "text of " + id, .injection = Injection{rules}};
  }
  void add_urgent(const std::string& id) {
    rules.interrupt = "\x1b";
    auto one = delivery(id);
    one.injection = Injection{rules, Injection::InterruptPolicy::Interrupts};
    injector.add(std::move(one));
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = state;
    (void)injector.deliver(view, *this);
  }
  void deliver_one() {
    after(10ms, State::Idle);
    after(1s, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    if (drafted != nullptr) (*drafted)->draft.clear();
    after(50ms, State::Working);
  }
  void show(std::optional<profiles::Composer>& composer) { view.composer = drafted = &composer; }
  void given(std::string_view text, std::string_view way, std::string_view id) {
    EvidenceMatcher shown{text};
    injector.on_model_input(shown, way, id);
  }
  std::vector<std::string> received() { return std::exchange(done, {}); }
};

TEST_F(InjectorTest, DeliveriesAreTypedInOrderWithReceipts) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  deliver_one();
  EXPECT_EQ(received(),
            (std::vector<std::string>{"paste text of a", "a accepted written", "enter",
                                      "a delivered: the agent began to work", "b deferred: the agent is working"}));
  deliver_one();
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of b", "b accepted written", "enter",
                                                  "b delivered: the agent began to work"}));
  EXPECT_TRUE(injector.pending().empty());
}

TEST_F(InjectorTest, FreeGateIsReportedWithoutScreenChange) {
  EXPECT_FALSE(injector.deliver(view, *this));
  injector.add(delivery("a"));
  after(1s, State::Idle);
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Idle);  // a turn too short to be seen
  view.now += kIdleSettle;
  EXPECT_EQ(injector.deliver(view, *this), view.now);
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of a", "a accepted written", "enter",
                                                  "a delivered: the composer emptied"}));
  EXPECT_FALSE(injector.deliver(view, *this));
}

TEST_F(InjectorTest, NextWaitsForTurnOfPrevious) {
  for (const bool seen : {false, true}) {
    const std::string first = seen ? "c" : "a", second = seen ? "d" : "b";
    injector.add(delivery(first));
    injector.add(delivery(second));
    view.has_transcript = true;
    after(1s, State::Idle);
    after(kIdleSettle, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Idle);  // the program queues it
    after(kIdleSettle, State::Idle);
    EXPECT_EQ(received().back(), first + " delivered: the composer emptied");
    after(1s, State::Idle);
    EXPECT_TRUE(received().empty());
    EXPECT_EQ(injector.pending().front().reason, "the turn of the message before it has not begun");
    if (seen) {
      given("text of " + first, "transcript", "u-1");
    } else {
      after(1s, State::Working);
      after(1s, State::Idle);
    }
    (void)received();
    after(kIdleSettle, State::Idle);
    EXPECT_EQ(received(), (std::vector<std::string>{"paste text of " + second}));
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
    (void)received();
    view.typing = {};
  }
}

TEST_F(InjectorTest, UnseenTurnDelaysNextBriefly) {
  for (const bool has_transcript : {false, true}) {
    view.has_transcript = has_transcript;
    injector.add(delivery(has_transcript ? "c" : "a"));
    injector.add(delivery(has_transcript ? "d" : "b"));
    after(1s, State::Idle);
    after(kIdleSettle, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Idle);
    view.now += kIdleSettle;
    EXPECT_EQ(injector.deliver(view, *this), view.now + (has_transcript ? kSeenTimeout : kTurnTimeout));
    (void)received();
    after(has_transcript ? kSeenTimeout : kTurnTimeout, State::Idle);
    EXPECT_EQ(received(), (std::vector<std::string>{format("paste text of {}", has_transcript ? "d" : "b")}));
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
  }
}

TEST_F(InjectorTest, UnsentMessageIsNotDeliveredByAnotherTurn) {
  injector.add(delivery("a"));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  after(1s, State::Idle);
  composer->draft = "text of a";
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  (void)received();
  after(50ms, State::Working);
  EXPECT_TRUE(received().empty());
  after(kEnterTimeout, State::Working);
  EXPECT_EQ(received(), (std::vector<std::string>{"a deferred: the agent is working and the text is unsent"}));
  composer->draft = "text of a and a person's own";
  after(1s, State::Working);
  EXPECT_TRUE(received().empty()) << "it stands there still";
  composer->draft = "text of a";
  after(5s, State::Typing);
  EXPECT_EQ(received(), (std::vector<std::string>{"enter"}));
  composer->draft = "";
  after(50ms, State::Working);
  EXPECT_EQ(received(), (std::vector<std::string>{"a delivered: the agent began to work"}));
}

TEST_F(InjectorTest, UnsentTextIsErasedForNext) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  after(1s, State::Idle);
  composer->draft = "text of a";
  for (int i = 0; i < 3; ++i) after(1s, State::Typing);
  const auto told = received();
  EXPECT_EQ(std::ranges::count(told, "enter"), 2);
  EXPECT_TRUE(told.back().starts_with("erase ")) << told.back();
  composer->draft = "";
  after(50ms, State::Idle);
  after(kIdleSettle, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"a in_doubt: Enter was not taken, and its text was erased"}));
  after(kIdleSettle, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of b"}));
}

TEST_F(InjectorTest, TextErasedForKeysIsTypedAgain) {
  quiet.push_back(delivery("q"));
  injector.add(delivery("a"));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  after(1s, State::Idle);
  EXPECT_TRUE(injector.holds_keys());
  composer->draft = "text of q\ntext of a";
  view.keys = {.since = view.now, .cancel = true};
  after(50ms, State::Typing);
  EXPECT_TRUE(received().back().starts_with("erase "));
  EXPECT_TRUE(injector.holds_keys());
  composer->draft = "";
  after(50ms, State::Idle);
  EXPECT_FALSE(injector.holds_keys());
  EXPECT_EQ(received(),
            (std::vector<std::string>{"a deferred: the user began to type; it was erased and is typed later"}));
  EXPECT_EQ(quiet.size(), 1U);
  view.keys = {};
  after(kIdleSettle, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of q\ntext of a"}));
}

TEST_F(InjectorTest, KeysAreReleasedWithoutScreenChange) {
  injector.add(delivery("a"));
  after(1s, State::Idle);
  after(50ms, State::Unknown);
  view.keys.since = view.now;
  EXPECT_EQ(injector.deliver(view, *this), view.now + kSlowTimeout);
  after(kSlowTimeout, State::Unknown);
  EXPECT_FALSE(injector.holds_keys());
}

TEST_F(InjectorTest, TypingDoesNotFillHistory) {
  injector.add(delivery("a"));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = "a person's own"};
  view.composer = &composer;
  after(1s, State::Idle);
  (void)received();
  for (int i = 0; i < 100; ++i) after(50ms, i % 2 == 0 ? State::Typing : State::Unknown);
  EXPECT_EQ(received(), (std::vector<std::string>{"a accepted written", "a deferred: the user is editing it"}));
  view.now += 50ms;
  view.state = State::Unknown;
  EXPECT_EQ(injector.deliver(view, *this), view.now - 50ms + kReasonSettle) << "it is told once it has lasted";
  after(kReasonSettle, State::Unknown);
  EXPECT_EQ(received(), (std::vector<std::string>{"a deferred: the screen is not understood"}));
}

TEST_F(InjectorTest, ChangingReasonIsReportedMoreAndMoreRarely) {
  injector.add(delivery("a"));
  for (int second = 0; second < 24 * 3'600; second += 30)
    for (int i = 0; i < 2; ++i) after(15s, second / 30 % 2 == 0 ? State::Blocked : State::Working);
  EXPECT_LE(received().size(), 8U);
}

TEST_F(InjectorTest, LastingReasonIsReportedOnce) {
  injector.add(delivery("a"));
  (void)received();
  after(0ms, State::Blocked);
  after(1s, State::Blocked);
  EXPECT_EQ(received(), (std::vector<std::string>{"a deferred: a dialog is open"}));
  after(10ms, State::Idle);
  EXPECT_TRUE(received().empty()) << "it just became idle: gone in a moment";
  EXPECT_EQ(injector.pending().front().reason, "it just became idle");
}

TEST_F(InjectorTest, IntentIsOnDiskBeforeFirstByte) {
  injector.add(delivery("a"));
  after(1s, State::Idle);
  EXPECT_TRUE(intent.contains("a"));
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_TRUE(intent.contains("a")) << "whether the daemon has stored its end is not known";
  ASSERT_TRUE(intent.end_of("a"));
  EXPECT_EQ(intent.end_of("a")->status, protocol::ReceiptStatus::Delivered);
}

TEST_F(InjectorTest, UnresponsiveAgentGetsNothingMore) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  after(1s, State::Idle);
  (void)received();
  for (int i = 0; i < 10; ++i) after(1s, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"a accepted written", "a in_doubt: the text never appeared",
                                                  "b deferred: the screen does not react to what is typed"}));
  ++view.revision;
  after(1s, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of b"}));
}

TEST_F(InjectorTest, UserTextGoesFirstOrFails) {
  injector.add(delivery("a"));
  (void)received();
  std::vector<std::string> outcomes;
  const auto tell = [&](Result<void> outcome) { outcomes.push_back(outcome ? "done" : outcome.error().message()); };
  injector.inject_user_text("go on", view.now, tell);
  EXPECT_TRUE(injector.has_user_text()) << "no second one meanwhile";
  deliver_one();
  EXPECT_FALSE(injector.has_user_text());
  EXPECT_EQ(outcomes, std::vector<std::string>{"done"});
  EXPECT_EQ(received(), (std::vector<std::string>{"paste go on", "enter", "a deferred: the agent is working"}));
  injector.inject_user_text("more", view.now, tell);
  after(0ms, State::Working);
  after(kSayTimeout, State::Working);
  EXPECT_EQ(outcomes.back(), "it was not typed: the agent is working");
}

TEST_F(InjectorTest, DeliveryWithoutIntentIsNotTyped) {
  injector.add(delivery("a"));
  (void)received();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"a deferred: the intent log cannot be written"}));
  after(1s, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of a"}));
}

TEST_F(InjectorTest, ExpiredDeliveryIsNotTyped) {
  auto stale = delivery("a");
  stale.expires_at = 5'000;
  injector.add(std::move(stale));
  view.state = State::Blocked;
  EXPECT_EQ(injector.deliver(view, *this), view.now + 4s) << "though nothing changes meanwhile";
  (void)received();
  view.wall = 5'000;
  after(10s, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"a failed: its ttl ran out"}));
}

TEST_F(InjectorTest, NoticesInRowAreBounded) {
  EXPECT_EQ(injector.make_notice("no such\nagent")->text, "Relay: no such agent");
  int given = 1;
  for (int i = 0; i < 10; ++i) given += injector.make_notice("no such agent") ? 1 : 0;
  EXPECT_EQ(given, kMaxTypedNotices);
  injector.reset_notices();
  EXPECT_TRUE(injector.make_notice("again"));
}

TEST_F(InjectorTest, UrgentDeliveryInterruptsOnce) {
  add_urgent("a");
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  after(0ms, State::Blocked);
  EXPECT_EQ(received(), (std::vector<std::string>{"a deferred: a dialog is open"})) << "its answer is the person's";
  after(0ms, State::Working);
  composer->draft = "a person's";
  after(1s, State::Working);
  after(kReasonSettle, State::Working);
  EXPECT_EQ(received(), (std::vector<std::string>{"a deferred: the agent is working"}))
      << "whoever types is in the middle";
  composer->draft = "";
  after(1s, State::Working);
  after(1s, State::Working);
  EXPECT_EQ(received(), (std::vector<std::string>{"interrupt"}));
  view.composer = nullptr;
  deliver_one();
  EXPECT_EQ(received(), (std::vector<std::string>{"paste text of a", "a accepted written", "enter",
                                                  "a delivered: the agent began to work"}));
}

TEST_F(InjectorTest, NewTurnIsNotInterrupted) {
  rules.interrupt = "\x1b";
  auto urgent = delivery("a");
  urgent.injection = Injection{rules, Injection::InterruptPolicy::Interrupts};
  injector.add(std::move(urgent));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  after(10ms, State::Working);
  after(kMinTurnBeforeInterrupt - 1ms, State::Working);
  EXPECT_TRUE(received().empty()) << "what began it, perhaps a message of ours, may not be with the model yet";
  after(1ms, State::Working);
  EXPECT_EQ(received(), (std::vector<std::string>{"interrupt"}));
}

TEST_F(InjectorTest, ReplyIsNotInterruptedForNext) {
  for (const auto* id : {"a", "b"}) add_urgent(id);
  deliver_one();
  (void)received();
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  for (int i = 0; i < 5; ++i) after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(received(), "interrupt"), 0);
  after(1s, State::Idle);
  after(1s, State::Working);  // a turn of the person's
  after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(received(), "interrupt"), 1);
}

TEST_F(InjectorTest, UrgentUserMessageInterruptsReplyToSeenMessage) {
  rules.interrupt = "\x1b";
  injector.add(delivery("a"));
  auto stop = delivery("stop");
  stop.as_user = true;
  stop.injection = Injection{rules, Injection::InterruptPolicy::Interrupts};
  injector.add(std::move(stop));
  deliver_one();
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  for (int i = 0; i < 5; ++i) after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(received(), "interrupt"), 0) << "the program may drop what its model does not have";
  given("text of a", "transcript", "r1");
  after(1s, State::Working);
  EXPECT_EQ(std::ranges::count(received(), "interrupt"), 1);
}

TEST_F(InjectorTest, UrgentUserMessageInterruptsTurnOfSeenInput) {
  rules.interrupt = "\x1b";
  injector.inject_user_text("do it", view.now, [](const Result<void>&) {});
  deliver_one();
  auto stop = delivery("stop");
  stop.as_user = true;
  stop.injection = Injection{rules, Injection::InterruptPolicy::Interrupts};
  injector.add(std::move(stop));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  for (int i = 0; i < 5; ++i) after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(received(), "interrupt"), 0) << "the model may not have that input yet";
  given("do it", "transcript", "r1");
  after(1s, State::Working);
  EXPECT_EQ(std::ranges::count(received(), "interrupt"), 1);
}

TEST_F(InjectorTest, PendingDeliveryCanBeTakenBack) {
  injector.add(delivery("a"));
  after(0ms, State::Blocked);
  EXPECT_EQ(injector.take_back()->message, "a");
  injector.add(delivery("b"));
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_FALSE(injector.take_back()) << "it stands in the composer";
}

TEST_F(InjectorTest, ForeignDraftIsNeverEntered) {
  injector.add(delivery("a"));
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = "rm -rf"};
  view.composer = &composer;
  after(1s, State::Idle);
  (void)received();
  after(1s, State::Typing);
  after(1s, State::Typing);
  EXPECT_EQ(received(), (std::vector<std::string>{"a accepted written", "a deferred: the user is editing it"}));
  composer->draft = "text of a and a person's own";
  after(1s, State::Typing);
  EXPECT_TRUE(received().empty()) << "typed behind ours";
  composer->draft = "text  of\na";
  after(1s, State::Typing);
  EXPECT_EQ(received(), (std::vector<std::string>{"enter"}));
}

constexpr const char* kLongText = "Relay message from Alice [abc12345]: the quick brown fox jumps over the lazy dog";

TEST_F(InjectorTest, RecognizesTextInAnyComposer) {
  const char* const ways[] = {kLongText, "Relay\nmessage\nfrom Alice", "brown fox jumps\nover the lazy dog",
                              "the quick↵brown fox jumps", "[Pasted text #1]"};
  // whole, wrapped early, scrolled to its end, with a sign for the end of a line, folded
  for (std::size_t way = 0; way < std::size(ways); ++way) {
    const auto* const draft = ways[way];
    const auto id = format("a{}", way);
    auto one = delivery(id);
    one.text = kLongText;
    injector.add(std::move(one));
    std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = draft};
    show(composer);
    (void)received();
    deliver_one();
    EXPECT_EQ(received().back(), id + " delivered: the agent began to work") << draft;
  }
}

TEST_F(InjectorTest, DoesNotRecognizeOtherText) {
  auto one = delivery("a");
  one.text = kLongText;
  injector.add(std::move(one));
  after(1s, State::Idle);
  (void)received();
  for (const auto* draft : {"fox", "please Relay message from Alice", "brown fox jumps over the lazy cat"}) {
    std::optional<profiles::Composer> composer = profiles::Composer{.focused = true, .draft = draft};
    view.composer = &composer;
    after(10s, State::Typing);
    EXPECT_EQ(std::ranges::count(received(), "enter"), 0) << draft;
  }
}

TEST_F(InjectorTest, RecognizesCombinedAccents) {
  auto one = delivery("a");
  one.text = "Relay message from Alice: cafe\u0301 and nai\u0308ve";
  injector.add(std::move(one));
  std::optional<profiles::Composer> composer =
      profiles::Composer{.focused = true, .draft = "Relay message from Alice: caf\u00e9 and na\u00efve"};
  show(composer);
  deliver_one();
  EXPECT_EQ(received().back(), "a delivered: the agent began to work");
  auto other = delivery("b");
  other.text = "Relay message from Alice: cafe\u0301 and nai\u0308ve";
  injector.add(std::move(other));
  composer->draft = "Relay message from Alice: cafe and naive";
  after(1s, State::Idle);
  after(1s, State::Idle);
  (void)received();
  after(1s, State::Typing);
  EXPECT_EQ(received(), (std::vector<std::string>{"b accepted written", "b deferred: the user is editing it"}));
}

TEST_F(InjectorTest, TrailingBackslashDoesNotBreakEnter) {
  auto one = delivery("a");
  one.text = "see C:\\";
  injector.add(std::move(one));
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_EQ(received(), (std::vector<std::string>{"paste see C:\\ ", "a accepted written"}));
}

TEST_F(InjectorTest, AgentExitLeavesDeliveryInDoubt) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  after(1s, State::Idle);
  (void)received();
  injector.on_agent_exit();
  EXPECT_EQ(received(), (std::vector<std::string>{"a in_doubt: the agent ended while it was being typed"}));
  injector.on_agent_exit();
  EXPECT_TRUE(received().empty()) << "the next one was never typed: it stays with the daemon";
}

TEST_F(InjectorTest, EachProofIsReportedWithEvidence) {
  injector.add(delivery("a"));
  view.drained = false;
  after(1s, State::Idle);
  after(100ms, State::Idle);
  EXPECT_EQ(received(), std::vector<std::string>{"paste text of a"}) << "the program has not read it yet";
  view.drained = true;
  after(1ms, State::Typing);
  EXPECT_EQ(last.proof, "written");
  EXPECT_EQ(last.via, "pty");
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_EQ(received(),
            (std::vector<std::string>{"a accepted written", "enter", "a delivered: the agent began to work"}));
  EXPECT_EQ(last.proof, "submitted");
  EXPECT_EQ(last.evidence, "status working");
  given("something else", "transcript", "u-0");
  given("before text of a behind", "transcript", "u-0");
  EXPECT_TRUE(received().empty()) << "quoted in somebody's words";
  given("before\ntext of a\nbehind", "transcript", "u-1");
  given("text of a", "hook", "UserPromptSubmit");
  EXPECT_EQ(received(), std::vector<std::string>{"a delivered: typed; its transcript shows it"}) << "once";
  EXPECT_EQ(last.proof, "seen");
  EXPECT_EQ(last.via, "pty");
  EXPECT_EQ(last.evidence, "transcript u-1");
}

TEST_F(InjectorTest, ShownDeliveryIsNeverInDoubt) {
  injector.add(delivery("a"));
  after(1s, State::Idle);
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  (void)received();
  given("text of a", "hook", "UserPromptSubmit");
  EXPECT_TRUE(received().empty()) << "the screen has a moment to follow";
  view.typing.any = view.typing.edit = view.now + 1s;
  after(2s, State::Typing);
  EXPECT_EQ(received(), std::vector<std::string>{"a delivered: typed; its hook shows it"}) << "though a person types";
  EXPECT_EQ(last.proof, "seen");
  EXPECT_EQ(last.evidence, "hook UserPromptSubmit");
  injector.add(delivery("b"));
  after(1s, State::Working);
  view.typing = {};
  after(1s, State::Idle);
  after(1s, State::Idle);
  after(50ms, State::Typing);
  given("text of b", "transcript", "u-1");  // of an earlier delivery of the same message
  after(300ms, State::Typing);
  EXPECT_EQ(received().back(), "enter") << "what is not sent cannot be shown";
  given("text of b", "transcript", "u-2");
  injector.on_agent_exit();
  EXPECT_EQ(received(), std::vector<std::string>{"b delivered: typed; its transcript shows it"});
}

TEST_F(InjectorTest, SilentDeliveriesPrecedeText) {
  quiet.push_back(delivery("q"));
  quiet.push_back(delivery("r"));
  injector.add(delivery("a"));
  after(1s, State::Idle);
  EXPECT_EQ(received(), std::vector<std::string>{"paste text of q\ntext of r\ntext of a"});
  std::optional<profiles::Composer> composer =
      profiles::Composer{.focused = true, .draft = "text of q\ntext of r↵text of a"};
  view.composer = &composer;
  after(300ms, State::Typing);
  composer->draft.clear();
  after(50ms, State::Working);
  EXPECT_EQ(received(),
            (std::vector<std::string>{"q accepted written", "r accepted written", "a accepted written", "enter",
                                      "q delivered: the agent began to work", "r delivered: the agent began to work",
                                      "a delivered: the agent began to work"}));
  given("text of q text of a", "transcript", "u-1");
  EXPECT_EQ(received(), (std::vector<std::string>{"q delivered: typed; its transcript shows it",
                                                  "a delivered: typed; its transcript shows it"}));
}

TEST_F(InjectorTest, EvidenceForOneProvesWholePaste) {
  quiet.push_back(delivery("q"));
  injector.add(delivery("a"));
  after(1s, State::Idle);
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  (void)received();
  given("text of q", "transcript", "u-1");
  injector.on_agent_exit();
  EXPECT_EQ(received(), (std::vector<std::string>{"q delivered: typed; its transcript shows it",
                                                  "a delivered: typed; its transcript shows it"}));
  EXPECT_EQ(last.proof, "submitted");
  EXPECT_EQ(last.evidence, "transcript u-1");
}

TEST_F(InjectorTest, EditedPasteNeedsEvidenceForEach) {
  for (const bool at_once : {false, true}) {  // the hook is there before the screen shows that it works
    const std::string id = at_once ? "b" : "a";
    quiet.push_back(delivery("quiet " + id));
    injector.add(delivery(id));
    after(1s, State::Idle);
    after(1s, State::Idle);
    after(50ms, State::Typing);
    view.now += 1ms;
    view.typing.any = view.typing.edit = view.typing.enter = view.now;
    after(1ms, at_once ? State::Typing : State::Working);
    (void)received();
    given("text of quiet " + id, "transcript", "u-1");
    after(1ms, at_once ? State::Typing : State::Working);
    after(1ms, State::Working);
    EXPECT_TRUE(received().empty()) << "the other may yet be shown";
    after(kShownTimeout, State::Working);
    EXPECT_EQ(received(), (std::vector<std::string>{
                              "quiet " + id + " delivered: typed; its transcript shows it",
                              id + " in_doubt: the user edited it, and the text that was sent is not known"}));
  }
}

TEST_F(InjectorTest, EditedTextIsInDoubtWithoutEvidence) {
  for (const bool shown : {false, true}) {
    injector.add(delivery(shown ? "b" : "a"));
    after(1s, State::Idle);
    after(1s, State::Idle);
    after(50ms, State::Typing);
    view.now += 1ms;
    view.typing.any = view.typing.edit = view.typing.enter = view.now;
    after(10ms, State::Working);
    (void)received();
    if (shown) given("text of b", "transcript", "u-1");
    after(shown ? 1ms : kShownTimeout, State::Working);
    EXPECT_EQ(received(), std::vector<std::string>{
                              shown ? "b delivered: typed; its transcript shows it"
                                    : "a in_doubt: the user edited it, and the text that was sent is not known"});
  }
}

TEST_F(InjectorTest, DeliveryBehindUserTextCanBeTakenBack) {
  injector.add(delivery("a"));
  injector.inject_user_text("go on", view.now, [](const Result<void>&) {});
  after(1s, State::Idle);
  EXPECT_EQ(injector.take_back()->message, "a");
  EXPECT_FALSE(injector.take_back()) << "the person's are being typed";
}

TEST_F(InjectorTest, FailedIntentKeepsInterruptPolicy) {
  add_urgent("a");
  disk.fail_appends = 1;
  after(1s, State::Idle);
  std::optional<profiles::Composer> composer = profiles::Composer{.focused = true};
  view.composer = &composer;
  (void)received();
  after(1s, State::Working);
  after(kMinTurnBeforeInterrupt, State::Working);
  EXPECT_EQ(received(), std::vector<std::string>{"interrupt"});
}

TEST_F(InjectorTest, LineBreaksBecomeBlanksWithoutBracketedPaste) {
  quiet.push_back(delivery("q"));
  auto one = delivery("a");
  one.text = "text\n(attached: x)";
  injector.add(std::move(one));
  view.takes_lines = false;
  after(1s, State::Idle);
  EXPECT_EQ(received(), std::vector<std::string>{"paste text of q text (attached: x)"});
}

TEST_F(InjectorTest, UserTextIsTypedAlone) {
  quiet.push_back(delivery("q"));
  injector.inject_user_text("go\non", view.now, [](const Result<void>&) {});
  after(1s, State::Idle);
  EXPECT_EQ(received(), std::vector<std::string>{"paste go\non"});
  EXPECT_EQ(quiet.size(), 1U);
}

TEST_F(InjectorTest, SecondAttemptHasIntentOfItsOwn) {
  ASSERT_TRUE(intent.add("a"));
  auto again = delivery("a");
  again.ref.attempt = 2;
  injector.add(std::move(again));
  deliver_one();
  EXPECT_TRUE(intent.contains("a#2"));
  EXPECT_EQ(received().back(), "a delivered: the agent began to work");
}

}  // namespace
}  // namespace relay::host
