#include "host/prompts/prompt_tracker.h"

#include <gtest/gtest.h>

#include "host/testing/prompt_fixture.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using profiles::State;

struct ScreenPromptTest : testing::PromptFixture {};

TEST_F(ScreenPromptTest, PromptThatMovesToScreenStaysOpen) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(update(State::Working).empty());
  EXPECT_EQ(
      close("p1", {.by = "nobody", .still_on_screen = true}),
      (Lines{
          R"(permission.requested {"requestId":"h7-p1","tool":"Bash","command":"make","description":"Bash: make","riskLevel":"medium","canAnswer":false})"}))
      << "reported again: clients cannot answer it now";
  EXPECT_TRUE(tracker.on_screen_alone("h7-p1"));
  EXPECT_TRUE(update(State::Working).empty()) << "the dialog is not drawn yet";
  advance(Millis{50});
  EXPECT_TRUE(update(State::Blocked, dialog("make")).empty());
  advance(Millis{5'000});
  EXPECT_TRUE(update(State::Blocked, dialog("make")).empty());
  EXPECT_TRUE(update(State::Working).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_EQ(update(State::Working).size(), 1U);
  EXPECT_TRUE(tracker.open().empty());
}

TEST_F(ScreenPromptTest, RequestWithUnseenDialogIsResolved) {
  (void)update(State::Blocked, dialog("make"));
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update(State::Blocked, dialog("make")).size(), 1u);
  EXPECT_TRUE(update(State::Unknown).empty());
  EXPECT_EQ(tracker.due(), now.steady + PromptTracker::kUnknownScreenTimeout);
  advance(PromptTracker::kUnknownScreenTimeout - Millis{1});
  EXPECT_TRUE(update(State::Unknown).empty());
  EXPECT_TRUE(update(State::Blocked, dialog("make")).empty()) << "it was redrawn";
  EXPECT_TRUE(update(State::Unknown).empty());
  advance(PromptTracker::kUnknownScreenTimeout);
  EXPECT_TRUE(update(State::Unknown).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(update(State::Unknown).at(0).find(R"("resolution":"withdrawn")"), std::string::npos);
  EXPECT_FALSE(tracker.is_open("h7-s1"));
  EXPECT_FALSE(tracker.due());
}

TEST_F(ScreenPromptTest, DialogWithoutNativePromptIsReportedAfterSettling) {
  EXPECT_TRUE(update(State::Blocked, dialog("rm x")).empty());
  EXPECT_EQ(tracker.due(), now.steady + PromptTracker::kNativePromptDelay);
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(
      update(State::Blocked, dialog("rm x")),
      (Lines{
          R"(permission.requested {"requestId":"h7-s1","tool":"Shell","command":"rm x","description":"rm x","riskLevel":"medium","canAnswer":false,"partial":true})"}));
  EXPECT_TRUE(update(State::Blocked, dialog("rm x")).empty());
  EXPECT_FALSE(tracker.due());
  EXPECT_TRUE(update(State::Blocked, dialog("rm y")).empty()) << "another dialog";
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_TRUE(update(State::Blocked, dialog("rm y"))[0].starts_with(R"(permission.requested {"requestId":"h7-s2")"));
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_TRUE(
      update(State::Working)[0].starts_with(R"(permission.resolved {"requestId":"h7-s1","resolution":"withdrawn")"))
      << "an agent may also continue after a denial";
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_TRUE(
      update(State::Idle)[0].starts_with(R"(permission.resolved {"requestId":"h7-s2","resolution":"withdrawn")"));
}

TEST_F(ScreenPromptTest, DialogSettlesUntilReportedOrClosed) {
  update(State::Blocked, dialog("make"));
  EXPECT_TRUE(tracker.has_unreported_dialog());
  update(State::Idle);
  EXPECT_FALSE(tracker.has_unreported_dialog());
  update(State::Blocked, dialog("make"));
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update(State::Blocked, dialog("make")).size(), 1U);
  EXPECT_FALSE(tracker.has_unreported_dialog());
}

TEST_F(ScreenPromptTest, RedrawnDialogIsSame) {
  (void)update(State::Blocked, dialog("rm x"));
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update(State::Blocked, dialog("rm x")).size(), 1U);
  EXPECT_TRUE(update(State::Blocked, dialog("rm")).empty());
  EXPECT_EQ(tracker.due(), now.steady + PromptTracker::kRedrawTime);
  advance(PromptTracker::kRedrawTime / 2);
  EXPECT_TRUE(update(State::Blocked, dialog("rm x")).empty());
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_TRUE(update(State::Blocked, dialog("rm x")).empty());
  EXPECT_EQ(tracker.unanswered().size(), 1U);
}

