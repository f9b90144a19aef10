#include "cli/chat/line_editor.h"

#include <gtest/gtest.h>

#include "cli/chat/chat_recipient.h"
#include "cli/chat/word_completion.h"

namespace relay::cli {
namespace {

using enum EditorKey;

/// Types into the editor: plain characters, and keys by their bytes.
EditResult type(LineEditor& editor, std::string_view text) { return editor.insert(text); }

/// The line with the cursor as `|`.
std::string text_with_cursor(const LineEditor& editor) {
  auto text = editor.text();
  return text.insert(editor.cursor(), "|");
}

TEST(EditorKeys, MatchXtermLinuxAndRxvtBytes) {
  EXPECT_EQ(parse_editor_key("\x1b[D"), Left);
  EXPECT_EQ(parse_editor_key("\x1bOD"), Left);
  EXPECT_EQ(parse_editor_key("\x1b[1;5C"), WordRight);
  EXPECT_EQ(parse_editor_key("\x1b"
                             "f"),
            WordRight);
  EXPECT_EQ(parse_editor_key("\x1b[1~"), Home);
  EXPECT_EQ(parse_editor_key("\x1b[H"), Home);
  EXPECT_EQ(parse_editor_key("\x1bOF"), End);
  EXPECT_EQ(parse_editor_key("\x12"), Search);
  EXPECT_EQ(parse_editor_key("\x1b[24~"), None);
}

TEST(LineEditor, InsertsAndErasesAtCursor) {
  LineEditor editor;
  type(editor, "hello wrld");
  for (int i = 0; i < 3; ++i) editor.press(Left);
  type(editor, "o");
  EXPECT_EQ(text_with_cursor(editor), "hello wo|rld");
  editor.press(Home);
  editor.press(Delete);
  type(editor, "J");
  EXPECT_EQ(text_with_cursor(editor), "J|ello world");
  editor.press(End);
  editor.press(Backspace);
  EXPECT_EQ(text_with_cursor(editor), "Jello worl|");
  EXPECT_EQ(editor.press(Delete), EditResult::Refused);
}

TEST(LineEditor, MovesAndKillsByWords) {
  LineEditor editor;
  type(editor, "one two-three four");
  editor.press(WordLeft);
  EXPECT_EQ(text_with_cursor(editor), "one two-three |four");
  editor.press(WordLeft);
  EXPECT_EQ(text_with_cursor(editor), "one two-|three four");
  editor.press(KillWordBack);
  EXPECT_EQ(text_with_cursor(editor), "one |three four");
  editor.press(End);
  editor.press(Yank);
  EXPECT_EQ(text_with_cursor(editor), "one three fourtwo-|");
  editor.press(Home);
  editor.press(WordRight);
  editor.press(KillToEnd);
  EXPECT_EQ(text_with_cursor(editor), "one|");
  editor.press(KillToStart);
  EXPECT_EQ(text_with_cursor(editor), "|");
}

TEST(LineEditor, MovesOverComposedCharacterInOneStep) {
  LineEditor editor;
  type(editor, "日e\u0301👩\u200d💻x");
  editor.press(Left);
  editor.press(Left);
  EXPECT_EQ(text_with_cursor(editor), "日e\u0301|👩\u200d💻x");
  editor.press(Backspace);
  EXPECT_EQ(text_with_cursor(editor), "日|👩\u200d💻x");
  editor.press(Delete);
  EXPECT_EQ(text_with_cursor(editor), "日|x");
  editor.press(Backspace);
  EXPECT_EQ(text_with_cursor(editor), "|x");
}

TEST(LineEditor, DropsControlCharacters) {
  LineEditor editor;
  type(editor,
       "a\x1b[31m\x07"
       "b\tc\r\nd\re");
  EXPECT_EQ(editor.text(), "a[31mb\tc\nd\ne");
}

TEST(LineEditor, RefusesTooLongText) {
  LineEditor editor;
  type(editor, std::string(kMaxEditedBytes, 'x'));
  EXPECT_EQ(type(editor, "y"), EditResult::Refused);
  EXPECT_EQ(editor.text().size(), kMaxEditedBytes);
}

TEST(LineEditor, RecallsHistoryAndKeepsDraft) {
  LineEditor editor;
  for (const auto* line : {"first", "second", "second"}) {
    type(editor, line);
    EXPECT_EQ(editor.press(Enter), EditResult::Entered);
    EXPECT_EQ(editor.take(), line);
  }
  type(editor, "draft");
  editor.press(Older);
  EXPECT_EQ(editor.text(), "second");
  editor.press(Older);
  EXPECT_EQ(editor.text(), "first");
  EXPECT_EQ(editor.press(Older), EditResult::Refused);
  editor.press(Newer);
  editor.press(Newer);
  EXPECT_EQ(text_with_cursor(editor), "draft|");
  EXPECT_EQ(editor.press(Newer), EditResult::Refused);
}

TEST(LineEditor, SearchesHistoryAndRestoresDraft) {
  LineEditor editor;
  for (const auto* line : {"build it", "test it", "build again"}) {
    type(editor, line);
    editor.take();
  }
  type(editor, "draft");
  editor.press(Search);
  type(editor, "buil");
  EXPECT_EQ(editor.text(), "build again");
  editor.press(Search);
  EXPECT_EQ(editor.text(), "build it");
  EXPECT_EQ(editor.press(Search), EditResult::Refused);
  EXPECT_TRUE(editor.search_failed());
  editor.press(Cancel);
  EXPECT_EQ(text_with_cursor(editor), "draft|");
  editor.press(Search);
  type(editor, "test");
  EXPECT_EQ(editor.press(Enter), EditResult::Entered);
  EXPECT_EQ(editor.take(), "test it");
}

TEST(LineEditor, CtrlCClearsLineThenLeaves) {
  LineEditor editor;
  type(editor, "slip");
  EXPECT_EQ(editor.press(Interrupt), EditResult::Cleared);
  EXPECT_EQ(editor.press(Interrupt), EditResult::Left);
  EXPECT_EQ(editor.press(EndOfInput), EditResult::Ended);
}

TEST(LineEditor, MovesWithinOneRowOfSeveral) {
  LineEditor editor;
  type(editor, "one\ntwo");
  editor.press(Home);
  EXPECT_EQ(text_with_cursor(editor), "one\n|two");
  editor.press(Left);
  editor.press(Home);
  EXPECT_EQ(text_with_cursor(editor), "|one\ntwo");
  editor.press(End);
  EXPECT_EQ(text_with_cursor(editor), "one|\ntwo");
}

TEST(LineHistory, KeepsNewestWithinBounds) {
  LineHistory history;
  for (std::size_t i = 0; i < kMaxHistoryLines + 5; ++i) history.add(std::to_string(i));
  EXPECT_EQ(history.size(), kMaxHistoryLines);
  EXPECT_EQ(history.at(0), "5");
  history.add(std::string(kMaxHistoryBytes, 'x'));
  EXPECT_EQ(history.size(), 1U);
}

TEST(WordCompletion, CompletesToCommonPrefix) {
  const std::vector<std::string> names = {"Alice", "Albert", "bob", "Alice"};
  EXPECT_EQ(complete_word("a", names).text, "Al");
  EXPECT_EQ(complete_word("a", names).choices, (std::vector<std::string>{"Albert", "Alice"}));
  EXPECT_EQ(complete_word("BO", names).text, "bob");
  EXPECT_TRUE(complete_word("x", names).choices.empty());
  EXPECT_EQ(complete_word("", {"日本", "日光"}).text, "日") << "never half a character";
}

constexpr bool kTyping = true, kEmpty = false;

TEST(ChatRecipient, FallsBackToPreviousWhenChosenNameIsUnknown) {
  ChatRecipient to{"Bob"};
  to.choose("Zoe");
  to.on_sent("1");
  to.choose("Zoe");
  to.on_sent("2");
  to.on_unknown_recipient("1", kEmpty);
  EXPECT_EQ(to.name(), "Bob");
  to.on_unknown_recipient("2", kEmpty);
  EXPECT_EQ(to.name(), "Bob");
}

TEST(ChatRecipient, LateRefusalChangesNothingWhenAnotherWasNamedSince) {
  ChatRecipient to{"Alice"};
  to.choose("Zoe");
  to.on_sent("1");
  to.choose("Carol");
  to.on_sent("2");
  to.on_unknown_recipient("1", kEmpty);
  EXPECT_EQ(to.name(), "Carol");
  to.on_unknown_recipient("2", kEmpty);
  EXPECT_EQ(to.name(), "Alice") << "and not the other unknown name";
}

TEST(ChatRecipient, LateRefusalChangesNothingWhenAnotherWroteSince) {
  ChatRecipient to{"Alice"};
  to.choose("Zoe");
  to.on_sent("1");
  to.on_message_from("Carol", kEmpty);
  to.on_unknown_recipient("1", kTyping);
  EXPECT_EQ(to.name(), "Carol");
  to.on_line_end();
  EXPECT_EQ(to.name(), "Carol");
}

TEST(ChatRecipient, LateRefusalKeepsRecipientOfCurrentLine) {
  ChatRecipient to{"Alice"};
  to.choose("Zoe");
  to.on_sent("1");
  to.on_unknown_recipient("1", kTyping);
  EXPECT_EQ(to.name(), "Zoe");
  to.on_line_end();
  EXPECT_EQ(to.name(), "Alice");
  to.choose("Bobb");
  to.on_sent("2");
  to.on_unknown_recipient("2", kEmpty);
  EXPECT_EQ(to.name(), "Alice");
}

TEST(ChatRecipient, LateRefusalKeepsSenderWhoWroteDuringTyping) {
  ChatRecipient to{"Alice"};
  to.choose("Zoe");
  to.on_sent("1");
  to.on_message_from("Carol", kTyping);
  to.on_unknown_recipient("1", kTyping);
  to.on_line_end();
  EXPECT_EQ(to.name(), "Carol");
}

TEST(ChatRecipient, RefusalOfEarlierRunChangesNothing) {
  ChatRecipient to{"Alice"};
  to.choose("Bob");
  to.on_unknown_recipient("7", kEmpty);
  EXPECT_EQ(to.name(), "Bob");
}

TEST(ChatRecipient, IsLastSenderButStaysDuringTyping) {
  ChatRecipient to{"Bob"};
  to.on_message_from("Carol", false);
  EXPECT_EQ(to.name(), "Carol");
  to.on_message_from("Dave", true);
  EXPECT_EQ(to.name(), "Carol") << "the line starts with her name";
  to.on_line_end();
  EXPECT_EQ(to.name(), "Dave");
  to.on_message_from("Eve", true);
  to.choose("Bob");
  to.on_line_end();
  EXPECT_EQ(to.name(), "Bob") << "who is named by hand stays";
}

}  // namespace
}  // namespace relay::cli
