#include "scripted_agent/script.h"

#include <gtest/gtest.h>

namespace relay::scripted_agent {
namespace {

TEST(Script, TakesTheFirstRuleThatFits) {
  const auto script = parse_script(R"({"rules":[{"contains":"ab","reply":"1"},{"matches":"^a.c$","reply":"2"}],
                                       "default":{"reply":"3"}})");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->answer_to("xaby").reply, "1");
  EXPECT_EQ(script->answer_to("axc").reply, "2");
  EXPECT_EQ(script->answer_to("other").reply, "3");
}

TEST(Script, KnowsDialogsAndStreaming) {
  const auto script = parse_script(
      R"({"rules":[{"contains":"run","work_ms":5,"chunk":3,"chunk_ms":7,
                    "dialog":{"kind":"question","title":"Which?","options":["red","blue"]}}]})");
  ASSERT_TRUE(script);
  const auto& answer = script->answer_to("run");
  EXPECT_EQ(answer.work, Millis{5});
  EXPECT_EQ(answer.chunk_characters, 3U);
  EXPECT_EQ(answer.chunk_pause, Millis{7});
  ASSERT_TRUE(answer.dialog);
  EXPECT_EQ(answer.dialog->kind, Dialog::Kind::Question);
  EXPECT_EQ(answer.dialog->options.size(), 2U);
}

TEST(Script, SaysWhichRuleIsWrong) {
  const auto script = parse_script(R"({"rules":[{"contains":"a"},{"matches":"("}]})");
  ASSERT_FALSE(script);
  EXPECT_TRUE(script.error().message().starts_with("rule 2 of the script: '(' is no regular expression"));
}

}  // namespace
}  // namespace relay::scripted_agent
