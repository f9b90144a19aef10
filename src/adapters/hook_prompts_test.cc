#include "adapters/hook_prompts.h"

#include <gtest/gtest.h>

#include "adapters/testing/hook_payloads.h"
#include "adapters/testing/recorder.h"
#include "net/testing/loop_driver.h"

namespace relay::adapters {
namespace {

using hooks::HookDecision;
using net::testing::run_until;
using profiles::State;
using testing::hook_event;
using Texts = std::vector<std::string>;

const PromptAnswer kApprove{.decision = PromptAnswer::Decision::Approve};
const PromptAnswer kDeny{.decision = PromptAnswer::Decision::Deny};

struct HookPromptsTest : ::testing::Test {
  net::AsioLoop loop;
  testing::Recorder recorder;
  HookPrompts prompts{std::nullopt};
  std::vector<hooks::HookResponse> answers;

  void SetUp() override { prompts.start(loop, recorder); }
  /// Opens a prompt for the hook `call`; returns its id.
  std::string open(const hooks::HookEvent& event, std::uint64_t call = 1) {
    prompts.open(event, call, [this](const hooks::HookResponse& answer) { answers.push_back(answer); });
    return recorder.prompts.back().id;
  }
};

hooks::HookEvent bash() { return hook_event("claude/PermissionRequest-Bash"); }
hooks::HookEvent question() { return hook_event("claude/PermissionRequest-AskUserQuestion"); }

TEST_F(HookPromptsTest, SummarizesToolCall) {
  open(bash());
  const auto& prompt = recorder.prompts.at(0);
  EXPECT_EQ(prompt.kind, PromptKind::Permission);
  EXPECT_EQ(prompt.tool, "Bash");
  EXPECT_EQ(prompt.summary, "Bash: curl -s http://127.0.0.1:9/deploy; echo deploy-finished");
  EXPECT_EQ(prompt.via, via::kHook);
  EXPECT_TRUE(prompt.questions.empty());
  EXPECT_TRUE(answers.empty());
}

TEST_F(HookPromptsTest, ApprovesOnce) {
  const auto id = open(bash());
  ASSERT_TRUE(prompts.answer(id, kApprove));
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{.decision = HookDecision::Allow}});
  EXPECT_EQ(recorder.closed, Texts{id + " by hook"});
  EXPECT_FALSE(prompts.answer(id, kApprove));
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(HookPromptsTest, DeniesWithMessage) {
  auto answer = kDeny;
  answer.message = "not on a Friday";
  ASSERT_TRUE(prompts.answer(open(bash()), answer));
  ASSERT_TRUE(prompts.answer(open(hook_event("codex/PermissionRequest-Bash")), kDeny));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0], (hooks::HookResponse{.decision = HookDecision::Deny, .message = "not on a Friday"}));
  EXPECT_EQ(answers[1].decision, HookDecision::Deny);
  EXPECT_FALSE(answers[1].message.empty());
}

TEST_F(HookPromptsTest, ReleasedPromptIsLeftToDialogOfAgent) {
  const auto id = open(bash());
  prompts.release(id);
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}}) << "the hook returns no decision";
  EXPECT_EQ(recorder.closed, Texts{id + " by nobody: the agent shows its own dialog"});
  EXPECT_FALSE(prompts.answer(id, kApprove));
  prompts.release(id);
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(HookPromptsTest, QuestionIsAnsweredInItsInput) {
  const auto id = open(question());
  const auto& prompt = recorder.prompts.at(0);
  EXPECT_EQ(prompt.kind, PromptKind::Question);
  EXPECT_EQ(prompt.summary, "Which database should the service use?");
  ASSERT_EQ(prompt.questions.size(), 1U);
  EXPECT_EQ(prompt.questions[0].choices, (Texts{"SQLite", "PostgreSQL"}));
  EXPECT_FALSE(prompt.questions[0].multiple);

  auto answer = kApprove;
  answer.answers = {"SQLite"};
  ASSERT_TRUE(prompts.answer(id, answer));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].decision, HookDecision::Allow);
  auto expected = *parse_json_object(question().tool_input);
  expected["answers"] = json::object{{"Which database should the service use?", "SQLite"}};
  EXPECT_EQ(*parse_json_object(answers[0].updated_input), expected);
}

