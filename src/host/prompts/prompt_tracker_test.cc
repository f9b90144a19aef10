#include "host/prompts/prompt_tracker.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::host {
namespace {

using adapters::Prompt;
using adapters::PromptAnswer;
using adapters::PromptKind;
using adapters::PromptOutcome;
using profiles::State;
using Lines = std::vector<std::string>;

struct PromptTrackerTest : ::testing::Test {
  PromptTracker requested{"h7"};
  Timestamp now{SteadyTime{std::chrono::seconds{100}}, 5'000};

  static Lines lines(const PromptTracker::Events& events) {
    Lines all;
    for (const auto& event : events) {
      const auto members = events::members_of(event);
      EXPECT_TRUE(events::read_event(events::type_of(event), members)) << json::serialize(members);
      all.push_back(format("{} {}", events::type_of(event), json::serialize(members)));
    }
    return all;
  }
  static Prompt bash(std::string id) {
    return {
        .id = std::move(id), .tool = "Bash", .summary = "Bash: make", .input = R"({"command":"make"})", .via = "hook"};
  }
  static profiles::ScreenFindings dialog(std::string command) {
    profiles::ScreenFindings findings;
    findings.permission = {0, "shell", "Shell", std::move(command), {}};
    return findings;
  }
  Lines look(State state, const profiles::ScreenFindings& findings = {}) {
    return lines(requested.update(state, findings, now));
  }
  Lines gone(const std::string& prompt, PromptOutcome end, std::optional<AnswerRecord> answered = {}) {
    return lines(requested.on_closed(prompt, end, answered, now));
  }
  void wait(Millis time) { now.steady += time, now.wall += time.count(); }
};

TEST_F(PromptTrackerTest, PermissionIsReportedWithCommand) {
  EXPECT_EQ(
      lines(requested.on_prompt(bash("p1"))),
      (Lines{
          R"(permission.requested {"requestId":"h7-p1","tool":"Bash","command":"make","description":"Bash: make","riskLevel":"medium"})"}));
  EXPECT_EQ(requested.request_of("p1"), "h7-p1");
  EXPECT_EQ(requested.prompt_of("h7-p1"), "p1");
  EXPECT_EQ(requested.prompt_of("p1"), "p1");
  EXPECT_EQ(
      lines(requested.on_prompt({.id = "p2", .tool = "Write", .summary = "Write: a", .input = R"({"file_path":"a"})"})),
      (Lines{
          R"(permission.requested {"requestId":"h7-p2","tool":"Write","filePath":"a","description":"Write: a","riskLevel":"medium"})"}));
  EXPECT_EQ(requested.open().size(), 2U);
}

TEST_F(PromptTrackerTest, QuestionIsReportedWithChoices) {
  EXPECT_EQ(lines(requested.on_prompt(
                {.id = "p1", .kind = PromptKind::Question, .questions = {{"Which?", {"Red", "Blue"}}}})),
            (Lines{R"(question.requested {"questionId":"h7-p1","question":"Which?","options":["Red","Blue"]})"}));
  EXPECT_EQ(gone("p1", {.by = "hook"}, AnswerRecord{.by = "Bob", .reply = {.answers = {"Red"}}}),
            (Lines{R"(question.resolved {"questionId":"h7-p1","answer":"Red","resolvedBy":"Bob"})"}));
}

TEST_F(PromptTrackerTest, ResolutionNamesAnswerer) {
  for (const auto* id : {"p1", "p2", "p3", "p4"}) (void)requested.on_prompt(bash(id));
  EXPECT_EQ(
      gone("p1", {.by = "hook"}, AnswerRecord{.by = "policy"}),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p1","resolution":"approved","resolvedBy":"policy","resolvedAt":5000})"}));
  EXPECT_EQ(
      gone("p2", {.by = "hook"}, AnswerRecord{.reply = {.verdict = PromptAnswer::Decision::Deny, .message = "no"}}),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p2","resolution":"denied","resolvedBy":"human","resolvedAt":5000,"reason":"no"})"}));
  EXPECT_EQ(
      gone("p3", {.by = "user", .verdict = PromptAnswer::Decision::Deny}, AnswerRecord{.by = "policy"}),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p3","resolution":"denied","resolvedBy":"human","resolvedAt":5000})"}))
      << "the person was faster";
  EXPECT_NE(
      gone("p4", {.by = "nobody: too many are open"})[0].find(R"("resolution":"withdrawn","resolvedBy":"nobody")"),
      std::string::npos);
  EXPECT_TRUE(gone("p4", {.by = "user"}).empty());
  EXPECT_TRUE(requested.open().empty());
}

