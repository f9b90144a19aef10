/// Gemini CLI without hooks: which record is followed, as its user goes over from one to another. The records are real ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "adapters/adapter.h"
#include "adapters/testing/recorder.h"
#include "base/format.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "text/iso_time.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;
using net::testing::run_until;
using profiles::State;
using Texts = std::vector<std::string>;

constexpr std::string_view kSessionOfRecord = "9ea10c7e-5cd5-4041-8795-31611739e14c";
constexpr std::string_view kSaid = "Of course.\n\n@relay:human hello there\n\nSent.";

Texts lines_of(const std::string& name) {
  std::ifstream file{format("{}/gemini-clear/{}", RELAY_ADAPTERS_TESTDATA, name)};
  Texts lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct GeminiTest : ::testing::Test {
  net::testing::TemporaryDirectory place;
  net::AsioLoop loop;
  testing::Recorder told;
  std::unique_ptr<Adapter> adapter;
  std::string session;
  std::string logged;  // entries of logs.json

  void SetUp() override {
    fs::create_directories(chat(""));
    adapter = adapter_for("gemini", loop);
    pty::Command command{.argv = {"gemini"},
                         .environment = {"HOME=" + place.path(), "PATH=/bin",
                                         "GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + place.file("none.json")},
                         .directory = place.path()};
    adapter->prepare(command,
                     {.program = "/opt/relay/agent-relay", .private_file = place.file("run.json"), .instructions = ""});
    session = command.argv.at(2);
    adapter->start(told, 1);
  }
  [[nodiscard]] std::string chat(const std::string& name) const { return place.file(".gemini/tmp/proj/chats/" + name); }
  [[nodiscard]] std::string own(const std::string& minute) const {
    return chat(format("session-2026-11-19T{}-{}.jsonl", minute, session.substr(0, 8)));
  }
  /// As if it was written now, by our session where the real one was it.
  [[nodiscard]] std::string now(const std::string& line) const {
    auto text = std::regex_replace(line, std::regex{R"("timestamp": *"[^"]*")"},
                                   format(R"("timestamp":"{}")", text::format_iso_time(loop.now().wall)));
    for (std::size_t at; (at = text.find(kSessionOfRecord)) != std::string::npos;)
      text.replace(at, kSessionOfRecord.size(), session);
    return text;
  }
  void write(const std::string& path, const Texts& lines, std::size_t from, std::size_t until) const {
    std::ofstream file{path, std::ios::app};
    for (auto i = from; i < std::min(until, lines.size()); ++i) file << now(lines[i]) << '\n';
  }
  /// A user typed that, into the process of that session.
  void log_prompt(const std::string& text, const std::string& whose) {
    logged += format(R"({}  {{"sessionId": "{}", "messageId": 0, "type": "user", "message": "{}", "timestamp": "{}"}})",
                     logged.empty() ? "" : ",\n", whose, text, text::format_iso_time(loop.now().wall));
    std::ofstream{place.file(".gemini/tmp/proj/logs.json"), std::ios::trunc} << "[\n" << logged << "\n]";
  }
  /// What was written until now is older than the turn that begins.
  void rest() {
    const auto last = loop.now().wall;
    ASSERT_TRUE(until([&] { return loop.now().wall > last; })) << "a turn takes longer than the clock's millisecond";
    adapter->on_state(State::Working);
    adapter->on_state(State::Idle);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours{1};
    for (const auto& file : fs::directory_iterator{chat("")}) fs::last_write_time(file.path(), old);
  }
  void prompt(const std::string& text) {
    log_prompt(text, session);
    adapter->on_state(State::Working);
  }
  bool until(const std::function<bool()>& check) { return run_until(loop, check); }
  bool heard(std::size_t count) {
    return until([&] { return told.heard.size() >= count; });
  }
  [[nodiscard]] std::string_view heard_by() const { return adapter->capabilities().output; }
  [[nodiscard]] std::string broken() const { return told.broken.empty() ? "" : told.broken.back(); }

  /// The first turn, in the record of the session that was chosen for it.
  void begin() {
    write(own("04-39"), before, 0, 2);
    adapter->on_state(State::Idle);
    prompt("say one");
    write(own("04-39"), before, 2, 6);
    ASSERT_TRUE(heard(1));
    rest();
  }
  const Texts before = lines_of("before.jsonl"), after = lines_of("after.jsonl");
};

TEST_F(GeminiTest, WhatItSaysAfterClearIsHeardOnce) {
  begin();
  const auto cleared = chat("session-2026-11-19T04-39-96ebec51.jsonl");
  log_prompt("/clear", session);
  write(cleared, after, 0, 2);
  prompt("say two");
  write(cleared, after, 2, 6);
  ASSERT_TRUE(heard(2));
  EXPECT_EQ(std::ranges::count(told.given, "say two"), 1) << "a message that was typed is seen";
  adapter->on_state(State::Idle);
  EXPECT_EQ(told.heard, (Texts{std::string{kSaid}, std::string{kSaid}}));
  EXPECT_EQ(heard_by(), way::kTranscript);
  rest();
  prompt("say one");  // `/resume`: the first record goes on, under the ids it had
  write(own("04-39"), {before.begin(), before.end()}, 2, 6);
  log_prompt("say three", session);
  auto third = before;
  for (auto& line : third) line = std::regex_replace(line, std::regex{"34eddf7d|30315825"}, "aaaaaaaa");
  third[2] = std::regex_replace(third[2], std::regex{"say one"}, "say three");
  write(own("04-39"), third, 2, 6);
  ASSERT_TRUE(heard(3));
  adapter->on_state(State::Idle);
  EXPECT_EQ(told.heard.size(), 3U) << "what it repeats was heard before";
}

TEST_F(GeminiTest, RecordOfAnotherGeminiInTheProjectIsNotTakenForOurs) {
  begin();
  const auto other = chat("session-2026-11-19T04-40-00000001.jsonl");
  auto theirs = after;
  for (auto& line : theirs) line = std::regex_replace(line, std::regex{"96ebec51"}, "00000001");
  write(other, theirs, 0, 2);
  log_prompt("say two", "00000001-7181-4d30-a1f3-3ac87bb074d8");
  prompt("say two");  // a message to both; our record has gone elsewhere
  write(other, theirs, 2, 6);
  adapter->on_state(State::Idle);
  ASSERT_TRUE(until([&] { return heard_by().empty(); })) << "then the screen is heard";
  EXPECT_TRUE(broken().starts_with("transcript: its last turn is not in its record ")) << broken();
  EXPECT_EQ(told.heard.size(), 1U);

  adapter->on_state(State::Working);
  prompt("say more");  // and it is found with the next prompt that only it has
  auto ours = after;
  ours[2] = std::regex_replace(ours[2], std::regex{"say two"}, "say more");
  write(chat("session-2026-11-19T04-39-96ebec51.jsonl"), ours, 0, 6);
  ASSERT_TRUE(heard(2));
  EXPECT_EQ(heard_by(), way::kTranscript);
  EXPECT_EQ(told.mended, Texts{"transcript"});
}

TEST_F(GeminiTest, SeveralRecordsWithItsPromptAreToldAsNone) {
  begin();
  prompt("say two");
  for (const auto* name : {"session-2026-11-19T04-39-96ebec51.jsonl", "session-2026-11-19T04-39-00000001.jsonl"})
    write(chat(name), after, 0, 6);
  adapter->on_state(State::Idle);
  ASSERT_TRUE(until([&] { return heard_by().empty(); }));
  EXPECT_TRUE(broken().ends_with("and several others hold the prompt")) << broken();
  EXPECT_EQ(told.heard.size(), 1U);
}

TEST_F(GeminiTest, CommandThatIsInNoRecordBreaksNothing) {
  begin();
  const auto broken_before = told.broken;
  prompt("/compress");
  adapter->on_state(State::Idle);
  bool later = false;
  const auto timer = loop.after(Millis{500}, [&] { later = true; });
  ASSERT_TRUE(until([&] { return later; }));
  EXPECT_EQ(told.broken, broken_before);
  EXPECT_EQ(heard_by(), way::kTranscript);
}

TEST_F(GeminiTest, PromptInNoRecordIsNotLookedForWhileADialogIsOpen) {
  begin();
  prompt("say two");
  adapter->on_state(State::Blocked);
  write(chat("session-2026-11-19T04-39-96ebec51.jsonl"), after, 0, 6);
  bool later = false;
  const auto timer = loop.after(Millis{700}, [&] { later = true; });
  ASSERT_TRUE(until([&] { return later; }));
  EXPECT_EQ(told.heard.size(), 1U);
  adapter->on_state(State::Working);
  ASSERT_TRUE(heard(2));
}

TEST_F(GeminiTest, RecordOfAGeminiThatStartedItselfAnewIsFollowed) {
  write(own("04-14"), before, 0, 2);
  adapter->on_state(State::Blocked);  // "Trust folder"
  EXPECT_EQ(heard_by(), way::kTranscript);
  fs::remove(own("04-14"));
  ASSERT_TRUE(until([&] { return heard_by().empty(); }));
  EXPECT_EQ(broken(), format("transcript: its record {} was removed", own("04-14")));
  write(own("04-15"), before, 0, 2);
  ASSERT_TRUE(until([&] { return heard_by() == way::kTranscript; }));
  EXPECT_EQ(told.mended, Texts{"transcript"});
  prompt("say one");
  write(own("04-15"), before, 2, 6);
  ASSERT_TRUE(heard(1));
  EXPECT_EQ(told.given, (Texts{"say one"})) << "and the message that was typed is seen";
}

}  // namespace
}  // namespace relay::adapters
