#include "scripted_agent/script.h"

#include <gtest/gtest.h>

namespace relay::scripted_agent {
namespace {

TEST(Script, FirstMatchingRuleWins) {
  const auto script = parse_script(R"({"rules":[{"contains":"ab","reply":"1"},{"matches":"^a.c$","reply":"2"}],
                                       "default":{"reply":"3"}})");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->find_answer("xaby").reply, "1");
  EXPECT_EQ(script->find_answer("axc").reply, "2");
  EXPECT_EQ(script->find_answer("other").reply, "3");
}

TEST(Script, ParsesDialogsAndStreaming) {
  const auto script = parse_script(
      R"({"rules":[{"contains":"run","work_ms":5,"chunk":3,"chunk_ms":7,
                    "dialog":{"kind":"question","title":"Which?","options":["red","blue"]}}]})");
  ASSERT_TRUE(script);
  const auto& answer = script->find_answer("run");
  EXPECT_EQ(answer.work, Millis{5});
  EXPECT_EQ(answer.chunk_characters, 3U);
  EXPECT_EQ(answer.chunk_pause, Millis{7});
  ASSERT_TRUE(answer.dialog);
  EXPECT_EQ(answer.dialog->kind, Dialog::Kind::Question);
  EXPECT_EQ(answer.dialog->options.size(), 2U);
}

TEST(Script, ErrorNamesRule) {
  const auto script = parse_script(R"({"rules":[{"contains":"a"},{"matches":"("}]})");
  ASSERT_FALSE(script);
  EXPECT_TRUE(script.error().message().starts_with("rules, entry 2: '(' is no regular expression"));
}

TEST(Script, ParsesMoments) {
  const auto script = parse_script(R"({"moments":[{"when":"after_paste","after_ms":9,"dialog":{"title":"Now?"}},
                                                  {"when":"start","exit":7}]})");
  ASSERT_TRUE(script);
  ASSERT_EQ(script->moments.size(), 2U);
  EXPECT_EQ(script->moments[0].when, Moment::When::AfterPaste);
  EXPECT_EQ(script->moments[0].after, Millis{9});
  EXPECT_EQ(script->moments[0].dialog->title, "Now?");
  EXPECT_EQ(script->moments[1].exit_code, 7);
  const auto empty = parse_script(R"({"moments":[{"when":"start"}]})");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message(), "moments, entry 1: it needs a dialog or an exit");
}

}  // namespace
}  // namespace relay::scripted_agent