TEST_F(HookPromptsTest, WrongNumberOfAnswersIsRejectedAndQuestionStaysOpen) {
  const auto id = open(question());
  auto answer = kApprove;
  const auto none = prompts.answer(id, answer);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "1 questions and 0 answers; answer each, in order");
  answer.answers = {"SQLite", "PostgreSQL"};
  EXPECT_FALSE(prompts.answer(id, answer));
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(recorder.closed.empty());
  answer.answers = {"PostgreSQL"};
  EXPECT_TRUE(prompts.answer(id, answer));
}

TEST_F(HookPromptsTest, TruncatedQuestionIsPermission) {
  auto event = question();
  event.tool_input = event.tool_input.substr(0, 40);
  event.tool_input_cut = true;
  ASSERT_TRUE(prompts.answer(open(event), kApprove));
  EXPECT_EQ(recorder.prompts.at(0).kind, PromptKind::Permission);
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{.decision = HookDecision::Allow}});
}

TEST_F(HookPromptsTest, DisconnectedHookWasAnsweredByUser) {
  const auto first = open(bash(), 1), second = open(question(), 2);
  prompts.on_hook_closed(1);
  prompts.on_hook_closed(1);
  prompts.on_hook_closed(7);  // unknown
  EXPECT_EQ(recorder.closed, Texts{first + " by user"});
  EXPECT_FALSE(prompts.answer(first, kApprove));
  EXPECT_TRUE(prompts.answer(second, kDeny));
}

TEST_F(HookPromptsTest, ClosedDialogWasAnsweredByUser) {
  const auto id = open(bash());
  prompts.on_state(State::Working);  // the dialog is not drawn yet
  EXPECT_TRUE(recorder.closed.empty());
  prompts.on_state(State::Blocked);
  prompts.on_state(State::Unknown);  // an unknown screen proves nothing
  EXPECT_TRUE(recorder.closed.empty());
  prompts.on_state(State::Working);
  EXPECT_EQ(recorder.closed, Texts{id + " by user"});
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}});
}

TEST_F(HookPromptsTest, DialogMayBeVisibleBeforeItsHook) {
  prompts.on_state(State::Blocked);
  const auto id = open(hook_event("claude/PermissionRequest-Write"));
  prompts.on_state(State::Idle);
  EXPECT_EQ(recorder.closed, Texts{id + " by user"});
}

TEST_F(HookPromptsTest, TimeoutLeavesPromptToDialogOfAgent) {
  prompts.set_timeout(Millis{1});
  const auto id = open(hook_event("codex/PermissionRequest-Bash"));
  ASSERT_TRUE(run_until(loop, [&] { return !answers.empty(); }));
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}});
  EXPECT_EQ(recorder.closed, Texts{id + " by nobody: the agent shows its own dialog"});
  EXPECT_FALSE(prompts.answer(id, kApprove));
}

TEST_F(HookPromptsTest, AnswerStopsTimeout) {
  prompts.set_timeout(Millis{1});
  ASSERT_TRUE(prompts.answer(open(bash()), kApprove));
  bool later = false;
  const auto after = loop.after(Millis{5}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(answers.size(), 1U);
  EXPECT_EQ(recorder.closed.size(), 1U);
}

TEST_F(HookPromptsTest, UnknownPromptIsClosed) {
  const auto outcome = prompts.answer("p99", kApprove);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message(), "that prompt is not open any more");
}

TEST(Prompt, IsSummarizedInOneSafeLine) {
  EXPECT_EQ(summary_of("Write", {{"content", "x"}, {"file_path", "/tmp/a"}}), "Write: /tmp/a");
  EXPECT_EQ(summary_of("Think", {}), "Think");
  EXPECT_EQ(summary_of("Ask", {{"n", 1}}), R"(Ask: {"n":1})");
  const auto line = summary_of("Bash", {{"command", "rm -rf x\n\x1b[2Jy" + std::string(5'000, 'z')}});
  EXPECT_LE(line.size(), 320U);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace relay::adapters
