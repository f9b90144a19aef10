#include "host/prompts/dialog.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using profiles::ChoiceMeaning;
using profiles::DialogChoice;
using profiles::DialogKeys;

profiles::ScreenFindings permission(std::vector<DialogChoice> choices) {
  profiles::ScreenFindings findings;
  findings.permission = {0, "run", "Shell", "make all", std::move(choices), "? Shell\nmake all\nAllow it?", true};
  return findings;
}
profiles::ScreenFindings usual() {
  return permission({{"1", "Allow once", "", true, ChoiceMeaning::Approve},
                     {"2", "Allow for this session", ""},
                     {"3", "No", "esc", false, ChoiceMeaning::Deny}});
}
PromptAnswer reply(PromptAnswer::Decision verdict, std::vector<std::string> answers = {}) {
  return {.verdict = verdict, .answers = std::move(answers)};
}

TEST(Dialog, IsTheSameWhereverItsMarkStandsAndHoweverItsColumnsAreFilled) {
  auto moved = usual();
  moved.permission->choices[0].marked = false;
  moved.permission->choices[1].marked = true;
  moved.permission->body = "? Shell\nmake    all\nAllow it?";
  EXPECT_EQ(dialog_in(usual())->whole, dialog_in(moved)->whole);
  EXPECT_EQ(dialog_in(moved)->marked(), 1U);
}

TEST(Dialog, DiffersWithAnyText) {
  auto other = usual();
  other.permission->body += "\nand rm -rf /";
  EXPECT_NE(dialog_in(usual())->whole, dialog_in(other)->whole);
  EXPECT_EQ(dialog_in(usual())->about, dialog_in(other)->about);
  auto blank = usual();
  blank.permission->body = "? Shell\nmake al l\nAllow it?";
  EXPECT_NE(dialog_in(usual())->whole, dialog_in(blank)->whole);
  auto offers = usual();
  offers.permission->choices[2].label = "No, and stop";
  EXPECT_NE(dialog_in(usual())->whole, dialog_in(offers)->whole);
  EXPECT_FALSE(dialog_in({}));
}

TEST(Dialog, CanBePressedOnlyWhereEachAnswerHasOneChoice) {
  EXPECT_TRUE(can_press(*dialog_in(usual()), DialogKeys::Cursor));
  EXPECT_FALSE(can_press(*dialog_in(usual()), DialogKeys::None));
  EXPECT_FALSE(can_press(*dialog_in(usual()), DialogKeys::Letter)) << "not every choice names its key";
  auto part = usual();
  part.permission->whole = false;
  EXPECT_FALSE(can_press(*dialog_in(part), DialogKeys::Cursor)) << "nobody knows what else it says";
  auto two = usual();
  two.permission->choices[1].meaning = ChoiceMeaning::Approve;
  EXPECT_FALSE(can_press(*dialog_in(two), DialogKeys::Cursor));
  auto unmarked = usual();
  unmarked.permission->choices[0].marked = false;
  EXPECT_FALSE(can_press(*dialog_in(unmarked), DialogKeys::Cursor));
  EXPECT_TRUE(can_press(*dialog_in(permission({{"", "Yes", "y", false, ChoiceMeaning::Approve},
                                               {"", "No", "n", false, ChoiceMeaning::Deny}})),
                        DialogKeys::Letter));
}

TEST(Dialog, FindsChoiceOfAnswer) {
  EXPECT_EQ(*choice_for(*dialog_in(usual()), reply(PromptAnswer::Decision::Allow)), 0U);
  EXPECT_EQ(*choice_for(*dialog_in(usual()), reply(PromptAnswer::Decision::Deny)), 2U);
  profiles::ScreenFindings asked;
  asked.question = {0, "which", "Which one?", {{"1", "SQLite", "", true}, {"2", "PostgreSQL", ""}}, "Which one?", true};
  const auto dialog = *dialog_in(asked);
  EXPECT_TRUE(can_press(dialog, DialogKeys::Cursor));
  EXPECT_EQ(*choice_for(dialog, reply(PromptAnswer::Decision::Allow, {"postgresql"})), 1U);
  EXPECT_EQ(*choice_for(dialog, reply(PromptAnswer::Decision::Allow, {"1"})), 0U);
  const auto free_text = choice_for(dialog, reply(PromptAnswer::Decision::Allow, {"DuckDB"}));
  ASSERT_FALSE(free_text);
  EXPECT_NE(free_text.error().message().find("SQLite; PostgreSQL"), std::string::npos);
}

TEST(Dialog, ShowsSubjectInWholeLinesOnly) {
  EXPECT_TRUE(shows(*dialog_in(usual()), "make  all"));
  auto wrapped = usual();
  wrapped.permission->body = "Bash command\n$ make al\nl install\nAllow it?";
  EXPECT_TRUE(shows(*dialog_in(wrapped), "make all install"));
  EXPECT_FALSE(shows(*dialog_in(wrapped), "make all")) << "more is run than that";
  EXPECT_FALSE(shows(*dialog_in(wrapped), "all"));
  EXPECT_FALSE(shows(*dialog_in(usual()), ""));
}

TEST(Dialog, DropsRepeatedSubject) {
  EXPECT_EQ(said_once("? Shell  ls -l; echo done\nls -l; echo done\nAllow execution of [Shell]?"),
            "? Shell  ls -l; echo done\nAllow execution of [Shell]?");
  EXPECT_EQ(said_once("? Shell  ls -l; echo done\nls -l; echo\ndone\nAllow?"), "? Shell  ls -l; echo done\nAllow?")
      << "wrapped in a narrow frame";
  EXPECT_EQ(said_once("? WriteFile  Writing to notes.md\n1 # Notes\nApply this change?"),
            "? WriteFile  Writing to notes.md\n1 # Notes\nApply this change?");
  EXPECT_EQ(said_once("Bash command\nls\nls"), "Bash command\nls\nls")
      << "a line that is the same is no repetition of its end";
  EXPECT_EQ(said_once("> look at other.py\nother.py\nAdd file to the chat?"),
            "> look at other.py\nother.py\nAdd file to the chat?")
      << "a prompt that ends in the subject is no title";
  EXPECT_EQ(said_once(""), "");
}

}  // namespace
}  // namespace relay::host
