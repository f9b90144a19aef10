#include "cli/wire/message.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::cli {
namespace {

Context plain_context() {
  Context context;
  context.columns = 80;
  return context;
}

MessageRow message(std::string body) {
  MessageRow made;
  made.id = "7kq2m9xa";
  made.from = "Alice";
  made.to = "Bob";
  made.kind = "message";
  made.body = std::move(body);
  return made;
}

TEST(Messages, AreParsedFromResponse) {
  const auto messages = parse_page(R"({"messages":[{"id":"a","key":7,"from":"Alice","to":"Bob","body":"hi",
      "timestamp":1748779200000,"status":"delivered","kind":"message"}]})")
                            .value()
                            .messages;
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].key, 7);
  EXPECT_EQ(messages[0].body, "hi");
  EXPECT_EQ(messages[0].timestamp, 1'748'779'200'000);
}

TEST(Messages, ErrorInResponseIsReturned) {
  EXPECT_EQ(parse_page(R"({"error":"the store is closed","messages":[]})").error().message(),
            "the daemon refused: the store is closed");
  EXPECT_FALSE(parse_page("{}").has_value());
  EXPECT_FALSE(parse_page("[]").has_value());
}

TEST(MessageLine, IsAlwaysOneLine) {
  const auto line = message_line(message("one\ntwo\x1b[2J"), plain_context());
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_NE(line.find("Alice → Bob"), std::string::npos);
  EXPECT_NE(line.find("one two^[[2J"), std::string::npos);
}

TEST(MessageLine, MarksMessagesOfUser) {
  const auto rows = [](std::string_view more) {
    return parse_page(format(R"({{"messages":[{{"id":"a","from":"ann","to":"Bob","body":"hi"{}}}]}})", more))
        .value()
        .messages[0];
  };
  EXPECT_NE(message_line(rows(R"(,"as":"user")"), plain_context()).find("ann (user) → Bob"), std::string::npos);
  EXPECT_NE(message_line(rows(""), plain_context()).find("ann → Bob"), std::string::npos);
  EXPECT_NE(message_page(rows(R"(,"as":"user")"), plain_context()).find("ann (user)\n"), std::string::npos);
}

TEST(MessageLine, IsTruncatedOnlyOnTerminal) {
  auto context = plain_context();
  EXPECT_NE(message_line(message(std::string(500, 'x')), context).find(std::string(500, 'x')), std::string::npos);
  context.to_terminal = true;
  EXPECT_LE(display_width(message_line(message(std::string(500, 'x')), context)), 82U);
}

TEST(MessageLine, HasSeparateRouteLineWhenNarrow) {
  auto context = plain_context();
  context.to_terminal = true;
  context.columns = 40;
  auto from_user = message("hello");
  from_user.from = "tester";
  from_user.to = "Bob";
  from_user.as_user = true;
  const auto line = message_line(from_user, context, 2, nullptr);
  EXPECT_TRUE(line.contains("\n    tester (user) ")) << line;
  EXPECT_TRUE(line.ends_with("\n    hello\n")) << line;
}

TEST(MessageLine, HasSeparateBodyLineWhenNarrow) {
  auto context = plain_context();
  context.to_terminal = true;
  context.columns = 40;
  bool cut = false;
  const auto line = message_line(message(std::string(500, 'x')), context, 0, &cut);
  EXPECT_TRUE(cut);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 2);
  for (std::size_t begin = 0; begin < line.size();) {
    const auto end = line.find('\n', begin);
    EXPECT_LE(display_width(line.substr(begin, end - begin)), 40U) << line;
    begin = end + 1;
  }
}

TEST(MessageLine, ShowsReplyAndImportance) {
  auto reply = message("done");
  reply.kind = "action";
  reply.reply_to = "k7mx2p9d";
  reply.importance = 80;
  EXPECT_TRUE(message_line(reply, plain_context()).ends_with("[action] [reply:k7mx2p9d] [!!] done\n"));
  const auto page = message_page(reply, plain_context());
  EXPECT_TRUE(page.contains("reply to k7mx2p9d\n")) << page;
  EXPECT_TRUE(page.contains("importance 80\n")) << page;
}

TEST(MessagePage, ShowsTheWholeBody) {
  const auto page = message_page(message("one\ntwo"), plain_context());
  EXPECT_NE(page.find("\none\ntwo\n"), std::string::npos);
  EXPECT_NE(page.find("from     Alice\n"), std::string::npos);
}

TEST(MessagePage, ListsAttachments) {
  auto with_file = message("see the file");
  with_file.raw = parse_json_object(R"({"attachments":[
      {"name":"my report.txt","path":"/p/.agent-relay/attachments/ab-my_report.txt","bytes":1400,"sha256":"ab"},
      "no object", {"name":"\u001b[2J"}]})")
                      .value();
  const auto page = message_page(with_file, plain_context());
  EXPECT_NE(page.find("file     my report.txt (1.4 kB)  /p/.agent-relay/attachments/ab-my_report.txt\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace relay::cli
