#include "profiles/conversation_tracker.h"

#include <gtest/gtest.h>

namespace relay::profiles {
namespace {

using Turn = ConversationTracker::Turn;
using Texts = std::vector<std::string>;

/// "u:hello" is user input, "a:hi" agent text.
std::vector<Paragraph> view(const Texts& texts) {
  std::vector<Paragraph> paragraphs;
  for (const auto& text : texts) {
    const auto body = text.substr(2);
    paragraphs.push_back({.kind = text[0] == 'u' ? RowKind::User : RowKind::Assistant, .key = body, .lines = {{body}}});
  }
  return paragraphs;
}

Texts end_turn(ConversationTracker& conversation) {
  Texts texts;
  for (const auto& paragraph : conversation.end_turn())
    if (paragraph.kind == RowKind::Assistant) texts.push_back(paragraph.key);
  return texts;
}

TEST(Conversation, ReturnsATurnWhenItEnds) {
  ConversationTracker conversation;
  conversation.see(view({"u:hello"}), Turn::Over);
  conversation.see(view({"u:hello", "a:hi th"}), Turn::Open);
  conversation.see(view({"u:hello", "a:hi there"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"hi there"});
  conversation.see(view({"u:hello", "a:hi there"}), Turn::Over);
  EXPECT_TRUE(end_turn(conversation).empty());
}

TEST(Conversation, TreatsEqualTextInALaterTurnAsNew) {
  ConversationTracker conversation;
  conversation.see(view({"u:go"}), Turn::Over);
  conversation.see(view({"u:go", "a:done"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"done"});
  conversation.see(view({"u:go", "a:done", "u:go"}), Turn::Over);
  conversation.see(view({"u:go", "a:done", "u:go", "a:done"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"done"});
}

TEST(Conversation, KeepsTextThatScrolledOffDuringTheTurn) {
  ConversationTracker conversation;
  conversation.see(view({"u:go"}), Turn::Over);
  conversation.see(view({"u:go", "a:one", "a:two"}), Turn::Open);
  conversation.see(view({"a:one", "a:two", "a:three"}), Turn::Open);
  conversation.see(view({"a:three", "a:four"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"one", "two", "three", "four"}));
}

TEST(Conversation, KeepsAParagraphWhoseTopIsCutOff) {
  ConversationTracker conversation;
  conversation.see(view({"u:go"}), Turn::Over);
  conversation.see(view({"u:go", "a:a long paragraph", "a:next"}), Turn::Open);
  conversation.see(view({"a:paragraph", "a:next", "a:last"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"a long paragraph", "next", "last"}));
}

TEST(Conversation, AcceptsAHeadingThatStaysAtTheTop) {
  ConversationTracker conversation;
  conversation.see(view({"u:first", "a:old"}), Turn::Over);
  conversation.see(view({"u:first", "a:old", "u:second", "a:one"}), Turn::Open);
  conversation.see(view({"u:second", "a:one", "a:two"}), Turn::Open);
  conversation.see(view({"u:second", "a:two", "a:three"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"one", "two", "three"}));
}

TEST(Conversation, IgnoresARedrawBetweenTurns) {
  ConversationTracker conversation;
  conversation.see(view({"u:go"}), Turn::Over);
  conversation.see(view({"u:go", "a:done"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"done"});
  conversation.see(view({"a:done", "u:go", "a:done"}), Turn::Over);  // drawn again below itself after a resize
  EXPECT_TRUE(end_turn(conversation).empty());
  conversation.see(view({"u:go", "a:done", "u:more", "a:new"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"new"});
}

TEST(Conversation, RepeatsNothingWhenTheUserScrolls) {
  ConversationTracker conversation;
  conversation.see(view({"u:first", "a:one"}), Turn::Over);
  conversation.see(view({"u:first", "a:one", "u:second", "a:two"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"two"});
  conversation.see(view({"u:first", "a:one", "u:second", "a:two"}), Turn::Over);
  conversation.see(view({"u:first", "a:one", "u:second"}), Turn::Over);  // scrolled up
  conversation.see(view({"u:second", "a:two", "u:third", "a:three"}), Turn::Open);
  conversation.see(view({"u:first", "a:one"}), Turn::Open);  // scrolled up while it writes
  conversation.see(view({"u:second", "a:two", "u:third", "a:three", "a:four"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"three", "four"}));
}

TEST(Conversation, ContinuesBehindTheLastInputAfterAClear) {
  ConversationTracker conversation;
  conversation.see(view({"u:go", "a:done"}), Turn::Over);
  conversation.see(view({"u:something else", "a:fresh"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"fresh"});
}

}  // namespace
}  // namespace relay::profiles
