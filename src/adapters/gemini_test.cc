/// Gemini CLI without hooks: which transcript is followed when its user switches. The transcripts are real ones.
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

constexpr std::string_view kRecordedSession = "9ea10c7e-5cd5-4041-8795-31611739e14c";
constexpr std::string_view kReply = "Of course.\n\n@relay:human hello there\n\nSent.";

Texts lines_of(const std::string& name) {
  std::ifstream file{format("{}/gemini-clear/{}", RELAY_ADAPTERS_TESTDATA, name)};
  Texts lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct GeminiTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  net::AsioLoop loop;
  testing::Recorder recorder;
  std::unique_ptr<Adapter> adapter;
  std::string session;
  std::string log;  // entries of logs.json

  void SetUp() override {
    fs::create_directories(chat(""));
    adapter = make_adapter("gemini", loop);
    pty::Command command{.argv = {"gemini"},
                         .environment = {"HOME=" + directory.path(), "PATH=/bin",
                                         "GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + directory.file("none.json")},
                         .directory = directory.path()};
    adapter->prepare(
        command, {.program = "/opt/relay/agent-relay", .private_file = directory.file("run.json"), .instructions = ""});
    session = command.argv.at(2);
    adapter->start(recorder, 1);
  }
  [[nodiscard]] std::string chat(const std::string& name) const {
    return directory.file(".gemini/tmp/proj/chats/" + name);
  }
  [[nodiscard]] std::string own(const std::string& minute) const {
    return chat(format("session-2026-11-19T{}-{}.jsonl", minute, session.substr(0, 8)));
  }
  /// The line with the current time, and with this session in place of the recorded one.
  [[nodiscard]] std::string now(const std::string& line) const {
    auto text = std::regex_replace(line, std::regex{R"("timestamp": *"[^"]*")"},
                                   format(R"("timestamp":"{}")", text::format_iso_time(loop.now().wall)));
    for (std::size_t at; (at = text.find(kRecordedSession)) != std::string::npos;)
      text.replace(at, kRecordedSession.size(), session);
    return text;
  }
  void write(const std::string& path, const Texts& lines, std::size_t from, std::size_t until) const {
    std::ofstream file{path, std::ios::app};
    for (auto i = from; i < std::min(until, lines.size()); ++i) file << now(lines[i]) << '\n';
  }
  /// Adds a prompt of the process with that session to logs.json.
  void log_prompt(const std::string& text, const std::string& owner) {
    log += format(R"({}  {{"sessionId": "{}", "messageId": 0, "type": "user", "message": "{}", "timestamp": "{}"}})",
                  log.empty() ? "" : ",\n", owner, text, text::format_iso_time(loop.now().wall));
    std::ofstream{directory.file(".gemini/tmp/proj/logs.json"), std::ios::trunc} << "[\n" << log << "\n]";
  }
  /// Makes all written lines older than the next turn.
  void finish_turn() {
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
  bool received(std::size_t count) {
    return until([&] { return recorder.texts.size() >= count; });
  }
  [[nodiscard]] std::string_view output() const { return adapter->capabilities().output; }
  [[nodiscard]] std::string last_failure() const { return recorder.failed.empty() ? "" : recorder.failed.back(); }

  /// The first turn, in the transcript of the chosen session.
  void run_first_turn() {
    write(own("04-39"), before, 0, 2);
    adapter->on_state(State::Idle);
    prompt("say one");
    write(own("04-39"), before, 2, 6);
    ASSERT_TRUE(received(1));
    finish_turn();
  }
  const Texts before = lines_of("before.jsonl"), after = lines_of("after.jsonl");
};

TEST_F(GeminiTest, TextAfterClearIsReportedOnce) {
  run_first_turn();
  const auto cleared = chat("session-2026-11-19T04-39-96ebec51.jsonl");
  log_prompt("/clear", session);
  write(cleared, after, 0, 2);
  prompt("say two");
  write(cleared, after, 2, 6);
  ASSERT_TRUE(received(2));
  EXPECT_EQ(std::ranges::count(recorder.inputs, "say two"), 1) << "a typed message is seen";
  adapter->on_state(State::Idle);
  EXPECT_EQ(recorder.texts, (Texts{std::string{kReply}, std::string{kReply}}));
  EXPECT_EQ(output(), via::kTranscript);
  finish_turn();
  prompt("say one");  // `/resume`: the first transcript continues, with the same ids
  write(own("04-39"), {before.begin(), before.end()}, 2, 6);
  log_prompt("say three", session);
  auto third = before;
  for (auto& line : third) line = std::regex_replace(line, std::regex{"34eddf7d|30315825"}, "aaaaaaaa");
  third[2] = std::regex_replace(third[2], std::regex{"say one"}, "say three");
  write(own("04-39"), third, 2, 6);
  ASSERT_TRUE(received(3));
  adapter->on_state(State::Idle);
  EXPECT_EQ(recorder.texts.size(), 3U) << "repeated entries are not reported again";
}

TEST_F(GeminiTest, TranscriptOfAnotherGeminiInProjectIsNotFollowed) {
  run_first_turn();
  const auto other = chat("session-2026-11-19T04-40-00000001.jsonl");
  auto other_lines = after;
  for (auto& line : other_lines) line = std::regex_replace(line, std::regex{"96ebec51"}, "00000001");
  write(other, other_lines, 0, 2);
  log_prompt("say two", "00000001-7181-4d30-a1f3-3ac87bb074d8");
  prompt("say two");  // a message to both; this session is in another transcript
  write(other, other_lines, 2, 6);
  adapter->on_state(State::Idle);
  ASSERT_TRUE(until([&] { return output().empty(); })) << "the screen is read instead";
  EXPECT_TRUE(last_failure().starts_with("transcript: its last turn is not in its transcript ")) << last_failure();
  EXPECT_EQ(recorder.texts.size(), 1U);

  adapter->on_state(State::Working);
  prompt("say more");  // only one transcript has the next prompt
  auto own_lines = after;
  own_lines[2] = std::regex_replace(own_lines[2], std::regex{"say two"}, "say more");
  write(chat("session-2026-11-19T04-39-96ebec51.jsonl"), own_lines, 0, 6);
  ASSERT_TRUE(received(2));
  EXPECT_EQ(output(), via::kTranscript);
  EXPECT_EQ(recorder.recovered, Texts{"transcript"});
}

TEST_F(GeminiTest, SeveralTranscriptsWithItsPromptAreAFailure) {
  run_first_turn();
  prompt("say two");
  for (const auto* name : {"session-2026-11-19T04-39-96ebec51.jsonl", "session-2026-11-19T04-39-00000001.jsonl"})
    write(chat(name), after, 0, 6);
  adapter->on_state(State::Idle);
  ASSERT_TRUE(until([&] { return output().empty(); }));
  EXPECT_TRUE(last_failure().ends_with("and several others contain the prompt")) << last_failure();
  EXPECT_EQ(recorder.texts.size(), 1U);
}

TEST_F(GeminiTest, CommandInNoTranscriptIsNoFailure) {
  run_first_turn();
  const auto failed_before = recorder.failed;
  prompt("/compress");
  adapter->on_state(State::Idle);
  bool later = false;
  const auto timer = loop.after(Millis{500}, [&] { later = true; });
  ASSERT_TRUE(until([&] { return later; }));
  EXPECT_EQ(recorder.failed, failed_before);
  EXPECT_EQ(output(), via::kTranscript);
}

TEST_F(GeminiTest, PromptIsNotSearchedWhileDialogIsOpen) {
  run_first_turn();
  prompt("say two");
  adapter->on_state(State::Blocked);
  write(chat("session-2026-11-19T04-39-96ebec51.jsonl"), after, 0, 6);
  bool later = false;
  const auto timer = loop.after(Millis{700}, [&] { later = true; });
  ASSERT_TRUE(until([&] { return later; }));
  EXPECT_EQ(recorder.texts.size(), 1U);
  adapter->on_state(State::Working);
  ASSERT_TRUE(received(2));
}

TEST_F(GeminiTest, TranscriptAfterRestartIsFollowed) {
  write(own("04-14"), before, 0, 2);
  adapter->on_state(State::Blocked);  // "Trust folder"
  EXPECT_EQ(output(), via::kTranscript);
  fs::remove(own("04-14"));
  ASSERT_TRUE(until([&] { return output().empty(); }));
  EXPECT_EQ(last_failure(), format("transcript: its transcript {} was removed", own("04-14")));
  write(own("04-15"), before, 0, 2);
  ASSERT_TRUE(until([&] { return output() == via::kTranscript; }));
  EXPECT_EQ(recorder.recovered, Texts{"transcript"});
  prompt("say one");
  write(own("04-15"), before, 2, 6);
  ASSERT_TRUE(received(1));
  EXPECT_EQ(recorder.inputs, (Texts{"say one"})) << "the typed message is seen";
}

}  // namespace
}  // namespace relay::adapters