TEST_F(PromptTrackerTest, PromptThatMovesToScreenStaysOpen) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(look(State::Working).empty());
  EXPECT_EQ(
      gone("p1", {.by = "nobody", .still_asked = true}),
      (Lines{
          R"(permission.requested {"requestId":"h7-p1","tool":"Bash","command":"make","description":"Bash: make","riskLevel":"medium","canAnswer":false})"}))
      << "told again: from elsewhere it cannot be answered now";
  EXPECT_TRUE(requested.on_screen_alone("h7-p1"));
  EXPECT_TRUE(look(State::Working).empty()) << "the dialog is not drawn yet";
  wait(Millis{50});
  EXPECT_TRUE(look(State::Blocked, dialog("make")).empty());
  wait(Millis{5'000});
  EXPECT_TRUE(look(State::Blocked, dialog("make")).empty());
  EXPECT_TRUE(look(State::Working).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_EQ(look(State::Working).size(), 1U);
  EXPECT_TRUE(requested.open().empty());
}

TEST_F(PromptTrackerTest, TranscriptShowsAnswerOfUser) {
  const auto begins = [&](std::string id, const char* tool) {
    EXPECT_TRUE(
        requested.on_event(events::ItemStarted{.item_id = std::move(id), .metadata = json::object{{"tool", tool}}}, 1)
            .empty());
  };
  const auto ends = [&](std::string id, bool failed) {
    return lines(requested.on_event(
        events::ItemCompleted{.item_id = std::move(id), .result = json::object{{"failed", failed}}}, 1));
  };
  begins("c1", "Bash");
  begins("r1", "Read");
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  EXPECT_EQ(requested.due(), now.steady + PromptTracker::kOutcomeTimeout);
  EXPECT_TRUE(ends("r1", true).empty()) << "it is another's";
  EXPECT_NE(ends("c1", true)[0].find(R"("resolution":"denied","resolvedBy":"human")"), std::string::npos);

  (void)requested.on_prompt(bash("p2"));
  begins("c2", "Bash");
  EXPECT_TRUE(requested.on_event(events::CommandExecuted{.command = "make", .exit_code = 2}, 1).empty());
  EXPECT_TRUE(ends("c2", true).empty()) << "its dialog is not seen to have closed yet";
  EXPECT_NE(gone("p2", {.by = "user"})[0].find(R"("resolution":"approved","resolvedBy":"human")"), std::string::npos)
      << "it ran, and failed";
}

TEST_F(PromptTrackerTest, ExitIsNoDenial) {
  (void)requested.on_event(events::ItemStarted{.item_id = "c1", .metadata = json::object{{"tool", "Bash"}}}, 1);
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  const json::object ended{{"failed", true}, {"reason", "the agent has ended"}};
  EXPECT_TRUE(requested.on_event(events::ItemCompleted{.item_id = "c1", .result = ended}, 1).empty());
  EXPECT_NE(lines(requested.end(9))[0].find(R"("resolution":"withdrawn","resolvedBy":"nobody")"), std::string::npos);
}

TEST_F(PromptTrackerTest, AnsweredPromptIsNotUnanswered) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_EQ(requested.unanswered().size(), 1U);
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  EXPECT_TRUE(requested.unanswered().empty());
  EXPECT_EQ(requested.open().size(), 1U) << "a new daemon should know of it";
}

TEST_F(PromptTrackerTest, UnknownOutcomeIsNotGuessed) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(look(State::Idle)[0].find(R"("resolution":"withdrawn","resolvedBy":"human")"), std::string::npos);
}

