#include "host/delivery/delivery.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "net/testing/temporary_directory.h"
#include "protocol/limits.h"

namespace relay::host {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct DeliveryTextTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  MessageFiles texts{directory.path(), {"messages"}};
  IncomingMessage message{.from = "Alice", .id = "abc12345", .to = "", .thread = "", .body = "hello"};

  std::string formatted(std::size_t max_bytes = 8'000) { return text_for_agent(message, max_bytes, texts); }
};

TEST_F(DeliveryTextTest, ShortMessageIsOneLine) {
  EXPECT_EQ(formatted(), "Relay message from Alice [abc12345]: hello");
  EXPECT_FALSE(std::filesystem::exists(directory.file("messages")));
}

TEST_F(DeliveryTextTest, LongMessageIsFileAndStart) {
  message.body = "beginning\n" + std::string(1'000'000, 'x') + "\x1b[201~end";
  const auto text = formatted();
  EXPECT_LT(text.size(), 1'000u);
  EXPECT_TRUE(text.starts_with("Relay message from Alice [abc12345]: beginning xxx"));
  const auto path = directory.file("messages/abc12345.message.md");
  EXPECT_NE(text.find(path), std::string::npos);
  EXPECT_EQ(content_of(path), message.body) << "every byte as it was written";
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DeliveryTextTest, InvisibleCharactersAreMarkedInFile) {
  message.body = std::string(9'000, 'x') + "\npay \U000E0041\u202eBob";
  (void)formatted();
  const auto content = content_of(directory.file("messages/abc12345.message.md"));
  EXPECT_TRUE(content.ends_with("x\npay \\U000e0041\\u202eBob")) << content.substr(content.size() - 40);
}

TEST_F(DeliveryTextTest, IdIsNeverPath) {
  message.id = "../../etc/passwd";
  message.body.assign(9'000, 'x');
  (void)formatted();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{directory.file("messages")}) {
    EXPECT_EQ(entry.path().extension(), ".md");
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

TEST_F(DeliveryTextTest, CommandIsNamedWithoutFile) {
  std::ofstream{directory.file("messages")} << "in the way";
  message.body.assign(9'000, 'x');
  EXPECT_NE(formatted().find("agent-relay read abc12345"), std::string::npos);
}

TEST_F(DeliveryTextTest, TextIsBoundedWithAttachments) {
  for (std::size_t i = 0; i < protocol::kMaxAttachments; ++i)
    message.files.push_back({.name = "f" + std::to_string(i), .path = "/p/" + std::string(i == 0 ? 3'900 : 600, 'x')});
  message.answer_expected = true;
  for (const std::size_t body : {5U, 9'000U})
    for (const std::size_t max_bytes : {8'000U, 3'000U, 1'000U, 120U}) {
      message.body.assign(body, 'x');
      const auto text = formatted(max_bytes);
      EXPECT_LE(text.size(), max_bytes);
      EXPECT_TRUE(text.starts_with("Relay message from Alice [abc12345]: ")) << text;
      if (max_bytes < 1'000) continue;
      EXPECT_NE(text.find("more attached, named by: " + directory.file("messages/abc12345-files.message.md")),
                std::string::npos)
          << text;
      EXPECT_NE(text.find("(answer expected: write to Alice)"), std::string::npos);
    }
  EXPECT_NE(formatted().find("(attached: f1, "), std::string::npos) << "files that fit are named";
  EXPECT_NE(content_of(directory.file("messages/abc12345-files.message.md")).find("(attached: f0, "),
            std::string::npos);
}

TEST_F(DeliveryTextTest, LinkInUntrustedProjectIsNotFollowed) {
  std::filesystem::create_directory(directory.file("elsewhere"));
  std::ofstream{directory.file("elsewhere/precious")} << "mine";
  std::filesystem::create_directory_symlink(directory.file("elsewhere"), directory.file("messages"));
  message.body.assign(9'000, 'x');
  EXPECT_NE(formatted().find("agent-relay read abc12345"), std::string::npos);
  std::filesystem::directory_iterator files{directory.file("elsewhere")};
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(DeliveryTextTest, OldFilesAreRemovedAndOthersKept) {
  std::filesystem::create_directory(directory.file("messages"));
  std::ofstream{directory.file("messages/notes.md")} << "the agent's own";
  message.body.assign(9'000, 'x');
  for (std::size_t i = 0; i < kMaxLongTexts + 5; ++i) {
    message.id = "m" + std::to_string(i);
    (void)formatted();
  }
  std::filesystem::directory_iterator files{directory.file("messages")};
  EXPECT_EQ(static_cast<std::size_t>(std::distance(begin(files), end(files))), kMaxLongTexts + 1);
}

struct DeliveryCase {
  std::string payload = R"({"kind":"message","body":"hi"})", meta = {};
  protocol::DeliveryView view = {};
  WallMs ts = 1'000;

  [[nodiscard]] IncomingMessage read() const {
    protocol::Envelope envelope;
    envelope.type = protocol::MessageType::Deliver;
    envelope.ts = ts;
    envelope.from = "Alice";
    envelope.payload = payload;
    envelope.payload_meta = meta;
    return parse_incoming({{.id = "d-1"}, envelope, view});
  }
};

TEST(MessageOf, ModeOfDaemonPrecedesModeOfSender) {
  DeliveryCase delivery{.meta = R"({"delivery":{"mode":"manual"}})"};
  EXPECT_EQ(delivery.read().mode, protocol::DeliveryMode::Manual);
  delivery.view.mode = protocol::DeliveryMode::OnIdle;
  EXPECT_EQ(delivery.read().mode, protocol::DeliveryMode::OnIdle);
}

TEST(MessageOf, ExpiresAtDeadlineOrTtlWhicheverIsFirst) {
  EXPECT_FALSE((DeliveryCase{}.read().expires_at));
  EXPECT_EQ((DeliveryCase{.meta = R"({"ttl_ms":500,"delivery":{"deadline":9000}})"}.read().expires_at), 1'500);
  EXPECT_EQ((DeliveryCase{.meta = R"({"ttl_ms":50000,"delivery":{"deadline":9000}})"}.read().expires_at), 9'000);
}

TEST(MessageOf, ExpiryOfDeliveryPrecedesThatOfMessage) {
  DeliveryCase delivery{.meta = R"({"ttl_ms":500})"};
  delivery.view.expires_at = 9'000;
  EXPECT_EQ(delivery.read().expires_at, 9'000);
  delivery.view.expires_at = 0;
  EXPECT_FALSE(delivery.read().expires_at) << "redelivered without an end";
}

TEST(MessageOf, ClockBeyondRangeIsNotPast) {
  DeliveryCase delivery{.meta = R"({"ttl_ms":500})", .ts = std::numeric_limits<WallMs>::max()};
  EXPECT_GT(delivery.read().expires_at, 1'000'000'000'000);
}

TEST(MessageOf, ReadsSilentKindAndExpectedAnswer) {
  EXPECT_FALSE((DeliveryCase{}.read().silent));
  EXPECT_TRUE((DeliveryCase{.payload = R"({"kind":"state","body":"busy"})"}.read().silent));
  EXPECT_TRUE((DeliveryCase{.payload = R"({"kind":"ack","body":"ok"})"}.read().silent));
  EXPECT_TRUE((DeliveryCase{.meta = R"({"sync":{"blocking":true,"correlationId":"c"}})"}.read().answer_expected));
}

TEST(MessageOf, ReadsValidAttachments) {
  const DeliveryCase delivery{.payload = R"({"body":"x","data":{"attachments":[{"name":"a","path":"/p/a","bytes":12},)"
                                         R"({"name":"no path"},7,{"path":"/p/-","bytes":-1},{"path":"/p/b"}]}})"};
  const auto files = delivery.read().files;
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name + " " + files[0].path, "a /p/a");
  EXPECT_EQ(files[1].path, "/p/b");
  EXPECT_EQ(files[1].bytes, 0U);
  EXPECT_TRUE((DeliveryCase{.payload = R"({"body":"x","data":{"attachments":"none"}})"}.read().files.empty()));
}

TEST(MessageOf, AttachmentsAreBesideBodyOrInData) {
  for (const auto* payload :
       {R"({"body":"x","attachments":[{"name":"a","path":"/p/a","bytes":12,"mediaType":"text/x"}]})",
        R"({"body":"x","data":{"attachments":[{"name":"a","path":"/p/a","bytes":12,"mediaType":"text/x"}]}})"}) {
    const auto files = DeliveryCase{.payload = payload}.read().files;
    ASSERT_EQ(files.size(), 1U) << payload;
    EXPECT_EQ(commands::attached_line(files[0]), "(attached: a, 12 bytes: /p/a)") << payload;
    EXPECT_EQ(files[0].media_type, "text/x") << payload;
  }
}

}  // namespace
}  // namespace relay::host
