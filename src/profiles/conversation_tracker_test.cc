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
  conversation.update(view({"u:hello"}), Turn::Ended);
  conversation.update(view({"u:hello", "a:hi th"}), Turn::Open);
  conversation.update(view({"u:hello", "a:hi there"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"hi there"});
  conversation.update(view({"u:hello", "a:hi there"}), Turn::Ended);
  EXPECT_TRUE(end_turn(conversation).empty());
}

TEST(Conversation, TreatsEqualTextInALaterTurnAsNew) {
  ConversationTracker conversation;
  conversation.update(view({"u:go"}), Turn::Ended);
  conversation.update(view({"u:go", "a:done"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"done"});
  conversation.update(view({"u:go", "a:done", "u:go"}), Turn::Ended);
  conversation.update(view({"u:go", "a:done", "u:go", "a:done"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"done"});
}

TEST(Conversation, KeepsTextThatScrolledOffDuringTheTurn) {
  ConversationTracker conversation;
  conversation.update(view({"u:go"}), Turn::Ended);
  conversation.update(view({"u:go", "a:one", "a:two"}), Turn::Open);
  conversation.update(view({"a:one", "a:two", "a:three"}), Turn::Open);
  conversation.update(view({"a:three", "a:four"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"one", "two", "three", "four"}));
}

TEST(Conversation, FrameDrawnInPartRepeatsNoText) {
  ConversationTracker conversation;
  conversation.update(view({"u:a"}), Turn::Ended);
  conversation.update(view({"u:a", "a:done", "u:b", "a:command", "u:c"}), Turn::Open);
  conversation.update(view({"a:done", "u:b", "a:command", "u:c", "a:done"}), Turn::Open);
  conversation.update(view({"a:done", "u:b", "a:command", "u:c", "u:d", "a:done"}),
                      Turn::Open);  // the lower part is old
  conversation.update(view({"a:done", "u:b", "a:command", "u:c", "a:done", "u:d"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"done", "command", "done"}));
}

TEST(Conversation, KeepsAParagraphWhoseTopIsCutOff) {
  ConversationTracker conversation;
  conversation.update(view({"u:go"}), Turn::Ended);
  conversation.update(view({"u:go", "a:a long paragraph", "a:next"}), Turn::Open);
  conversation.update(view({"a:paragraph", "a:next", "a:last"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"a long paragraph", "next", "last"}));
}

TEST(Conversation, AcceptsAHeadingThatStaysAtTheTop) {
  ConversationTracker conversation;
  conversation.update(view({"u:first", "a:old"}), Turn::Ended);
  conversation.update(view({"u:first", "a:old", "u:second", "a:one"}), Turn::Open);
  conversation.update(view({"u:second", "a:one", "a:two"}), Turn::Open);
  conversation.update(view({"u:second", "a:two", "a:three"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"one", "two", "three"}));
}

TEST(Conversation, IgnoresARedrawBetweenTurns) {
  ConversationTracker conversation;
  conversation.update(view({"u:go"}), Turn::Ended);
  conversation.update(view({"u:go", "a:done"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"done"});
  conversation.update(view({"a:done", "u:go", "a:done"}), Turn::Ended);  // drawn again below itself after a resize
  EXPECT_TRUE(end_turn(conversation).empty());
  conversation.update(view({"u:go", "a:done", "u:more", "a:new"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"new"});
}

TEST(Conversation, RepeatsNothingWhenTheUserScrolls) {
  ConversationTracker conversation;
  conversation.update(view({"u:first", "a:one"}), Turn::Ended);
  conversation.update(view({"u:first", "a:one", "u:second", "a:two"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"two"});
  conversation.update(view({"u:first", "a:one", "u:second", "a:two"}), Turn::Ended);
  conversation.update(view({"u:first", "a:one", "u:second"}), Turn::Ended);  // scrolled up
  conversation.update(view({"u:second", "a:two", "u:third", "a:three"}), Turn::Open);
  conversation.update(view({"u:first", "a:one"}), Turn::Open);  // scrolled up while it writes
  conversation.update(view({"u:second", "a:two", "u:third", "a:three", "a:four"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), (Texts{"three", "four"}));
}

TEST(Conversation, ContinuesBehindTheLastInputAfterAClear) {
  ConversationTracker conversation;
  conversation.update(view({"u:go", "a:done"}), Turn::Ended);
  conversation.update(view({"u:something else", "a:fresh"}), Turn::Open);
  EXPECT_EQ(end_turn(conversation), Texts{"fresh"});
}

}  // namespace
}  // namespace relay::profiles