TEST_F(PromptTrackerTest, WorkingAgentApprovesOnlyWhileOwnCallRuns) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(look(State::Working)[0].find(R"("resolution":"withdrawn")"), std::string::npos) << "a subagent's, perhaps";
  (void)requested.on_event(events::ItemStarted{.item_id = "c1", .metadata = json::object{{"tool", "Bash"}}}, 1);
  (void)requested.on_prompt(bash("p2"));
  EXPECT_TRUE(gone("p2", {.by = "user"}).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(look(State::Working)[0].find(R"("resolution":"approved")"), std::string::npos);
}

TEST_F(PromptTrackerTest, UnknownScreenDelaysNoRequest) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(look(State::Unknown)[0].find(R"("resolution":"withdrawn")"), std::string::npos);
  (void)look(State::Blocked, dialog("make"));
  EXPECT_TRUE(requested.due());
  EXPECT_TRUE(look(State::Unknown).empty());
  EXPECT_FALSE(requested.due()) << "nothing is due that nobody would do";
}

TEST_F(PromptTrackerTest, RequestWithUnseenDialogIsResolved) {
  (void)look(State::Blocked, dialog("make"));
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look(State::Blocked, dialog("make")).size(), 1u);
  EXPECT_TRUE(look(State::Unknown).empty());
  EXPECT_EQ(requested.due(), now.steady + PromptTracker::kUnseen);
  wait(PromptTracker::kUnseen - Millis{1});
  EXPECT_TRUE(look(State::Unknown).empty());
  EXPECT_TRUE(look(State::Blocked, dialog("make")).empty()) << "it was drawn anew";
  EXPECT_TRUE(look(State::Unknown).empty());
  wait(PromptTracker::kUnseen);
  EXPECT_TRUE(look(State::Unknown).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(look(State::Unknown).at(0).find(R"("resolution":"withdrawn")"), std::string::npos);
  EXPECT_FALSE(requested.is_open("h7-s1"));
  EXPECT_FALSE(requested.due());
}

TEST_F(PromptTrackerTest, PatchOfOneFileNamesIt) {
  const auto patch = [&](std::string id, const char* input) {
    return lines(requested.on_prompt({.id = std::move(id), .tool = "apply_patch", .summary = "s", .input = input}))[0];
  };
  EXPECT_EQ(
      patch("p1", R"({"command":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"})"),
      R"(permission.requested {"requestId":"h7-p1","tool":"apply_patch","filePath":"a","description":"s","riskLevel":"medium","partial":true})");
  EXPECT_EQ(
      patch("p2", R"({"command":"*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch"})"),
      R"(permission.requested {"requestId":"h7-p2","tool":"apply_patch","description":"s","riskLevel":"medium","partial":true})");
}

TEST_F(PromptTrackerTest, DialogWithoutNativePromptIsReportedAfterSettling) {
  EXPECT_TRUE(look(State::Blocked, dialog("rm x")).empty());
  EXPECT_EQ(requested.due(), now.steady + PromptTracker::kSettle);
  wait(PromptTracker::kSettle);
  EXPECT_EQ(
      look(State::Blocked, dialog("rm x")),
      (Lines{
          R"(permission.requested {"requestId":"h7-s1","tool":"Shell","command":"rm x","description":"rm x","riskLevel":"medium","canAnswer":false,"partial":true})"}));
  EXPECT_TRUE(look(State::Blocked, dialog("rm x")).empty());
  EXPECT_FALSE(requested.due());
  EXPECT_TRUE(look(State::Blocked, dialog("rm y")).empty()) << "another dialog stands there now";
  wait(PromptTracker::kSettle);
  EXPECT_TRUE(look(State::Blocked, dialog("rm y"))[0].starts_with(R"(permission.requested {"requestId":"h7-s2")"));
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_TRUE(
      look(State::Working)[0].starts_with(R"(permission.resolved {"requestId":"h7-s1","resolution":"withdrawn")"))
      << "an agent may go on after a no as well";
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_TRUE(look(State::Idle)[0].starts_with(R"(permission.resolved {"requestId":"h7-s2","resolution":"withdrawn")"));
}

