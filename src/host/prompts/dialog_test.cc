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
profiles::ScreenFindings make_findings() {
  return permission({{"1", "Allow once", "", true, ChoiceMeaning::Approve},
                     {"2", "Allow for this session", ""},
                     {"3", "No", "esc", false, ChoiceMeaning::Deny}});
}
PromptAnswer reply(PromptAnswer::Decision decision, std::vector<std::string> answers = {}) {
  return {.decision = decision, .answers = std::move(answers)};
}

TEST(Dialog, MarkAndPaddingDoNotChangeDialog) {
  auto moved = make_findings();
  moved.permission->choices[0].marked = false;
  moved.permission->choices[1].marked = true;
  moved.permission->body = "? Shell\nmake    all\nAllow it?";
  EXPECT_EQ(dialog_in(make_findings())->full_text, dialog_in(moved)->full_text);
  EXPECT_EQ(dialog_in(moved)->marked(), 1U);
}

TEST(Dialog, AnyTextChangesDialog) {
  auto other = make_findings();
  other.permission->body += "\nand rm -rf /";
  EXPECT_NE(dialog_in(make_findings())->full_text, dialog_in(other)->full_text);
  EXPECT_EQ(dialog_in(make_findings())->subject, dialog_in(other)->subject);
  auto blank = make_findings();
  blank.permission->body = "? Shell\nmake al l\nAllow it?";
  EXPECT_NE(dialog_in(make_findings())->full_text, dialog_in(blank)->full_text);
  auto offers = make_findings();
  offers.permission->choices[2].label = "No, and stop";
  EXPECT_NE(dialog_in(make_findings())->full_text, dialog_in(offers)->full_text);
  EXPECT_FALSE(dialog_in({}));
}

TEST(Dialog, KeysNeedOneChoicePerAnswer) {
  EXPECT_TRUE(can_press(*dialog_in(make_findings()), DialogKeys::Cursor));
  EXPECT_FALSE(can_press(*dialog_in(make_findings()), DialogKeys::None));
  EXPECT_FALSE(can_press(*dialog_in(make_findings()), DialogKeys::Letter)) << "not every choice has a key";
  auto part = make_findings();
  part.permission->is_complete = false;
  EXPECT_FALSE(can_press(*dialog_in(part), DialogKeys::Cursor)) << "the rest of its text is unknown";
  auto two = make_findings();
  two.permission->choices[1].meaning = ChoiceMeaning::Approve;
  EXPECT_FALSE(can_press(*dialog_in(two), DialogKeys::Cursor));
  auto unmarked = make_findings();
  unmarked.permission->choices[0].marked = false;
  EXPECT_FALSE(can_press(*dialog_in(unmarked), DialogKeys::Cursor));
  EXPECT_TRUE(can_press(*dialog_in(permission({{"", "Yes", "y", false, ChoiceMeaning::Approve},
                                               {"", "No", "n", false, ChoiceMeaning::Deny}})),
                        DialogKeys::Letter));
}

TEST(Dialog, FindsChoiceOfAnswer) {
  EXPECT_EQ(*choice_for(*dialog_in(make_findings()), reply(PromptAnswer::Decision::Approve)), 0U);
  EXPECT_EQ(*choice_for(*dialog_in(make_findings()), reply(PromptAnswer::Decision::Deny)), 2U);
  profiles::ScreenFindings findings;
  findings.question = {0,   "which", "Which one?", {{"1", "SQLite", "", true}, {"2", "PostgreSQL", ""}}, "Which one?",
                       true};
  const auto dialog = *dialog_in(findings);
  EXPECT_TRUE(can_press(dialog, DialogKeys::Cursor));
  EXPECT_EQ(*choice_for(dialog, reply(PromptAnswer::Decision::Approve, {"postgresql"})), 1U);
  EXPECT_EQ(*choice_for(dialog, reply(PromptAnswer::Decision::Approve, {"1"})), 0U);
  const auto free_text = choice_for(dialog, reply(PromptAnswer::Decision::Approve, {"DuckDB"}));
  ASSERT_FALSE(free_text);
  EXPECT_NE(free_text.error().message().find("SQLite; PostgreSQL"), std::string::npos);
}

TEST(Dialog, ShowsSubjectInWholeLinesOnly) {
  EXPECT_TRUE(has_subject(*dialog_in(make_findings()), "make  all"));
  auto wrapped = make_findings();
  wrapped.permission->body = "Bash command\n$ make al\nl install\nAllow it?";
  EXPECT_TRUE(has_subject(*dialog_in(wrapped), "make all install"));
  EXPECT_FALSE(has_subject(*dialog_in(wrapped), "make all")) << "more is run than that";
  EXPECT_FALSE(has_subject(*dialog_in(wrapped), "all"));
  EXPECT_FALSE(has_subject(*dialog_in(make_findings()), ""));
}

TEST(Dialog, DropsRepeatedSubject) {
  EXPECT_EQ(without_repeated_subject("? Shell  ls -l; echo done\nls -l; echo done\nAllow execution of [Shell]?"),
            "? Shell  ls -l; echo done\nAllow execution of [Shell]?");
  EXPECT_EQ(without_repeated_subject("? Shell  ls -l; echo done\nls -l; echo\ndone\nAllow?"),
            "? Shell  ls -l; echo done\nAllow?")
      << "wrapped in a narrow frame";
  EXPECT_EQ(without_repeated_subject("? WriteFile  Writing to notes.md\n1 # Notes\nApply this change?"),
            "? WriteFile  Writing to notes.md\n1 # Notes\nApply this change?");
  EXPECT_EQ(without_repeated_subject("Bash command\nls\nls"), "Bash command\nls\nls")
      << "an equal line is not a repetition of its end";
  EXPECT_EQ(without_repeated_subject("> look at other.py\nother.py\nAdd file to the chat?"),
            "> look at other.py\nother.py\nAdd file to the chat?")
      << "a prompt that ends in the subject is not a title";
  EXPECT_EQ(without_repeated_subject(""), "");
}

}  // namespace
}  // namespace relay::host
