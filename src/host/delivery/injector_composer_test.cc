#include "host/delivery/injector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "host/testing/injector_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

constexpr const char* kLongText = "Relay message from Alice [abc12345]: the quick brown fox jumps over the lazy dog";

struct ComposerTextTest : testing::InjectorFixture {};

TEST_F(ComposerTextTest, UnsentMessageIsNotDeliveredByAnotherTurn) {
  injector.add(delivery("a"));
  auto& composer = show_composer();
  after(1s, State::Idle);
  composer.draft = "text of a";
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  (void)take_steps();
  after(50ms, State::Working);
  EXPECT_TRUE(take_steps().empty());
  after(kEnterTimeout, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: the agent is working and the text is unsent"}));
  composer.draft = "text of a and the user's own";
  after(1s, State::Working);
  EXPECT_TRUE(take_steps().empty()) << "the composer still holds it";
  composer.draft = "text of a";
  after(5s, State::Typing);
  EXPECT_EQ(take_steps(), (Lines{"enter"}));
  composer.draft = "";
  after(50ms, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"a delivered: the agent started to work"}));
}

TEST_F(ComposerTextTest, UnsentTextIsErasedForNext) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  auto& composer = show_composer();
  after(1s, State::Idle);
  composer.draft = "text of a";
  for (int i = 0; i < 3; ++i) after(1s, State::Typing);
  const auto first_steps = take_steps();
  EXPECT_EQ(std::ranges::count(first_steps, "enter"), 2);
  EXPECT_TRUE(first_steps.back().starts_with("erase ")) << first_steps.back();
  composer.draft = "";
  after(50ms, State::Idle);
  after(kIdleStableTime, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a in_doubt: Enter had no effect, and its text was erased"}));
  after(kIdleStableTime, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"paste text of b"}));
}

TEST_F(ComposerTextTest, TextErasedForKeysIsTypedAgain) {
  silent.push_back(delivery("q"));
  injector.add(delivery("a"));
  auto& composer = show_composer();
  after(1s, State::Idle);
  EXPECT_TRUE(injector.holds_keys());
  composer.draft = "text of q\ntext of a";
  view.keys = {.since = view.now, .cancel = true};
  after(50ms, State::Typing);
  EXPECT_TRUE(take_steps().back().starts_with("erase "));
  EXPECT_TRUE(injector.holds_keys());
  composer.draft = "";
  after(50ms, State::Idle);
  EXPECT_FALSE(injector.holds_keys());
  EXPECT_EQ(take_steps(), (Lines{"a deferred: the user started to type; it was erased and is typed later"}));
  EXPECT_EQ(silent.size(), 1U);
  view.keys = {};
  after(kIdleStableTime, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"paste text of q\ntext of a"}));
}

TEST_F(ComposerTextTest, ForeignDraftIsNeverEntered) {
  injector.add(delivery("a"));
  auto& composer = show_composer("rm -rf");
  after(1s, State::Idle);
  (void)take_steps();
  after(1s, State::Typing);
  after(1s, State::Typing);
  EXPECT_EQ(take_steps(), (Lines{"a accepted written", "a deferred: the user is editing it"}));
  composer.draft = "text of a and the user's own";
  after(1s, State::Typing);
  EXPECT_TRUE(take_steps().empty()) << "the user typed after the text";
  composer.draft = "text  of\na";
  after(1s, State::Typing);
  EXPECT_EQ(take_steps(), (Lines{"enter"}));
}

TEST_F(ComposerTextTest, TextIsRecognizedInAnyComposer) {
  const char* const drafts[] = {kLongText, "Relay\nmessage\nfrom Alice", "brown fox jumps\nover the lazy dog",
                                "the quick↵brown fox jumps", "[Pasted text #1]"};
  // whole, wrapped, scrolled to its end, with a drawn line break, folded
  for (std::size_t i = 0; i < std::size(drafts); ++i) {
    const auto* const draft = drafts[i];
    const auto id = format("a{}", i);
    auto made = delivery(id);
    made.text = kLongText;
    injector.add(std::move(made));
    show_composer(draft);
    (void)take_steps();
    deliver_one();
    EXPECT_EQ(take_steps().back(), id + " delivered: the agent started to work") << draft;
  }
}

TEST_F(ComposerTextTest, OtherTextIsNotRecognized) {
  auto made = delivery("a");
  made.text = kLongText;
  injector.add(std::move(made));
  after(1s, State::Idle);
  (void)take_steps();
  for (const auto* draft : {"fox", "please Relay message from Alice", "brown fox jumps over the lazy cat"}) {
    show_composer(draft);
    after(10s, State::Typing);
    EXPECT_EQ(std::ranges::count(take_steps(), "enter"), 0) << draft;
  }
}

TEST_F(ComposerTextTest, CombinedAccentsAreRecognized) {
  auto made = delivery("a");
  made.text = "Relay message from Alice: cafe\u0301 and nai\u0308ve";
  injector.add(std::move(made));
  auto& composer = show_composer("Relay message from Alice: caf\u00e9 and na\u00efve");
  deliver_one();
  EXPECT_EQ(take_steps().back(), "a delivered: the agent started to work");
  auto other = delivery("b");
  other.text = "Relay message from Alice: cafe\u0301 and nai\u0308ve";
  injector.add(std::move(other));
  composer.draft = "Relay message from Alice: cafe and naive";
  after(1s, State::Idle);
  after(1s, State::Idle);
  (void)take_steps();
  after(1s, State::Typing);
  EXPECT_EQ(take_steps(), (Lines{"b accepted written", "b deferred: the user is editing it"}));
}

TEST_F(ComposerTextTest, TrailingBackslashDoesNotBreakEnter) {
  auto made = delivery("a");
  made.text = "see C:\\";
  injector.add(std::move(made));
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"paste see C:\\ ", "a accepted written"}));
}

TEST_F(ComposerTextTest, LineBreaksBecomeBlanksWithoutBracketedPaste) {
  silent.push_back(delivery("q"));
  auto made = delivery("a");
  made.text = "text\n(attached: x)";
  injector.add(std::move(made));
  view.takes_lines = false;
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"paste text of q text (attached: x)"});
}

}  // namespace
}  // namespace relay::host