TEST_F(PromptTrackerTest, DialogSettlesUntilReportedOrGone) {
  look(State::Blocked, dialog("make"));
  EXPECT_TRUE(requested.dialog_settles());
  look(State::Idle);
  EXPECT_FALSE(requested.dialog_settles());
  look(State::Blocked, dialog("make"));
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look(State::Blocked, dialog("make")).size(), 1U);
  EXPECT_FALSE(requested.dialog_settles());
}

TEST_F(PromptTrackerTest, RedrawnDialogIsSame) {
  (void)look(State::Blocked, dialog("rm x"));
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look(State::Blocked, dialog("rm x")).size(), 1U);
  EXPECT_TRUE(look(State::Blocked, dialog("rm")).empty());
  EXPECT_EQ(requested.due(), now.steady + PromptTracker::kRedrawTime);
  wait(PromptTracker::kRedrawTime / 2);
  EXPECT_TRUE(look(State::Blocked, dialog("rm x")).empty());
  wait(PromptTracker::kSettle);
  EXPECT_TRUE(look(State::Blocked, dialog("rm x")).empty());
  EXPECT_EQ(requested.unanswered().size(), 1U);
}

TEST_F(PromptTrackerTest, PossibleNativePromptDelaysReport) {
  const auto look_patiently = [&] {
    return requested.update(State::Blocked, dialog("make"), now, PromptTracker::kLateHookTimeout).size();
  };
  EXPECT_EQ(look_patiently(), 0U);
  EXPECT_EQ(requested.due(), now.steady + PromptTracker::kLateHookTimeout);
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look_patiently(), 0U);
  wait(PromptTracker::kLateHookTimeout - PromptTracker::kSettle);
  EXPECT_EQ(look_patiently(), 1U);
}

TEST_F(PromptTrackerTest, UndescribedScreenIsReportedAgainUntilComposerReturns) {
  const auto screen = [](std::string body) {
    profiles::ScreenFindings findings;
    findings.question = profiles::QuestionDialog{
        .pattern = std::string{profiles::kUnknownScreen}, .text = "?", .choices = {}, .body = std::move(body)};
    return findings;
  };
  EXPECT_TRUE(look(State::Blocked, screen("one")).empty());
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look(State::Blocked, screen("one")),
            (Lines{R"(question.requested {"questionId":"h7-s1","question":"?:\none","canAnswer":false})"}));
  EXPECT_TRUE(look(State::Blocked, screen("one")).empty());
  EXPECT_EQ(look(State::Blocked, screen("two")),
            (Lines{R"(question.requested {"questionId":"h7-s1","question":"?:\ntwo","canAnswer":false})"}));
  EXPECT_EQ(look(State::Idle), (Lines{R"(question.resolved {"questionId":"h7-s1","resolvedBy":"human"})"}));
}

