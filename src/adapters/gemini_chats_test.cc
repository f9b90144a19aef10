#include "adapters/gemini_chats.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/format.h"
#include "net/testing/temporary_directory.h"
#include "text/iso_time.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStartedWith = "9ea10c7e-5cd5-4041-8795-31611739e14c";
const std::string kChatsOfClear = format("{}/gemini-clear/", RELAY_ADAPTERS_TESTDATA);

WallMs at(std::string_view time) { return *text::parse_iso_time(time); }

struct GeminiChatsTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  void SetUp() override {
    fs::create_directories(directory.file("tmp/proj/chats/sub"));
    for (const auto* name : {"before.jsonl", "after.jsonl"}) fs::copy_file(kChatsOfClear + name, chat(name));
  }
  [[nodiscard]] std::string chat(const std::string& name) const { return directory.file("tmp/proj/chats/" + name); }
};

TEST_F(GeminiChatsTest, PromptIdentifiesTranscriptAfterClear) {
  auto prompts = read_gemini_prompts(kChatsOfClear + "logs.json", kStartedWith, at("2026-11-19T04:39:14Z"), 0);
  ASSERT_TRUE(prompts.readable);
  ASSERT_EQ(prompts.own.size(), 1U);
  EXPECT_EQ(prompts.own[0].text, "say two") << "under the session of the start";
  EXPECT_TRUE(prompts.others.empty());
  auto found = find_gemini_chat(chat(""), prompts);
  EXPECT_EQ(found.path, chat("after.jsonl"));
  EXPECT_EQ(found.session, "96ebec51-7181-4d30-a1f3-3ac87bb074d8");

  fs::copy_file(chat("after.jsonl"), chat("sub/after.jsonl"));
  fs::create_symlink(chat("after.jsonl"), chat("link.jsonl"));
  EXPECT_EQ(find_gemini_chat(chat(""), prompts).path, chat("after.jsonl")) << "without subagents and links";
  prompts.others.insert(found.session);
  EXPECT_EQ(find_gemini_chat(chat(""), prompts).path, "");
}

TEST_F(GeminiChatsTest, GeminiCommandIsNoPrompt) {
  auto prompts = read_gemini_prompts(kChatsOfClear + "logs.json", kStartedWith, at("2026-11-19T04:39:10Z"), 0);
  EXPECT_TRUE(has_model_prompt(prompts));
  prompts.own.pop_back();
  EXPECT_EQ(prompts.own.back().text, "/clear");
  EXPECT_FALSE(has_model_prompt(prompts));
  EXPECT_EQ(find_gemini_chat(chat(""), prompts).path, "");
}

TEST_F(GeminiChatsTest, AnyBytesAreAccepted) {
  for (const auto* bytes : {"", "[", "{}", "[1,{\"sessionId\":7}]", "[{\"sessionId\":\"x\"}]", "\xff\xfe"}) {
    std::ofstream{directory.file("logs.json"), std::ios::trunc} << bytes;
    EXPECT_TRUE(read_gemini_prompts(directory.file("logs.json"), "x", 0, 0).own.empty()) << bytes;
  }
  EXPECT_FALSE(read_gemini_prompts(directory.file("none.json"), "x", 0, 0).readable);
  for (const auto* bytes : {"", "{}\n", "[]\n{\"type\":\"user\"}\n", "\xff\n\"user\"\n"}) {
    std::ofstream{chat("after.jsonl"), std::ios::trunc} << bytes;
    EXPECT_EQ(find_gemini_chat(chat(""), {.readable = true, .own = {{"say two", 1}}}).path, "") << bytes;
  }
}

TEST_F(GeminiChatsTest, OnlyEndOfLongLogIsRead) {
  std::string log = "[";
  for (int i = 0; i < 8'000; ++i)
    log +=
        format("{}\n  {{\n    \"sessionId\": \"{}\",\n    \"message\": \"prompt {}\",\n    \"timestamp\": \"{}\"\n  }}",
               i == 0 ? "" : ",", kStartedWith, i, text::format_iso_time(at("2026-11-19T04:00:00Z") + i));
  std::ofstream{directory.file("logs.json")} << log << "\n]";
  const auto prompts =
      read_gemini_prompts(directory.file("logs.json"), kStartedWith, at("2026-11-19T04:00:00Z") + 7'998, 0);
  ASSERT_EQ(prompts.own.size(), 2U);
  EXPECT_EQ(prompts.own[1].text, "prompt 7999");
}

TEST_F(GeminiChatsTest, NewestTranscriptOfSessionIsFoundByItsName) {
  for (const auto* minute : {"04-15", "04-14"})
    std::ofstream{chat(format("session-2026-11-19T{}-{}.jsonl", minute, kStartedWith.substr(0, 8)))} << "{}\n";
  EXPECT_EQ(find_gemini_chat_of(directory.file("tmp"), kStartedWith), chat("session-2026-11-19T04-15-9ea10c7e.jsonl"));
  EXPECT_EQ(find_gemini_chat_of(directory.file("none"), kStartedWith), "");
}

}  // namespace
}  // namespace relay::adapters
