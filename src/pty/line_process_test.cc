#include "pty/line_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "base/format.h"
#include "pty/testing/child_recorder.h"

namespace relay::pty {
namespace {

using net::testing::run_until;
using testing::shell;
using Lines = std::vector<std::string>;

struct LineProcessTest : ::testing::Test, LineProcessListener {
  net::AsioLoop loop;
  std::unique_ptr<LineProcess> helper;
  Lines lines;
  Lines ends;
  std::function<void()> when_line, when_ended;

  void on_line(std::string_view line) override {
    EXPECT_TRUE(ends.empty());
    lines.emplace_back(line);
    if (when_line) when_line();
  }
  void on_ended(const std::string& reason) override {
    ends.push_back(reason);
    if (when_ended) when_ended();
  }

  void start(const std::string& script) {
    auto made = LineProcess::start(loop, shell(script), *this);
    ASSERT_TRUE(made) << made.error().message();
    helper = *std::move(made);
  }
  bool wait_lines(std::size_t count) {
    return run_until(loop, [&] { return lines.size() >= count; });
  }
  bool ended() {
    return run_until(loop, [&] { return !ends.empty(); });
  }
  /// Neither running nor a zombie.
  static bool is_gone(pid_t pid) {
    std::ifstream status{format("/proc/{}/stat", pid)};
    std::string number, name, state;
    status >> number >> name >> state;
    return state.empty() || state == "Z";
  }
};

TEST_F(LineProcessTest, ExchangesLines) {
  start("while read -r line; do echo \"line: $line\"; done");
  helper->write_line("one");
  helper->write_line("");
  helper->write_line("three \xc3\xa4");
  ASSERT_TRUE(wait_lines(3));
  EXPECT_EQ(lines, (Lines{"line: one", "line: ", "line: three \xc3\xa4"}));
  EXPECT_TRUE(ends.empty());
}

TEST_F(LineProcessTest, ReportsOnlyCompleteLines) {
  start("printf 'be'; read -r go; printf 'gin\\nand the rest'");
  helper->write_line("continue");
  ASSERT_TRUE(ended());
  EXPECT_EQ(lines, Lines{"begin"});
}

TEST_F(LineProcessTest, ReportsTheEndOnceAfterTheLastLine) {
  start("echo last; exit 3");
  ASSERT_TRUE(ended());
  EXPECT_EQ(lines, Lines{"last"});
  EXPECT_EQ(ends, Lines{"it has ended"});
  helper->write_line("after the end");
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(LineProcessTest, ReapsTheProgramBeforeItReportsTheEnd) {
  start("echo $$");
  ASSERT_TRUE(ended());
  EXPECT_EQ(::kill(std::stoi(lines.at(0)), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(LineProcessTest, ReportsAMissingProgram) {
  auto command = shell("");
  command.argv = {"no-such-program"};
  const auto made = LineProcess::start(loop, command, *this);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().message().starts_with("command not found: no-such-program")) << made.error().message();
}

TEST_F(LineProcessTest, BoundsALineWithoutEnd) {
  start("while :; do printf '%01024d' 0; done");
  ASSERT_TRUE(ended());
  EXPECT_EQ(ends, Lines{"it wrote a line that is too long"});
  EXPECT_TRUE(lines.empty());
}

TEST_F(LineProcessTest, EndsAProgramThatDoesNotRead) {
  start("echo ready; exec sleep 1000");
  ASSERT_TRUE(wait_lines(1));
  const std::string much(1U << 20, 'x');
  for (int i = 0; i < 8 && ends.empty(); ++i) helper->write_line(much);
  EXPECT_EQ(ends, Lines{"it does not read its input"});
}

TEST_F(LineProcessTest, DeliversEverythingToALateReader) {
  start("read -r first; echo got; while read -r line; do echo ${#line}; done");
  helper->write_line("first");
  ASSERT_TRUE(wait_lines(1));
  for (int i = 0; i < 3; ++i) helper->write_line(std::string(400'000, 'x'));
  ASSERT_TRUE(wait_lines(4));
  EXPECT_EQ(lines, (Lines{"got", "400000", "400000", "400000"}));
}

TEST_F(LineProcessTest, CanBeDestroyedInOnLine) {
  when_line = [&] { helper.reset(); };
  start("echo $$; echo two; sleep 1000");
  ASSERT_TRUE(wait_lines(1));
  const auto pid = std::stoi(lines.at(0));
  EXPECT_TRUE(is_gone(pid));
  EXPECT_EQ(lines.size(), 1U);
  EXPECT_TRUE(ends.empty());
}

TEST_F(LineProcessTest, CanBeDestroyedInOnEnded) {
  when_ended = [&] { helper.reset(); };
  start("exit 0");
  ASSERT_TRUE(ended());
  EXPECT_FALSE(helper);
  ends.clear();
  start("echo ready; exec sleep 1000");
  ASSERT_TRUE(wait_lines(1));
  helper->write_line(std::string(LineProcess::kMaxUnread, 'x'));  // reported from inside the write
  EXPECT_EQ(ends.size(), 1U);
  EXPECT_FALSE(helper);
}

TEST_F(LineProcessTest, EndsDescendantsToo) {
  start("sleep 1000 & echo $!; echo $$; wait");
  ASSERT_TRUE(wait_lines(2));
  const auto grandchild = std::stoi(lines[0]), child = std::stoi(lines[1]);
  EXPECT_FALSE(is_gone(grandchild));
  helper.reset();
  EXPECT_EQ(::kill(child, 0), -1) << "reaped";
  EXPECT_TRUE(run_until(loop, [&] { return is_gone(grandchild); }));
}

}  // namespace
}  // namespace relay::pty
