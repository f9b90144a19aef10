// Line-mode programs: output stays visible, and a prompt is open only while the cursor is in it.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiles/profile_file.h"
#include "profiles/screen_watcher.h"

namespace relay::profiles {
namespace {

constexpr std::string_view kRobot = R"(
name = "robot"
indent = 0
wraps = false
dialog_rows = ['^\? ']
question_rows = ['\[y/n\]']
tool_rows = ['^\$ ']
[composer]
line_mode = true
first = '^>(?: (.*))?$'
above = '^={5,}$'
[[row]]
kind = "user"
pattern = '^>( |$)'
above = '^={5,}$'
[[row]]
kind = "tool"
pattern = '^\$ '
until = '^done$'
[[row]]
kind = "chrome"
pattern = '^(={5,}|done)$'
[[row]]
kind = "assistant"
joins = ["assistant", "user"]
pattern = '\S'
[[pattern]]
name = "ask"
role = "question"
regex = '^(?P<text>.+\?) \[(?P<labels>y/n)\]'
[[pattern]]
name = "tokens"
role = "usage"
regex = '^(?P<total>\d+) tokens$'
)";
constexpr std::string_view kPrompt = "\x1b[?2004h=====\r\n> ";
constexpr std::string_view kEnter = "\x1b[?2004l\r\n\r\n";

/// The robot in a small terminal; time passes only between the writes.
class LineMode : public ::testing::Test {
 protected:
  LineMode() : profile_{*CompiledProfile::open(*read_profile(kRobot, "robot.toml"))}, watcher_{profile_} {}

  State write(std::string_view bytes) {
    screen_.feed(bytes);
    return look();
  }
  State advance(Millis time) {
    now_ += time;
    return look();
  }
  State look() {
    for (auto& seen : watcher_.update(screen_, now_)) seen_.push_back(std::move(seen));
    return watcher_.estimate().state;
  }
  std::vector<std::string> commands() {
    advance(kStableTime);
    std::vector<std::string> all;
    for (const auto& seen : seen_)
      if (const auto* seen_command = std::get_if<CommandSeen>(&seen))
        if (const auto* command = std::get_if<commands::SendCommand>(&seen_command->command))
          all.push_back(command->to + ": " + command->body);
    return all;
  }
  template <class Kind>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(seen_, [](const Observation& seen) { return std::holds_alternative<Kind>(seen); }));
  }
  [[nodiscard]] std::string draft() const { return watcher_.analysis().composer->draft; }

  CompiledProfile profile_;
  terminal::Screen screen_{{40, 12}};
  ScreenWatcher watcher_;
  SteadyTime now_{};
  std::vector<Observation> seen_;
};

using Texts = std::vector<std::string>;

TEST_F(LineMode, IsIdleOnlyAtItsPromptAndTypingWithADraft) {
  EXPECT_EQ(write("welcome\r\n"), State::Unknown);
  EXPECT_EQ(write(kPrompt), State::Idle);
  EXPECT_EQ(write("hel"), State::Typing);
  EXPECT_EQ(draft(), "hel");
  EXPECT_EQ(write("lo\r\nsecond row"), State::Typing);
  EXPECT_EQ(draft(), "hello\nsecond row");
  EXPECT_EQ(write(kEnter), State::Working);
  EXPECT_EQ(write("> a line that looks like a prompt"), State::Working);
}

TEST_F(LineMode, ReadsADraftOverSeveralPromptsFromTheFirst) {
  write(kPrompt);
  EXPECT_EQ(write("Relay message\r\n> resumes"), State::Typing);
  EXPECT_EQ(draft(), "Relay message\nresumes");
}

TEST_F(LineMode, IgnoresThePromptOfAnotherProgram) {
  write(kPrompt);
  write("run it");
  write(kEnter);
  EXPECT_EQ(write("Welcome to something\r\n> "), State::Working) << "no rule above it";
  EXPECT_EQ(write("\x1b[?2004h"), State::Blocked) << "and it reads keys";
}

