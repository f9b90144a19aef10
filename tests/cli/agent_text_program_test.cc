// An agent gets exactly the sent text, in any language and of any length, without anything that a terminal, a shell or the
// agent itself would execute.
#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

struct Texts : Agents {
  /// Sends `body` and checks that the agent gets `text`.
  void expect_received(const std::string& body, const std::string& text) {
    SCOPED_TRACE(text);
    const auto id = send("Bob", body);
    ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
    EXPECT_EQ(trace_of(id).proof, "submitted");
    EXPECT_EQ(submitted("Bob").back(), delivered_line(id, text));
    EXPECT_EQ(submitted("Bob").size(), ++sent_);
  }
  std::size_t sent_ = 0;
};

struct Commands : Texts, testing::WithParamInterface<const char*> {};

TEST_P(Commands, AreTextForAgent) {
  start("Bob", *GetParam() != '\0' ? std::vector<std::string>{GetParam()} : std::vector<std::string>{});
  expect_received("!rm -rf .", "!rm -rf .");
  expect_received("/exit", "/exit");
  expect_received("@file #note", "@file #note");
  expect_received("one\r!two\n/exit\r", "one!two /exit");
  expect_received("\x03\x03 after\x04 \x15the\x7f keys", " after the keys");
  expect_received("inside\x1b[201~\r/exit\r", "inside/exit");
  expect_received(
      "\x1b[200~a\x1b]0;title\x07"
      "b\x1b[2J\u009b201~c",
      "ab201~c");
  EXPECT_EQ(count("Bob", "shell"), 0u);
  EXPECT_EQ(count("Bob", "exit"), 0u);
  EXPECT_EQ(typed("Bob", '\r'), sent_) << "one Enter for each message";
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutBracketedPaste, Commands, testing::Values("", "--no-paste", "--alternate"));

TEST_F(Texts, TenLanguagesArriveUnchanged) {
  start("Bob");
  for (const auto* words : {"Grüße aus Köln: süß, größer, Straße", "Où est passé le cœur de l’été ? « Là-bas »",
                            "Быстрая лисица, щука и ёж", "Καλημέρα κόσμε, πώς είσαι;", "你好，世界。请看第十二行。",
                            "こんにちは、世界。テストは緑です。", "안녕하세요, 빌드가 성공했습니다.",
                            "नमस्ते दुनिया, परीक्षण सफल रहा।", "مرحبا بالعالم، نجح الاختبار.", "สวัสดีชาวโลก การทดสอบผ่านแล้ว",
                            "Tiếng Việt: những thử nghiệm đều ổn 👩‍💻👍🏽"})
    expect_received(words, words);
}

TEST_F(Texts, LongTextArrivesWhenComposerShowsOnlyItsEnd) {
  start("Bob");
  std::string body = "start";
  for (int i = 0; i < 150; ++i) body += format(" word{}", i);
  expect_received(body, body);
}

TEST_F(Texts, LongTextArrivesWhenComposerFoldsIt) {
  start("Bob", {"--fold", "200"});
  std::string body = "start";
  for (int i = 0; i < 150; ++i) body += format(" word{}", i);
  expect_received(body, body);
}

/// The contents of a file whose path, relative to the agent's directory, is a word of the text.
std::string referenced_file_contents(const std::string& text, const std::string& directory) {
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    for (; word.contains('/'); word.pop_back()) {  // without punctuation at the end
      const auto path = std::filesystem::path{directory} / word;
      struct stat found{};
      if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
      EXPECT_EQ(found.st_mode & 0077u, 0u) << "others can read " << path;
      return file_contents(path);
    }
  }
  return {};
}

TEST_F(Texts, MegabyteArrivesComplete) {
  start("Bob");
  std::string body = "the start";
  for (int i = 0; body.size() < 1'000'000; ++i) body += format(" {:07}", i);
  const auto id = send("Bob", body);
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  ASSERT_EQ(submitted("Bob").size(), 1u);
  const auto line = submitted("Bob").front();
  EXPECT_TRUE(line.starts_with(delivered_line(id, "the start"))) << line.substr(0, 300);
  EXPECT_TRUE(line == delivered_line(id, body) || referenced_file_contents(line, box.project()) == body)
      << line.substr(0, 300);
  ++sent_;
  expect_received("still here", "still here");
}

}  // namespace
}  // namespace relay::cli_tests