TEST_F(ScreenPromptTest, PossibleNativePromptDelaysReport) {
  const auto update_slow = [&] {
    return tracker.update(State::Blocked, dialog("make"), now, PromptTracker::kLateHookTimeout).size();
  };
  EXPECT_EQ(update_slow(), 0U);
  EXPECT_EQ(tracker.due(), now.steady + PromptTracker::kLateHookTimeout);
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update_slow(), 0U);
  advance(PromptTracker::kLateHookTimeout - PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update_slow(), 1U);
}

TEST_F(ScreenPromptTest, UnknownScreenIsReportedAgainUntilComposerReturns) {
  const auto screen = [](std::string body) {
    profiles::ScreenFindings findings;
    findings.question = profiles::QuestionDialog{
        .pattern = std::string{profiles::kUnknownScreen}, .text = "?", .choices = {}, .body = std::move(body)};
    return findings;
  };
  EXPECT_TRUE(update(State::Blocked, screen("one")).empty());
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update(State::Blocked, screen("one")),
            (Lines{R"(question.requested {"questionId":"h7-s1","question":"?:\none","canAnswer":false})"}));
  EXPECT_TRUE(update(State::Blocked, screen("one")).empty());
  EXPECT_EQ(update(State::Blocked, screen("two")),
            (Lines{R"(question.requested {"questionId":"h7-s1","question":"?:\ntwo","canAnswer":false})"}));
  EXPECT_EQ(update(State::Idle), (Lines{R"(question.resolved {"questionId":"h7-s1","resolvedBy":"human"})"}));
}

