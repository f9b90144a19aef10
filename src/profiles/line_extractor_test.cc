#include "profiles/line_extractor.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::profiles {
namespace {

using Texts = std::vector<std::string>;

Texts commands_in(const std::vector<commands::Command>& found) {
  Texts texts;
  for (const auto& each : found)
    if (const auto* command = std::get_if<commands::SendCommand>(&each))
      texts.push_back(format("{}: {}", command->to, command->body));
  return texts;
}

Texts commands_of(std::string_view output) {
  LineExtractor extractor;
  auto commands = extractor.feed(output);
  for (auto& last : extractor.finish()) commands.push_back(std::move(last));
  return commands_in(commands);
}

TEST(LineExtractor, ExtractsACommandAtTheStartOfALine) {
  EXPECT_EQ(commands_of("ready\r\n@relay:Bob hello\r\nother\r\n"), Texts{"Bob: hello"});
  EXPECT_EQ(commands_of("->relay:Bob hello\r\n"), Texts{"Bob: hello"});
  EXPECT_EQ(commands_of("\x1b[1;32m@relay:Bob\x1b[0m hello\x1b[K\r\n"), Texts{"Bob: hello"});
  EXPECT_EQ(commands_of("say @relay:Bob hello\r\n"), Texts{});
}

TEST(LineExtractor, RespectsFencesAndEscapes) {
  EXPECT_EQ(commands_of("```\r\n@relay:Bob hello\r\n```\r\n"), Texts{});
  EXPECT_EQ(commands_of("\\@relay:Bob hello\r\n"), Texts{});
}

TEST(LineExtractor, ExtractsTheSameForAnySplit) {
  const std::string output = "a\r\n\x1b[1m@relay:Bob h\xc3\xa9llo\x1b[0m\r\n  more\r\n\x1b[2Aup\r\n";
  const auto whole = commands_of(output);
  for (std::size_t cut = 0; cut <= output.size(); ++cut) {
    LineExtractor extractor;
    auto commands = extractor.feed(output.substr(0, cut));
    for (auto& more : extractor.feed(output.substr(cut))) commands.push_back(std::move(more));
    for (auto& more : extractor.finish()) commands.push_back(std::move(more));
    EXPECT_EQ(commands_in(commands), whole) << "cut at byte " << cut;
  }
}

TEST(LineExtractor, FlushCompletesAMessage) {
  LineExtractor extractor;
  EXPECT_EQ(commands_in(extractor.feed("@relay:Bob hello\r\n")), Texts{}) << "the next line may belong to it";
  EXPECT_EQ(commands_in(extractor.flush()), Texts{"Bob: hello"});
  EXPECT_EQ(commands_in(extractor.flush()), Texts{});
}

TEST(LineExtractor, FlushEndsNeitherALineNorAFence) {
  LineExtractor extractor;
  (void)extractor.feed("```\r\n");
  EXPECT_TRUE(extractor.flush().empty());
  (void)extractor.feed("@relay:Bob not this\r\n```\r\n@relay:Bob ");
  EXPECT_TRUE(extractor.flush().empty());
  (void)extractor.feed("this\r\n");
  EXPECT_EQ(commands_in(extractor.flush()), Texts{"Bob: this"});
}

TEST(LineExtractor, IgnoresARedrawnRow) {
  EXPECT_EQ(
      commands_of("@relay:Bob one\r\nspinner 1\r\n\x1b[2A\x1b[J@relay:Bob one\r\nspinner 2\r\n@relay:Bob two\r\n"),
      (Texts{"Bob: one", "Bob: two"}));
}

TEST(LineExtractor, IgnoresAFullScreenProgram) {
  EXPECT_EQ(commands_of("\x1b[?1049h@relay:Bob one\r\n\x1b[?1049l@relay:Bob two\r\n"), Texts{"Bob: two"});
  EXPECT_EQ(commands_of("\x1b[5;1H@relay:Bob one\r\n"), Texts{});
  EXPECT_EQ(commands_of("\x1b[H\x1b[2J@relay:Bob after clear\r\n"), Texts{"Bob: after clear"});
}

TEST(LineExtractor, ReadsLinesAfterAClear) {
  for (const auto* clear : {"\x1b[H\x1b[2J", "\x1b[2J\x1b[H", "\x1b[H\x1b[J", "\x1b[1;1H\x1b[0J",
                            "\x1b[H\x1b[2J\x1b[3J", "\x1b[3J\x1b[H\x1b[2J", "\x1b[2J\x1b[5;1H\x1b[H",
                            "\x1b"
                            "c"})
    EXPECT_EQ(commands_of(format("before\r\n{}@relay:Bob after clear\r\n", clear)), Texts{"Bob: after clear"})
        << std::string_view{clear}.substr(1);
  EXPECT_EQ(commands_of("@relay:Bob one\r\n\x1b[H@relay:Bob one\r\n"), Texts{"Bob: one"}) << "drawn over";
  EXPECT_EQ(commands_of("\x1b[2J@relay:Bob one\r\n\x1b[H@relay:Bob one\r\n"), Texts{"Bob: one"});
}

TEST(LineExtractor, ReadsLinesAfterAFullScreenProgram) {
  for (const auto* mode : {"47", "1047", "1049"})
    EXPECT_EQ(commands_of(format("before\r\n\x1b[?{0}h\x1b"
                                 "7\x1b[3;1H@relay:Bob one\x1b[24;1H\x1b[?{0}l\x1b"
                                 "8\r\n"
                                 "@relay:Bob two\r\n",
                                 mode)),
              Texts{"Bob: two"})
        << mode;
  EXPECT_EQ(commands_of("\x1b[?1049l@relay:Bob one\r\n"), Texts{"Bob: one"}) << "no alternate screen was active";
}

TEST(LineExtractor, ReadsLinesOnceTheScreenScrolledPastAnAddressedPosition) {
  LineExtractor extractor;
  extractor.set_rows(12);
  (void)extractor.feed("\x1b[10;1H@relay:Bob one\r\n");
  EXPECT_FALSE(extractor.unread_reason().empty());
  (void)extractor.feed("row 11\r\nrow 12\r\n");
  EXPECT_TRUE(extractor.unread_reason().empty());
  (void)extractor.feed("@relay:Bob two\r\n");
  EXPECT_EQ(commands_in(extractor.finish()), Texts{"Bob: two"});
}

TEST(LineExtractor, KeepsALateRestoredCursorOnTheScreen) {
  std::string output = "\x1b[s";
  for (int row = 0; row < 100; ++row) output += "row\r\n";
  output += "\x1b[u";
  for (int row = 0; row < 12; ++row) output += "drawn again\r\n";
  LineExtractor extractor;
  extractor.set_rows(12);
  auto commands = extractor.feed(output + "@relay:Bob below\r\n");
  for (auto& last : extractor.finish()) commands.push_back(std::move(last));
  EXPECT_EQ(commands_in(commands), Texts{"Bob: below"});
}

TEST(LineExtractor, IgnoresTheEchoOfKeys) {
  LineExtractor extractor;
  extractor.on_echoed_keys("@relay:Bob helo\x7flo\r");
  (void)extractor.feed("@relay:Bob helo\b \blo\r\n");
  EXPECT_EQ(commands_in(extractor.flush()), Texts{});
  (void)extractor.feed("@relay:Bob hello\r\n");
  EXPECT_EQ(commands_in(extractor.flush()), Texts{"Bob: hello"}) << "cat prints its input";
  (void)extractor.feed("> ");
  extractor.on_echoed_keys("@relay:Bob again\r");
  (void)extractor.feed("@relay:Bob again\r\n");
  EXPECT_EQ(commands_in(extractor.flush()), Texts{}) << "behind a prompt too";
  extractor.on_echoed_keys("a\rb\r@relay:Bob ahead\r");
  (void)extractor.feed("a\r\nb\r\n@relay:Bob ahead\r\na\r\nb\r\n@relay:Bob ahead\r\n");
  EXPECT_EQ(commands_in(extractor.flush()), Texts{"Bob: ahead"});
  extractor.on_echoed_keys("@relay:Bob half");
  (void)extractor.feed("@relay:Bob half");
  EXPECT_EQ(commands_in(extractor.finish()), Texts{});
}

TEST(LineExtractor, ReplacesAnOverwrittenLine) {
  EXPECT_EQ(commands_of("10 %\r@relay:Bob done\r\n"), Texts{"Bob: done"});
  EXPECT_EQ(commands_of("@relay:Bob gone\r\x1b[Knothing\r\n"), Texts{});
  EXPECT_EQ(commands_of("@relay:Bob helo\b \blo\r\n"), Texts{"Bob: hello"});
}

}  // namespace
}  // namespace relay::profiles
