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

const PromptAnswer kAllow{.verdict = PromptAnswer::Decision::Allow};
const PromptAnswer kDeny{.verdict = PromptAnswer::Decision::Deny};

struct HookPromptsTest : ::testing::Test {
  net::AsioLoop loop;
  testing::Recorder told;
  HookPrompts prompts{std::nullopt};
  std::vector<hooks::HookResponse> answers;

  void SetUp() override { prompts.start(loop, told); }
  /// Opens it as hook number `call`; the prompt's id.
  std::string open(const hooks::HookEvent& event, std::uint64_t call = 1) {
    prompts.open(event, call, [this](const hooks::HookResponse& answer) { answers.push_back(answer); });
    return told.prompts.back().id;
  }
};

hooks::HookEvent bash() { return hook_event("claude/PermissionRequest-Bash"); }
hooks::HookEvent question() { return hook_event("claude/PermissionRequest-AskUserQuestion"); }

TEST_F(HookPromptsTest, ShowsWhatTheToolWouldDo) {
  open(bash());
  const auto& prompt = told.prompts.at(0);
  EXPECT_EQ(prompt.kind, PromptKind::Permission);
  EXPECT_EQ(prompt.tool, "Bash");
  EXPECT_EQ(prompt.summary, "Bash: curl -s http://127.0.0.1:9/deploy; echo deploy-finished");
  EXPECT_EQ(prompt.via, way::kHook);
  EXPECT_TRUE(prompt.questions.empty());
  EXPECT_TRUE(answers.empty());
}

TEST_F(HookPromptsTest, AllowsOnce) {
  const auto id = open(bash());
  ASSERT_TRUE(prompts.answer(id, kAllow));
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{.decision = HookDecision::Allow}});
  EXPECT_EQ(told.gone, Texts{id + " by hook"});
  EXPECT_FALSE(prompts.answer(id, kAllow));
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(HookPromptsTest, DeniesWithTheWordsOfWhoeverSaidNo) {
  auto reply = kDeny;
  reply.message = "not on a Friday";
  ASSERT_TRUE(prompts.answer(open(bash()), reply));
  ASSERT_TRUE(prompts.answer(open(hook_event("codex/PermissionRequest-Bash")), kDeny));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0], (hooks::HookResponse{.decision = HookDecision::Deny, .message = "not on a Friday"}));
  EXPECT_EQ(answers[1].decision, HookDecision::Deny);
  EXPECT_FALSE(answers[1].message.empty());
}

TEST_F(HookPromptsTest, WhatNoRuleDecidesIsLeftToTheAgentsOwnDialog) {
  const auto id = open(bash());
  prompts.leave(id);
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}}) << "the hook returns without a word";
  EXPECT_EQ(told.gone, Texts{id + " by nobody: the agent asks on its screen"});
  EXPECT_FALSE(prompts.answer(id, kAllow));
  prompts.leave(id);
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(HookPromptsTest, AQuestionIsAnsweredInsideItsOwnInput) {
  const auto id = open(question());
  const auto& prompt = told.prompts.at(0);
  EXPECT_EQ(prompt.kind, PromptKind::Question);
  EXPECT_EQ(prompt.summary, "Which database should the service use?");
  ASSERT_EQ(prompt.questions.size(), 1U);
  EXPECT_EQ(prompt.questions[0].choices, (Texts{"SQLite", "PostgreSQL"}));
  EXPECT_FALSE(prompt.questions[0].several);

  auto reply = kAllow;
  reply.answers = {"SQLite"};
  ASSERT_TRUE(prompts.answer(id, reply));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].decision, HookDecision::Allow);
  auto expected = *parse_json_object(question().tool_input);
  expected["answers"] = json::object{{"Which database should the service use?", "SQLite"}};
  EXPECT_EQ(*parse_json_object(answers[0].updated_input), expected);
}

TEST_F(HookPromptsTest, AWrongNumberOfAnswersIsRefusedAndTheQuestionStaysOpen) {
  const auto id = open(question());
  auto reply = kAllow;
  const auto none = prompts.answer(id, reply);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "1 asked and 0 answered; answer each, in order");
  reply.answers = {"SQLite", "PostgreSQL"};
  EXPECT_FALSE(prompts.answer(id, reply));
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(told.gone.empty());
  reply.answers = {"PostgreSQL"};
  EXPECT_TRUE(prompts.answer(id, reply));
}

TEST_F(HookPromptsTest, AQuestionTooLongToReadIsAPermission) {
  auto event = question();
  event.tool_input = event.tool_input.substr(0, 40);
  event.tool_input_cut = true;
  ASSERT_TRUE(prompts.answer(open(event), kAllow));
  EXPECT_EQ(told.prompts.at(0).kind, PromptKind::Permission);
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{.decision = HookDecision::Allow}});
}

TEST_F(HookPromptsTest, AHookThatLeavesWasAnsweredByThePerson) {
  const auto first = open(bash(), 1), second = open(question(), 2);
  prompts.on_hook_gone(1);
  prompts.on_hook_gone(1);
  prompts.on_hook_gone(7);  // none of ours
  EXPECT_EQ(told.gone, Texts{first + " by user"});
  EXPECT_FALSE(prompts.answer(first, kAllow));
  EXPECT_TRUE(prompts.answer(second, kDeny));
}

TEST_F(HookPromptsTest, ADialogThatOpenedAndClosedWasAnsweredByThePerson) {
  const auto id = open(bash());
  prompts.on_state(State::Working);  // it has not drawn its dialog yet
  EXPECT_TRUE(told.gone.empty());
  prompts.on_state(State::Blocked);
  prompts.on_state(State::Unknown);  // a screen we cannot read proves nothing
  EXPECT_TRUE(told.gone.empty());
  prompts.on_state(State::Working);
  EXPECT_EQ(told.gone, Texts{id + " by user"});
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}});
}

TEST_F(HookPromptsTest, AlsoWhenTheDialogWasSeenBeforeTheHookCame) {
  prompts.on_state(State::Blocked);
  const auto id = open(hook_event("claude/PermissionRequest-Write"));
  prompts.on_state(State::Idle);
  EXPECT_EQ(told.gone, Texts{id + " by user"});
}

TEST_F(HookPromptsTest, WhenPatienceIsOverTheAgentAsksOnItsScreen) {
  prompts.set_timeout(Millis{1});
  const auto id = open(hook_event("codex/PermissionRequest-Bash"));
  ASSERT_TRUE(run_until(loop, [&] { return !answers.empty(); }));
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}});
  EXPECT_EQ(told.gone, Texts{id + " by nobody: the agent asks on its screen"});
  EXPECT_FALSE(prompts.answer(id, kAllow));
}

TEST_F(HookPromptsTest, AnAnswerInTimeEndsThePatience) {
  prompts.set_timeout(Millis{1});
  ASSERT_TRUE(prompts.answer(open(bash()), kAllow));
  bool later = false;
  const auto after = loop.after(Millis{5}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(answers.size(), 1U);
  EXPECT_EQ(told.gone.size(), 1U);
}

TEST_F(HookPromptsTest, AnUnknownPromptIsSaidToBeGone) {
  const auto outcome = prompts.answer("p99", kAllow);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message(), "that prompt is not open any more");
}

TEST(Prompt, IsSummedUpInOneHarmlessLine) {
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