TEST_F(ScreenPromptTest, BriefOrUnknownDialogIsNotReported) {
  EXPECT_TRUE(update(State::Blocked, dialog("x")).empty());
  advance(Millis{100});
  EXPECT_TRUE(update(State::Working).empty());
  advance(Millis{5'000});
  EXPECT_TRUE(update(State::Blocked).empty());
  advance(Millis{5'000});
  EXPECT_TRUE(update(State::Blocked).empty());
}

TEST_F(ScreenPromptTest, LateNativePromptIsSameRequest) {
  auto findings = dialog("make");
  findings.permission->body = "Bash command\nmake";
  (void)update(State::Blocked, findings);
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update(State::Blocked, findings).size(), 1U);
  EXPECT_TRUE(lines(tracker.on_prompt(bash("p1")))[0].starts_with(
      R"(permission.requested {"requestId":"h7-s1","tool":"Bash")"));
  EXPECT_EQ(tracker.prompt_of("h7-s1"), "p1");
  EXPECT_FALSE(tracker.on_screen_alone("h7-s1"));
  EXPECT_EQ(close("p1", {.by = "hook"}, AnswerRecord{}).size(), 1U);
}

TEST_F(ScreenPromptTest, NarrowerDialogIsSame) {
  (void)update(State::Blocked, dialog("make all install"));
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_EQ(update(State::Blocked, dialog("make all install")).size(), 1U);
  EXPECT_TRUE(update(State::Blocked, dialog("make all\n  install")).empty());
  advance(PromptTracker::kNativePromptDelay);
  EXPECT_TRUE(update(State::Blocked, dialog("make all\n  install")).empty());
  EXPECT_EQ(tracker.open().size(), 1U);
}

struct PromptKeysTest : testing::PromptFixture {
  PromptKeysTest() { tracker = PromptTracker{"h7", profiles::DialogKeys::Cursor}; }

  static profiles::ScreenFindings dialog_with_choices(std::string command, std::string body) {
    auto findings = dialog(std::move(command));
    findings.permission->choices = {{"1", "Yes", "", true, profiles::ChoiceMeaning::Approve},
                                    {"2", "No", "", false, profiles::ChoiceMeaning::Deny}};
    findings.permission->body = std::move(body);
    findings.permission->is_complete = true;
    return findings;
  }
  std::string report_stable(const profiles::ScreenFindings& findings) {
    (void)update(State::Blocked, findings);
    advance(PromptTracker::kNativePromptDelay);
    return update(State::Blocked, findings).at(0);
  }
  /// The reports for a dialog after its native prompt has closed.
  Lines show_stable(const profiles::ScreenFindings& findings) {
    EXPECT_TRUE(update(State::Blocked, findings).empty());
    advance(PromptTracker::kRedrawTime);
    return update(State::Blocked, findings);
  }
  bool check_keys(const profiles::ScreenFindings& findings, const std::string& request = "h7-s1") {
    changes.clear();
    return tracker.check_keys(request, findings, changes).has_value();
  }
  PromptTracker::Events changes;
};

TEST_F(PromptKeysTest, DialogWithKnownKeysCanBeAnswered) {
  const auto findings = dialog_with_choices("rm x", "rm x\nreally");
  const auto report = report_stable(findings);
  EXPECT_NE(report.find(R"("description":"rm x\nreally")"), std::string::npos);
  EXPECT_EQ(report.find("canAnswer"), std::string::npos);
  EXPECT_TRUE(check_keys(findings));
  EXPECT_TRUE(check_keys(findings, "s1")) << "also by its short id";
  EXPECT_TRUE(changes.empty());
  tracker.press("h7-s1", {.by = "ann", .reply = {.decision = PromptAnswer::Decision::Deny, .message = "not now"}});
  EXPECT_TRUE(update(State::Blocked, findings).empty());
  EXPECT_TRUE(update(State::Working)[0].starts_with(
      R"(permission.resolved {"requestId":"h7-s1","resolution":"denied","resolvedBy":"ann")"));
  EXPECT_FALSE(tracker.is_open("h7-s1"));
}

TEST_F(PromptKeysTest, ChangedDialogIsReportedAgainBeforeAnswer) {
  (void)report_stable(dialog_with_choices("rm x", "rm x"));
  EXPECT_FALSE(check_keys(dialog_with_choices("rm x", "rm x\nrm y")));
  EXPECT_NE(lines(changes).at(0).find(R"("description":"rm x\nrm y")"), std::string::npos);
  EXPECT_TRUE(check_keys(dialog_with_choices("rm x", "rm x\nrm y")));
  EXPECT_FALSE(check_keys(dialog_with_choices("rm z", "rm z"))) << "another dialog";
  EXPECT_FALSE(check_keys({}));
  auto doubtful = dialog_with_choices("rm x", "rm x\nrm y");
  doubtful.permission->is_complete = false;
  EXPECT_FALSE(check_keys(doubtful));
  EXPECT_NE(lines(changes).at(0).find(R"("canAnswer":false)"), std::string::npos);
}

TEST_F(PromptKeysTest, NoKeysAreAllowedAfterKeysWithUnknownEffect) {
  (void)report_stable(dialog_with_choices("rm x", "rm x"));
  tracker.press("h7-s1", {.by = "ann"});
  EXPECT_NE(lines(tracker.abandon("h7-s1")).at(0).find(R"("canAnswer":false)"), std::string::npos);
  EXPECT_TRUE(update(State::Blocked, dialog_with_choices("rm x", "rm x")).empty());
  EXPECT_FALSE(check_keys(dialog_with_choices("rm x", "rm x"))) << "the agent may not have read the first keys";
  EXPECT_TRUE(update(State::Working).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(update(State::Working).at(0).find(R"("resolvedBy":"human")"), std::string::npos);
}

TEST_F(PromptKeysTest, HalfDrawnDialogCanBeAnsweredOnceComplete) {
  auto half = dialog_with_choices("rm x", "rm x");
  half.permission->is_complete = false;
  EXPECT_NE(report_stable(half).find(R"("canAnswer":false)"), std::string::npos);
  const auto whole = dialog_with_choices("rm x", "cd /\nrm x");
  const auto report = update(State::Blocked, whole).at(0);
  EXPECT_EQ(report.find("canAnswer"), std::string::npos);
  EXPECT_NE(report.find(R"("description":"cd /\nrm x")"), std::string::npos)
      << "the whole dialog is reported before an answer";
  EXPECT_TRUE(check_keys(whole));
}

TEST_F(PromptKeysTest, ClosedNativePromptIsAnsweredByKeysOfItsDialog) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_NE(close("p1", {.still_on_screen = true}).at(0).find(R"("canAnswer":false)"), std::string::npos);
  EXPECT_EQ(show_stable(dialog_with_choices("x", "Bash command\nmake")).at(0).find("canAnswer"), std::string::npos);
  EXPECT_TRUE(check_keys(dialog_with_choices("x", "Bash command\nmake"), "p1"));
  EXPECT_FALSE(check_keys(dialog_with_choices("x", "Bash command\nrm"), "p1")) << "another subject";
  EXPECT_FALSE(check_keys(dialog_with_choices("x", "Bash command\nrm"), "p1"));
}

TEST_F(PromptKeysTest, UncertainDialogOfClosedNativePromptHasNoKeys) {
  (void)tracker.on_prompt(bash("p1"));
  (void)close("p1", {.still_on_screen = true});
  EXPECT_TRUE(show_stable(dialog_with_choices("x", "cmake")).empty());
  EXPECT_FALSE(check_keys(dialog_with_choices("x", "cmake"), "p1"));
}

TEST_F(PromptKeysTest, NativePromptForOtherSubjectIsAnotherRequest) {
  (void)report_stable(dialog_with_choices("ls", "ls"));
  EXPECT_NE(lines(tracker.on_prompt(bash("p1"))).at(0).find(R"("requestId":"h7-p1")"), std::string::npos);
  EXPECT_TRUE(tracker.is_open("h7-s1"));
  EXPECT_EQ(tracker.prompt_of("h7-s1"), "");
}

TEST_F(PromptKeysTest, NativePromptCancelsPendingReport) {
  (void)report_stable(dialog_with_choices("make", "make"));
  EXPECT_TRUE(update(State::Blocked, dialog_with_choices("rm", "rm")).empty());
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_FALSE(tracker.due());
}

}  // namespace
}  // namespace relay::host