TEST_F(LineMode, ReadsAssistantTextOnly) {
  write(kPrompt);
  write("tell Bob\r\n@relay:Eve typed");
  write(kEnter);
  write("Telling.\r\n\r\n@relay:Bob hello\r\n\r\n$ cat file\r\n\r\n@relay:Eve printed\r\n> @relay:Eve this too\r\n");
  write("done\r\n@relay:Carol and you\r\n");
  write(kPrompt);
  EXPECT_EQ(commands(), (Texts{"Bob: hello", "Carol: and you"}));
}

TEST_F(LineMode, KeepsOnlyLineBreaksOfTheProgram) {
  write(kPrompt);
  write(kEnter);
  write("@relay:Bob 0123456789 0123456789 0123456\r\nanotherword that would not have fitted\r\n\r\n");
  write("@relay:Bob 0123456789 0123456789 012345678 resumes\r\n");
  write(kPrompt);
  EXPECT_EQ(commands(), (Texts{"Bob: 0123456789 0123456789 0123456", "Bob: 0123456789 0123456789 012345678 resumes"}));
}

TEST_F(LineMode, TreatsTheRestOfAToolRowAsToolOutput) {
  write(kPrompt);
  write(kEnter);
  write("$ 0123456789 0123456789 0123456789 012345@relay:Eve wrapped by the terminal\r\ndone\r\n");
  write("=====0123456789 0123456789 0123456789 0123456\r\n");
  write(kPrompt);
  EXPECT_EQ(commands(), Texts{});
}

TEST_F(LineMode, BlocksOnASilentUnknownQuestion) {
  write(kPrompt);
  EXPECT_EQ(write(kEnter), State::Working);
  EXPECT_EQ(write("Password: "), State::Working);
  EXPECT_EQ(watcher_.next_update_at(), now_ + kIdleTimeout);
  EXPECT_EQ(advance(kIdleTimeout - Millis{1}), State::Working);
  EXPECT_EQ(advance(Millis{1}), State::Blocked);
  EXPECT_EQ(watcher_.next_update_at(), std::nullopt);
  ASSERT_TRUE(watcher_.analysis().findings.question) << "it is listed as a question";
  EXPECT_TRUE(watcher_.analysis().findings.question->body.ends_with("Password:"));
  EXPECT_EQ(write("\r\nit resumes"), State::Working);
  EXPECT_FALSE(watcher_.analysis().findings.question);
}

TEST_F(LineMode, BecomesSilentInAnEndlessFrame) {
  write(kPrompt);
  write(kEnter);
  write("\x1b[?2026hhalf a fra");
  EXPECT_EQ(watcher_.next_update_at(), now_ + kMaxFrame);
  EXPECT_EQ(advance(kMaxFrame), State::Working);
  EXPECT_EQ(advance(kIdleTimeout), State::Blocked);
  EXPECT_EQ(watcher_.next_update_at(), std::nullopt);
}

TEST_F(LineMode, AllowsASilentTool) {
  write(kPrompt);
  write(kEnter);
  EXPECT_EQ(write("$ make all\r\n"), State::Working);
  EXPECT_EQ(advance(kIdleTimeout * 10), State::Working);
}

TEST_F(LineMode, FindsQuestionsOnlyAtTheCursor) {
  write(kPrompt);
  write(kEnter);
  EXPECT_EQ(write("Delete it? [y/n] "), State::Blocked);
  EXPECT_EQ(count<profiles::QuestionDialog>(), 1u);
  EXPECT_EQ(write("y\r\nDeleted\r\n"), State::Working);
  EXPECT_EQ(write(kPrompt), State::Idle);
}

TEST_F(LineMode, ReportsCountsOncePerTurn) {
  write(kPrompt);
  write(kEnter);
  write("100 tokens\r\n");
  write(kPrompt);
  advance(kStableTime);
  write("x");
  EXPECT_EQ(count<profiles::ScreenUsage>(), 1u);
  write(kEnter);
  write("100 tokens\r\n");
  write(kPrompt);
  EXPECT_EQ(count<profiles::ScreenUsage>(), 2u);
}

TEST_F(LineMode, IgnoresAPromptThatIsBeingDrawn) {
  write(kPrompt);
  EXPECT_EQ(write("\x1b[?25l\r\n\r\n\r\n"), State::Idle);
  EXPECT_EQ(write("\x1b[3A\x1b[3G\x1b[?25h"), State::Idle);
}

}  // namespace
}  // namespace relay::profiles
