#include "host/delivery/injector.h"

#include <gtest/gtest.h>

#include "host/testing/injector_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct TypingEvidenceTest : testing::InjectorFixture {};

TEST_F(TypingEvidenceTest, EachProofIsReportedWithEvidence) {
  injector.add(delivery("a"));
  view.drained = false;
  after(1s, State::Idle);
  after(100ms, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"paste text of a"}) << "the program has not read it yet";
  view.drained = true;
  after(1ms, State::Typing);
  EXPECT_EQ(last.proof, "written");
  EXPECT_EQ(last.via, "pty");
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"a accepted written", "enter", "a delivered: the agent started to work"}));
  EXPECT_EQ(last.proof, "submitted");
  EXPECT_EQ(last.evidence, "status working");
  report_input("something else", "transcript", "u-0");
  report_input("before text of a behind", "transcript", "u-0");
  EXPECT_TRUE(take_steps().empty()) << "a quotation";
  report_input("before\ntext of a\nbehind", "transcript", "u-1");
  report_input("text of a", "hook", "UserPromptSubmit");
  EXPECT_EQ(take_steps(), Lines{"a delivered: typed; its transcript shows it"}) << "once";
  EXPECT_EQ(last.proof, "seen");
  EXPECT_EQ(last.via, "pty");
  EXPECT_EQ(last.evidence, "transcript u-1");
}

TEST_F(TypingEvidenceTest, ShownDeliveryIsNeverInDoubt) {
  injector.add(delivery("a"));
  type_next();
  (void)take_steps();
  report_input("text of a", "hook", "UserPromptSubmit");
  EXPECT_TRUE(take_steps().empty()) << "the screen may follow in a moment";
  view.typing.any = view.typing.edit = view.now + 1s;
  after(2s, State::Typing);
  EXPECT_EQ(take_steps(), Lines{"a delivered: typed; its hook shows it"}) << "though the user types";
  EXPECT_EQ(last.proof, "seen");
  EXPECT_EQ(last.evidence, "hook UserPromptSubmit");
  injector.add(delivery("b"));
  after(1s, State::Working);
  view.typing = {};
  after(1s, State::Idle);
  after(1s, State::Idle);
  after(50ms, State::Typing);
  report_input("text of b", "transcript", "u-1");  // of an earlier delivery of the same message
  after(300ms, State::Typing);
  EXPECT_EQ(take_steps().back(), "enter") << "unsent text cannot be shown";
  report_input("text of b", "transcript", "u-2");
  injector.on_agent_exit();
  EXPECT_EQ(take_steps(), Lines{"b delivered: typed; its transcript shows it"});
}

TEST_F(TypingEvidenceTest, SilentDeliveriesPrecedeText) {
  silent.push_back(delivery("q"));
  silent.push_back(delivery("r"));
  injector.add(delivery("a"));
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"paste text of q\ntext of r\ntext of a"});
  auto& composer = show_composer("text of q\ntext of r↵text of a");
  after(300ms, State::Typing);
  composer.draft.clear();
  after(50ms, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"q accepted written", "r accepted written", "a accepted written", "enter",
                                 "q delivered: the agent started to work", "r delivered: the agent started to work",
                                 "a delivered: the agent started to work"}));
  report_input("text of q text of a", "transcript", "u-1");
  EXPECT_EQ(take_steps(),
            (Lines{"q delivered: typed; its transcript shows it", "a delivered: typed; its transcript shows it"}));
}

TEST_F(TypingEvidenceTest, EvidenceForOneProvesWholePaste) {
  silent.push_back(delivery("q"));
  injector.add(delivery("a"));
  type_next();
  (void)take_steps();
  report_input("text of q", "transcript", "u-1");
  injector.on_agent_exit();
  EXPECT_EQ(take_steps(),
            (Lines{"q delivered: typed; its transcript shows it", "a delivered: typed; its transcript shows it"}));
  EXPECT_EQ(last.proof, "submitted");
  EXPECT_EQ(last.evidence, "transcript u-1");
}

TEST_F(TypingEvidenceTest, EditedPasteNeedsEvidenceForEach) {
  for (const bool at_once : {false, true}) {  // the hook calls before the screen shows work
    const std::string id = at_once ? "b" : "a";
    silent.push_back(delivery("silent " + id));
    injector.add(delivery(id));
    after(1s, State::Idle);
    after(1s, State::Idle);
    after(50ms, State::Typing);
    view.now += 1ms;
    view.typing.any = view.typing.edit = view.typing.enter = view.now;
    after(1ms, at_once ? State::Typing : State::Working);
    (void)take_steps();
    report_input("text of silent " + id, "transcript", "u-1");
    after(1ms, at_once ? State::Typing : State::Working);
    after(1ms, State::Working);
    EXPECT_TRUE(take_steps().empty()) << "the other may still be shown";
    after(kEvidenceTimeout, State::Working);
    EXPECT_EQ(take_steps(), (Lines{"silent " + id + " delivered: typed; its transcript shows it",
                                   id + " in_doubt: the user edited it, and the text that was sent is not known"}));
  }
}

TEST_F(TypingEvidenceTest, EditedTextIsInDoubtWithoutEvidence) {
  for (const bool shown : {false, true}) {
    injector.add(delivery(shown ? "b" : "a"));
    after(1s, State::Idle);
    after(1s, State::Idle);
    after(50ms, State::Typing);
    view.now += 1ms;
    view.typing.any = view.typing.edit = view.typing.enter = view.now;
    after(10ms, State::Working);
    (void)take_steps();
    if (shown) report_input("text of b", "transcript", "u-1");
    after(shown ? 1ms : kEvidenceTimeout, State::Working);
    EXPECT_EQ(take_steps(), Lines{shown ? "b delivered: typed; its transcript shows it"
                                        : "a in_doubt: the user edited it, and the text that was sent is not known"});
  }
}

}  // namespace
}  // namespace relay::host
