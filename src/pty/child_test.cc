#include "pty/child.h"

#include <gtest/gtest.h>

#include <csignal>

#include "pty/testing/child_recorder.h"

namespace relay::pty {
namespace {

using net::testing::run_until;
using testing::ChildRecorder;
using testing::is_gone;
using testing::shell;

constexpr std::size_t kFloodBytes = 50 * 1024 * 1024;

TEST(Child, ReadsInputAndWritesOutput) {
  ChildRecorder recorder{shell("stty -echo; echo go; read line; echo \"<$line>\"")};
  ASSERT_TRUE(recorder.wait_for("go"));
  EXPECT_EQ(recorder.child->write("hello\r"), 6U);
  EXPECT_TRUE(recorder.wait_for("<hello>"));
  EXPECT_TRUE(recorder.wait_exit());
}

TEST(Child, ReportsItsExitCodeAfterTheLastOutput) {
  ChildRecorder recorder{shell("stty raw; head -c 300000 /dev/zero; exit 7")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 7}));
  EXPECT_EQ(recorder.output_bytes, 300'000U);
  EXPECT_EQ(recorder.calls_after_exit, 0);
}

TEST(Child, ReportsTheSignalThatEndedIt) {
  ChildRecorder recorder{shell("kill -USR1 $$")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGUSR1}));
}

TEST(Child, CanFloodOutputWhileItGetsInput) {
  ChildRecorder recorder{shell("stty raw -echo; echo go; head -c 52428800 /dev/zero; head -c 200000 | wc -c")};
  ASSERT_TRUE(recorder.wait_for("go"));
  const std::string typed(200'000, 'k');
  std::size_t taken = recorder.child->write(typed);
  EXPECT_EQ(taken, typed.size()) << "it fits the queue before the child reads";
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_GE(recorder.output_bytes, kFloodBytes + 6);
  EXPECT_LE(recorder.output_bytes, kFloodBytes + 16);
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 0}));
}

TEST(Child, BoundsInputThatIsNeverRead) {
  ChildRecorder recorder{shell("stty raw -echo; echo go; exec sleep 1000")};
  ASSERT_TRUE(recorder.wait_for("go"));
  const std::string block(100'000, 'k');
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += recorder.child->write(block);
  EXPECT_LT(taken, 10 * block.size());
  EXPECT_EQ(recorder.child->input_waiting(), kMaxInputBytes);
  EXPECT_EQ(recorder.child->write("x"), 0U);
}

TEST(Child, GetsAllInputInOrder) {
  ChildRecorder recorder{shell("stty raw -echo; echo go; head -c 3000000 | sha256sum")};
  ASSERT_TRUE(recorder.wait_for("go"));
  std::string all;
  for (int i = 0; all.size() < 3'000'000; ++i) all += std::to_string(i) + ",";
  all.resize(3'000'000);
  std::size_t given = 0;
  const auto give = [&] { given += recorder.child->write(std::string_view{all}.substr(given)); };
  recorder.when_input_written = give;
  give();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(given, all.size());
  ChildRecorder expected{shell("seq -s , 0 500000 | head -c 3000000 | sha256sum")};
  EXPECT_TRUE(expected.wait_exit());
  EXPECT_EQ(recorder.output.substr(recorder.output.find("go") + 3, 64), expected.output.substr(0, 64));
}

TEST(Child, WaitsWhileItsOutputIsPaused) {
  ChildRecorder recorder{shell("stty raw; echo go; head -c 1000000 /dev/zero; exit 3")};
  recorder.when_output = [&] { recorder.child->pause_output(); };
  ASSERT_TRUE(recorder.wait_for("go"));
  const auto seen = recorder.output_bytes;
  bool later = false;
  const auto timer = recorder.loop.after(Millis{20}, [&] { later = true; });
  EXPECT_TRUE(run_until(recorder.loop, [&] { return later; }));
  EXPECT_EQ(recorder.output_bytes, seen);
  EXPECT_FALSE(recorder.status);
  recorder.when_output = nullptr;
  recorder.child->resume_output();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output_bytes, 1'000'003U);
}

TEST(Child, KeepsItsLastOutputForAPausedListener) {
  ChildRecorder recorder{shell("echo go; echo last words")};
  recorder.child->pause_output();
  EXPECT_TRUE(run_until(recorder.loop, [&] { return is_gone(recorder.child->pid()); }));
  bool later = false;
  const auto timer = recorder.loop.after(kExitDrainIdle * 2, [&] { later = true; });
  EXPECT_TRUE(run_until(recorder.loop, [&] { return later; }));
  EXPECT_FALSE(recorder.status);
  recorder.child->resume_output();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("last words"));
}

TEST(Child, GetsTheSizeAndItsChanges) {
  ChildRecorder recorder{shell("stty size; trap 'stty size; exit 0' WINCH; echo go; sleep 1000 & wait"), {100, 30}};
  ASSERT_TRUE(recorder.wait_for("go"));
  EXPECT_TRUE(recorder.output.starts_with("30 100\r\n"));
  ASSERT_TRUE(recorder.child->resize({132, 43}));
  EXPECT_TRUE(recorder.wait_for("43 132"));
  EXPECT_TRUE(recorder.wait_exit());
}

TEST(Child, ReportsItsExitWhileAGrandchildKeepsTheTerminal) {
  ChildRecorder recorder{shell("trap '' HUP; sleep 1000 & echo grandchild $!.; exit 4")};
  const auto grandchild = recorder.number_after("grandchild ");
  const auto start = recorder.loop.now().steady;
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_LT(recorder.loop.now().steady - start, kMaxDrainTime);
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 4}));
  EXPECT_FALSE(is_gone(grandchild)) << "the grandchild stays on purpose";
  ::kill(grandchild, SIGKILL);
}

TEST(Child, ReportsItsExitWhileAGrandchildKeepsWriting) {
  ChildRecorder recorder{shell("trap '' HUP; yes & echo grandchild $!.; exit 4")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 4}));
  ::kill(recorder.number_after("grandchild "), SIGKILL);
}

TEST(Child, CanCloseAndReopenItsTerminal) {
  ChildRecorder recorder{shell("exec 0</dev/null 1>&0 2>&0; sleep 0.01; exec 1>/dev/tty; echo back; exit 5")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("back"));
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 5}));
}

TEST(Child, CanBeDestroyedInItsCallback) {
  ChildRecorder recorder{shell("echo go; exec sleep 1000")};
  const auto pid = recorder.child->pid();
  recorder.when_output = [&] { recorder.child.reset(); };
  EXPECT_TRUE(run_until(recorder.loop, [&] { return recorder.child == nullptr; }));
  EXPECT_TRUE(is_gone(pid));
  EXPECT_FALSE(recorder.status);
}

}  // namespace
}  // namespace relay::pty
