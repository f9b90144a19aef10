#include "host/dialog.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using adapters::Reply;
using profiles::Press;
using speech::Choice;
using speech::Says;

speech::Findings permission(std::vector<Choice> choices) {
  speech::Findings findings;
  findings.permission = {0, "run", "Shell", "make all", std::move(choices), "? Shell\nmake all\nAllow it?", true};
  return findings;
}
speech::Findings usual() {
  return permission({{"1", "Allow once", "", true, Says::Allow},
                     {"2", "Allow for this session", ""},
                     {"3", "No", "esc", false, Says::Deny}});
}
Reply reply(Reply::Verdict verdict, std::vector<std::string> answers = {}) {
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

TEST(Dialog, IsAnotherOnceAnyOfItsWordsIs) {
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
  EXPECT_TRUE(can_press(*dialog_in(usual()), Press::Mark));
  EXPECT_FALSE(can_press(*dialog_in(usual()), Press::Nothing));
  EXPECT_FALSE(can_press(*dialog_in(usual()), Press::Letter)) << "not every choice names its key";
  auto part = usual();
  part.permission->whole = false;
  EXPECT_FALSE(can_press(*dialog_in(part), Press::Mark)) << "nobody knows what else it says";
  auto two = usual();
  two.permission->choices[1].says = Says::Allow;
  EXPECT_FALSE(can_press(*dialog_in(two), Press::Mark));
  auto unmarked = usual();
  unmarked.permission->choices[0].marked = false;
  EXPECT_FALSE(can_press(*dialog_in(unmarked), Press::Mark));
  EXPECT_TRUE(
      can_press(*dialog_in(permission({{"", "Yes", "y", false, Says::Allow}, {"", "No", "n", false, Says::Deny}})),
                Press::Letter));
}

TEST(Dialog, FindsTheChoiceThatSaysWhatWasAnswered) {
  EXPECT_EQ(*choice_for(*dialog_in(usual()), reply(Reply::Verdict::Allow)), 0U);
  EXPECT_EQ(*choice_for(*dialog_in(usual()), reply(Reply::Verdict::Deny)), 2U);
  speech::Findings asked;
  asked.question = {0, "which", "Which one?", {{"1", "SQLite", "", true}, {"2", "PostgreSQL", ""}}, "Which one?", true};
  const auto dialog = *dialog_in(asked);
  EXPECT_TRUE(can_press(dialog, Press::Mark));
  EXPECT_EQ(*choice_for(dialog, reply(Reply::Verdict::Allow, {"postgresql"})), 1U);
  EXPECT_EQ(*choice_for(dialog, reply(Reply::Verdict::Allow, {"1"})), 0U);
  const auto free_text = choice_for(dialog, reply(Reply::Verdict::Allow, {"DuckDB"}));
  ASSERT_FALSE(free_text);
  EXPECT_NE(free_text.error().message().find("SQLite; PostgreSQL"), std::string::npos);
}

TEST(Dialog, ShowsWhatARequestIsAboutOnlyInWholeLines) {
  EXPECT_TRUE(shows(*dialog_in(usual()), "make  all"));
  auto wrapped = usual();
  wrapped.permission->body = "Bash command\n$ make al\nl install\nAllow it?";
  EXPECT_TRUE(shows(*dialog_in(wrapped), "make all install"));
  EXPECT_FALSE(shows(*dialog_in(wrapped), "make all")) << "more is run than that";
  EXPECT_FALSE(shows(*dialog_in(wrapped), "all"));
  EXPECT_FALSE(shows(*dialog_in(usual()), ""));
}

TEST(Dialog, SaysOnceWhatItsFrameRepeats) {
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
