#include "terminal/query_reply.h"

#include <gtest/gtest.h>

#include "terminal/input_splitter.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;

/// The reply to the queries in `bytes`.
std::string replies_to(std::string_view question) {
  Screen screen = screen_after(question, {100, 30});
  std::string replies;
  for (const auto& seen : reports_of<QueryReceived>(screen)) replies += reply_to_query(seen.query, screen.size());
  return replies;
}

TEST(QueryReply, MatchesAPlainTerminal) {
  EXPECT_EQ(replies_to("\x1b[c"), "\x1b[?62;22c");
  EXPECT_EQ(replies_to("\x1b[5n"), "\x1b[0n");
  EXPECT_EQ(replies_to("\x1b[3;7H\x1b[6n"), "\x1b[3;7R");
  EXPECT_EQ(replies_to("\x1b[>q"), "\x1bP>|agent-relay\x1b\\");
  EXPECT_EQ(replies_to("\x1b[18t"), "\x1b[8;30;100t");
}

TEST(QueryReply, ReportsTheCursorAsOfTheQuery) { EXPECT_EQ(replies_to("\x1b[3;7H\x1b[6n\x1b[1;1H"), "\x1b[3;7R"); }

TEST(QueryReply, ReportsModes) {
  EXPECT_EQ(replies_to("\x1b[?2004h\x1b[?2004$p"), "\x1b[?2004;1$y");
  EXPECT_EQ(replies_to("\x1b[?2026$p"), "\x1b[?2026;2$y");
  EXPECT_EQ(replies_to("\x1b[?4711$p"), "\x1b[?4711;0$y");
  EXPECT_EQ(replies_to("\x1b[>5u\x1b[?u"), "\x1b[?5u");
}

TEST(QueryReply, UsesXtermColors) {
  EXPECT_EQ(replies_to("\x1b]11;?\a"), "\x1b]11;rgb:0000/0000/0000\x1b\\");
  EXPECT_EQ(replies_to("\x1b]4;196;?;232;?\a"),
            "\x1b]4;196;rgb:ffff/0000/0000\x1b\\\x1b]4;232;rgb:0808/0808/0808\x1b\\");
}

TEST(QueryReply, EchoesTheStatusQuery) { EXPECT_EQ(replies_to("\x1b]7501;?\a"), "\x1b]7501;?\x1b\\"); }

TEST(QueryReply, ReportsCapabilitiesAndEchoesNothingInvalid) {
  EXPECT_EQ(replies_to("\x1bP+q436f;6b62\x1b\\"), "\x1bP1+r436f=323536\x1b\\\x1bP0+r6b62\x1b\\");
  EXPECT_EQ(replies_to("\x1bP+q;zz;rm -rf\x1b\\"), "");
}

TEST(QueryReply, IsNeverClassifiedAsTyping) {
  const std::string replies = replies_to(
      "\x1b[c\x1b[>c\x1b[=c\x1b[>q\x1b[5n\x1b[6n\x1b[?6n\x1b[?996n\x1b[4$p\x1b[?1$p\x1b[?u\x1b[?4m\x1b[14t\x1b[16t\x1b["
      "18t"
      "\x1b]4;1;?\a\x1b]10;?\a\x1b]11;?\a\x1b]12;?\a\x1b]7501;?\a\x1bP+q544e\x1b\\\x1bP$qm\x1b\\");
  InputSplitter splitter;
  const auto events = splitter.feed(replies, SteadyTime{});
  EXPECT_EQ(events.size(), 22u);
  for (const auto& event : events) EXPECT_EQ(event.kind, InputKind::Reply) << event.bytes;
}

}  // namespace
}  // namespace relay::terminal
