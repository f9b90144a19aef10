#include "commands/outbox_file.h"

#include <gtest/gtest.h>

namespace relay::commands {
namespace {

TEST(OutboxFile, ReadsWindowsLineEnds) {
  const auto parsed = read_outbox_file("TO: web:Bob\r\nTHREAD: t1\r\nIMPORTANCE: 80\r\n\r\none\r\ntwo\r\n");
  const auto& command = std::get<SendCommand>(parsed);
  EXPECT_EQ(command.to, "Bob");
  EXPECT_EQ(command.project, "web");
  EXPECT_EQ(command.thread, "t1");
  EXPECT_EQ(command.metadata.importance, 80);
  EXPECT_EQ(command.body, "one\ntwo");
}

TEST(OutboxFile, ReadsMetadataFromHeadersAndFromJson) {
  const MessageMetadata expected{.subject = "S", .importance = 80, .reply_to = "m1", .ack_required = true};
  EXPECT_EQ(std::get<SendCommand>(
                read_outbox_file("TO: Bob\nSUBJECT: S\nIMPORTANCE: 80\nREPLY-TO: m1\nACK-REQUIRED: Yes\n\nx"))
                .metadata,
            expected);
  EXPECT_EQ(std::get<SendCommand>(read_outbox_file(R"({"kind":"message","to":"Bob","body":"x","subject":"S",)"
                                                   R"("importance":80,"replyTo":"m1","ackRequired":true})"))
                .metadata,
            expected);
}

TEST(OutboxFile, ErrorNamesMissingPart) {
  for (const auto& [content, word] :
       std::initializer_list<std::pair<const char*, const char*>>{{"KIND: spawn\nNAME: W\n\nx\n", "CLI"},
                                                                  {"KIND: release\n\n", "NAME"},
                                                                  {"THREAD: t\n\nx\n", "TO"},
                                                                  {"TO: Bob\n", "no text"},
                                                                  {"TO: Bob\nno header\n\nx", "no header"},
                                                                  {"{\"kind\":\"message\"}", "\"to\""},
                                                                  {"TO: Bob\nACK-REQUIRED: maybe\n\nx", "ACK-REQUIRED"},
                                                                  {"{oops", "not sent"},
                                                                  {"", "TO"}}) {
    const auto command = read_outbox_file(content);
    ASSERT_TRUE(std::holds_alternative<CommandError>(command)) << content;
    EXPECT_NE(std::get<CommandError>(command).reason.find(word), std::string::npos)
        << std::get<CommandError>(command).reason;
  }
}

TEST(OutboxFile, ReleasesAWorker) {
  EXPECT_EQ(std::get<ReleaseCommand>(read_outbox_file("KIND: release\nNAME: W1\n\n")).name, "W1");
}

}  // namespace
}  // namespace relay::commands