TEST_F(PromptTrackerTest, BriefOrUnknownDialogIsNotReported) {
  EXPECT_TRUE(look(State::Blocked, dialog("x")).empty());
  wait(Millis{100});
  EXPECT_TRUE(look(State::Working).empty());
  wait(Millis{5'000});
  EXPECT_TRUE(look(State::Blocked).empty());
  wait(Millis{5'000});
  EXPECT_TRUE(look(State::Blocked).empty());
}

TEST_F(PromptTrackerTest, LateNativePromptIsSameRequest) {
  auto shown = dialog("make");
  shown.permission->body = "Bash command\nmake";
  (void)look(State::Blocked, shown);
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look(State::Blocked, shown).size(), 1U);
  EXPECT_TRUE(lines(requested.on_prompt(bash("p1")))[0].starts_with(
      R"(permission.requested {"requestId":"h7-s1","tool":"Bash")"));
  EXPECT_EQ(requested.prompt_of("h7-s1"), "p1");
  EXPECT_FALSE(requested.on_screen_alone("h7-s1"));
  EXPECT_EQ(gone("p1", {.by = "hook"}, AnswerRecord{}).size(), 1U);
}

struct PromptKeysTest : PromptTrackerTest {
  PromptKeysTest() { requested = PromptTracker{"h7", profiles::DialogKeys::Cursor}; }

  static profiles::ScreenFindings offering(std::string command, std::string body) {
    auto findings = dialog(std::move(command));
    findings.permission->choices = {{"1", "Yes", "", true, profiles::ChoiceMeaning::Approve},
                                    {"2", "No", "", false, profiles::ChoiceMeaning::Deny}};
    findings.permission->body = std::move(body);
    findings.permission->whole = true;
    return findings;
  }
  std::string told_of(const profiles::ScreenFindings& findings) {
    (void)look(State::Blocked, findings);
    wait(PromptTracker::kSettle);
    return look(State::Blocked, findings).at(0);
  }
  /// What is on the screen when a door has closed, once it has settled.
  Lines arrives(const profiles::ScreenFindings& findings) {
    EXPECT_TRUE(look(State::Blocked, findings).empty());
    wait(PromptTracker::kRedrawTime);
    return look(State::Blocked, findings);
  }
  bool check_keys(const profiles::ScreenFindings& seen, const std::string& request = "h7-s1") {
    anew.clear();
    return requested.check_keys(request, seen, anew).has_value();
  }
  PromptTracker::Events anew;
};

TEST_F(PromptKeysTest, DialogWithKnownKeysCanBeAnswered) {
  const auto shown = offering("rm x", "rm x\nreally");
  const auto told = told_of(shown);
  EXPECT_NE(told.find(R"("description":"rm x\nreally")"), std::string::npos);
  EXPECT_EQ(told.find("canAnswer"), std::string::npos);
  EXPECT_TRUE(check_keys(shown));
  EXPECT_TRUE(check_keys(shown, "s1")) << "by its short name too";
  EXPECT_TRUE(anew.empty());
  requested.press("h7-s1", {.by = "ann", .reply = {.verdict = PromptAnswer::Decision::Deny, .message = "not now"}});
  EXPECT_TRUE(look(State::Blocked, shown).empty());
  EXPECT_TRUE(look(State::Working)[0].starts_with(
      R"(permission.resolved {"requestId":"h7-s1","resolution":"denied","resolvedBy":"ann")"));
  EXPECT_FALSE(requested.is_open("h7-s1"));
}

TEST_F(PromptKeysTest, ChangedDialogIsReportedAgainBeforeAnswer) {
  (void)told_of(offering("rm x", "rm x"));
  EXPECT_FALSE(check_keys(offering("rm x", "rm x\nrm y")));
  EXPECT_NE(lines(anew).at(0).find(R"("description":"rm x\nrm y")"), std::string::npos);
  EXPECT_TRUE(check_keys(offering("rm x", "rm x\nrm y")));
  EXPECT_FALSE(check_keys(offering("rm z", "rm z"))) << "another one stands there";
  EXPECT_FALSE(check_keys({}));
  auto doubtful = offering("rm x", "rm x\nrm y");
  doubtful.permission->whole = false;
  EXPECT_FALSE(check_keys(doubtful));
  EXPECT_NE(lines(anew).at(0).find(R"("canAnswer":false)"), std::string::npos);
}

TEST_F(PromptKeysTest, AfterKeysThatWereNotTakenNoMoreArePressed) {
  (void)told_of(offering("rm x", "rm x"));
  requested.press("h7-s1", {.by = "ann"});
  EXPECT_NE(lines(requested.abandon("h7-s1")).at(0).find(R"("canAnswer":false)"), std::string::npos);
  EXPECT_TRUE(look(State::Blocked, offering("rm x", "rm x")).empty());
  EXPECT_FALSE(check_keys(offering("rm x", "rm x"))) << "they might meet the others";
  EXPECT_TRUE(look(State::Working).empty());
  wait(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(look(State::Working).at(0).find(R"("resolvedBy":"human")"), std::string::npos);
}

TEST_F(PromptKeysTest, HalfDrawnDialogCanBeAnsweredOnceComplete) {
  auto half = offering("rm x", "rm x");
  half.permission->whole = false;
  EXPECT_NE(told_of(half).find(R"("canAnswer":false)"), std::string::npos);
  const auto whole = offering("rm x", "cd /\nrm x");
  const auto told = look(State::Blocked, whole).at(0);
  EXPECT_EQ(told.find("canAnswer"), std::string::npos);
  EXPECT_NE(told.find(R"("description":"cd /\nrm x")"), std::string::npos) << "whoever answers has been told all of it";
  EXPECT_TRUE(check_keys(whole));
}

TEST_F(PromptKeysTest, ClosedNativePromptIsAnsweredByKeysOfItsDialog) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_NE(gone("p1", {.still_asked = true}).at(0).find(R"("canAnswer":false)"), std::string::npos);
  EXPECT_EQ(arrives(offering("x", "Bash command\nmake")).at(0).find("canAnswer"), std::string::npos);
  EXPECT_TRUE(check_keys(offering("x", "Bash command\nmake"), "p1"));
  EXPECT_FALSE(check_keys(offering("x", "Bash command\nrm"), "p1")) << "about the same, as far as it can be told";
  EXPECT_FALSE(check_keys(offering("x", "Bash command\nrm"), "p1"));
}

TEST_F(PromptKeysTest, ClosedNativePromptLeavesUncertainDialogAlone) {
  (void)requested.on_prompt(bash("p1"));
  (void)gone("p1", {.still_asked = true});
  EXPECT_TRUE(arrives(offering("x", "cmake")).empty());
  EXPECT_FALSE(check_keys(offering("x", "cmake"), "p1"));
}

TEST_F(PromptKeysTest, NativePromptForOtherSubjectIsAnotherRequest) {
  (void)told_of(offering("ls", "ls"));
  EXPECT_NE(lines(requested.on_prompt(bash("p1"))).at(0).find(R"("requestId":"h7-p1")"), std::string::npos);
  EXPECT_TRUE(requested.is_open("h7-s1"));
  EXPECT_EQ(requested.prompt_of("h7-s1"), "");
}

TEST_F(PromptKeysTest, NativePromptCancelsPendingReport) {
  (void)told_of(offering("make", "make"));
  EXPECT_TRUE(look(State::Blocked, offering("rm", "rm")).empty());
  (void)requested.on_prompt(bash("p1"));
  EXPECT_FALSE(requested.due());
}

TEST_F(PromptTrackerTest, NothingIsOpenOnceTheAgentHasEnded) {
  (void)requested.on_prompt(bash("p1"));
  EXPECT_EQ(requested.end(9).size(), 1U);
  EXPECT_TRUE(requested.end(9).empty());
}

TEST_F(PromptTrackerTest, TimeoutIsNoDenialByUser) {
  (void)requested.on_prompt(bash("p1"));
  const AnswerRecord late{
      .by = "policy", .reply = {.verdict = PromptAnswer::Decision::Deny, .message = "too late"}, .timed_out = true};
  EXPECT_EQ(
      gone("p1", {.by = "hook"}, late),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p1","resolution":"timeout","resolvedBy":"policy","resolvedAt":5000,"reason":"too late"})"}));
}

TEST_F(PromptTrackerTest, CallsOfOneToolHaveOwnAnswers) {
  const auto begins = [&](std::string id, const char* command) {
    (void)requested.on_event(
        events::ItemStarted{.item_id = std::move(id),
                            .metadata = json::object{{"tool", "Bash"}, {"input", json::object{{"command", command}}}}},
        1);
  };
  const auto ends = [&](std::string id, bool failed) {
    return lines(requested.on_event(
        events::ItemCompleted{.item_id = std::move(id), .result = json::object{{"failed", failed}}}, 1));
  };
  begins("c1", "make");
  begins("c2", "make clean");
  (void)requested.on_prompt(bash("p1"));
  EXPECT_TRUE(gone("p1", {.by = "user"}).empty());
  EXPECT_TRUE(ends("c2", true).empty()) << "the other was refused";
  EXPECT_NE(ends("c1", false).at(0).find(R"("resolution":"approved")"), std::string::npos);
}

TEST_F(PromptTrackerTest, NarrowerDialogIsSame) {
  (void)look(State::Blocked, dialog("make all install"));
  wait(PromptTracker::kSettle);
  EXPECT_EQ(look(State::Blocked, dialog("make all install")).size(), 1U);
  EXPECT_TRUE(look(State::Blocked, dialog("make all\n  install")).empty());
  wait(PromptTracker::kSettle);
  EXPECT_TRUE(look(State::Blocked, dialog("make all\n  install")).empty());
  EXPECT_EQ(requested.open().size(), 1U);
}

TEST_F(PromptTrackerTest, PartialPermissionIsNotDecidedByRule) {
  int number = 0;
  const auto partial = [&](std::string tool, std::string input) {
    const auto told =
        lines(requested.on_prompt({.id = format("p{}", ++number), .tool = std::move(tool), .input = std::move(input)}));
    return told.at(0).find(R"("partial":true)") != std::string::npos;
  };
  EXPECT_FALSE(partial("Read", R"({"file_path":"/p/a"})"));
  EXPECT_TRUE(partial("Read", R"({"file_path":"/p/)" + std::string(5'000, '.') + R"(/../.ssh/id_rsa"})"));
  EXPECT_FALSE(partial("Grep", R"({"pattern":"KEY","path":"/p"})"));
  EXPECT_TRUE(partial("Grep", R"({"pattern":"KEY","path":"/p","glob":".env"})"));
  EXPECT_TRUE(partial("apply_patch",
                      R"({"command":"*** Begin Patch\n*** Update File: src/a\n*** Move to: /etc/b\n*** End Patch"})"));
}

TEST_F(PromptTrackerTest, LongInputIsTruncatedAndPartial) {
  const auto line = [&](std::string id, std::string command, bool partial) {
    return lines(requested.on_prompt({.id = std::move(id),
                                      .tool = "Bash",
                                      .summary = "s",
                                      .input = R"({"command":")" + command + R"(","file_path":"a"})",
                                      .partial = partial}))[0];
  };
  EXPECT_EQ(line("p1", std::string(10'000, 'x'), false).find("partial"), std::string::npos);
  const auto longer = line("p2", std::string(20'000, 'x'), false);
  EXPECT_NE(longer.find(R"("command":"xxx)"), std::string::npos);
  EXPECT_NE(longer.find(R"("filePath":"a")"), std::string::npos);
  EXPECT_NE(longer.find(R"("partial":true)"), std::string::npos);
  EXPECT_NE(line("p3", "make", true).find(R"("partial":true)"), std::string::npos);
}

TEST_F(PromptTrackerTest, LongInputKeepsToTheTables) {
  const std::string huge(300'000, 'x');
  (void)lines(requested.on_prompt(
      {.id = "p1", .tool = huge, .summary = huge, .input = R"({"command":")" + huge + R"(","path":")" + huge + "\"}"}));
  (void)lines(requested.on_prompt(
      {.id = "p2", .kind = PromptKind::Question, .questions = {{huge, std::vector<std::string>(500, "x")}}}));
  (void)gone("p1", {.by = "hook"}, AnswerRecord{.by = huge, .reply = {.message = huge}});
}

}  // namespace
}  // namespace relay::host
