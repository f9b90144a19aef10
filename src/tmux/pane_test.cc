#include "tmux/pane.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tmux/testing/pane_recorder.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using testing::PaneRecorder;
using testing::shell;

TEST(Pane, ReadsInputAndWritesOutput) {
  PaneRecorder recorder{shell("stty -echo; echo go; read line; echo \"<$line>\"")};
  EXPECT_EQ(recorder.pane->session(), "relay-Alice");
  EXPECT_EQ(recorder.sessions(), "relay-Alice\n");
  ASSERT_TRUE(recorder.wait_for("go"));
  EXPECT_EQ(recorder.pane->write("hello\r"), 6U);
  EXPECT_TRUE(recorder.wait_for("<hello>"));
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 0}));
  EXPECT_FALSE(recorder.sessions().contains("relay-Alice")) << "the name is free once on_exit was called";
}

TEST(Pane, LosesNoOutput) {
  for (int run = 0; run < 20; ++run) {
    PaneRecorder recorder{shell("echo first and last words")};
    ASSERT_TRUE(recorder.wait_exit());
    ASSERT_EQ(recorder.output, "first and last words\r\n") << "run " << run;
  }
}

TEST(Pane, ReportsItsExitCodeAfterTheLastOutput) {
  PaneRecorder recorder{shell("stty raw; head -c 300000 /dev/zero; exit 7")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 7}));
  EXPECT_EQ(recorder.output_bytes, 300'000U);
  EXPECT_EQ(recorder.calls_after_exit, 0);
}

TEST(Pane, ReportsTheSignalThatEndedIt) {
  PaneRecorder recorder{shell("kill -USR1 $$")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGUSR1}));
}

TEST(Pane, PassesTenMegabytesInOrder) {
  PaneRecorder recorder{shell("stty raw; seq 1 1500000")};
  EXPECT_TRUE(recorder.wait_exit());
  std::string expected;
  for (int i = 1; i <= 1'500'000; ++i) expected.append(std::to_string(i)).push_back('\n');
  EXPECT_GT(expected.size(), 10U * 1024 * 1024);
  EXPECT_TRUE(recorder.output == expected) << recorder.output_bytes << " of " << expected.size() << " bytes";
}

TEST(Pane, PassesEveryByteOut) {
  std::string all;
  std::string script = "stty raw; printf '";
  for (int value = 0; value < 256; ++value) {
    all.push_back(static_cast<char>(value));
    script += format("\\{:03o}", value);
  }
  PaneRecorder recorder{shell(script + "'")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output, all);
}

TEST(Pane, PassesSplitCharacters) {
  PaneRecorder recorder{shell("stty -echo; printf '\\342'; read line; printf '\\202'; read line; printf '\\254'")};
  ASSERT_TRUE(recorder.wait_for("\xe2")) << "incomplete characters are not held";
  recorder.pane->write("\r");
  ASSERT_TRUE(recorder.wait_for("\xe2\x82"));
  recorder.pane->write("\r");
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output, "\xe2\x82\xac");
}

TEST(Pane, PassesEveryByteIn) {
  std::string all;
  for (int value = 0; value < 256; ++value) all.push_back(static_cast<char>(value));
  all += "\x1b[200~pasted; $HOME `x` #{pane_id} \\ \"'\nsecond line\r\x1b[201~\x1b[A-n --\n\n";
  PaneRecorder recorder{shell(format("stty raw -echo; echo go; head -c {} | od -An -v -tx1 -w1000", all.size()))};
  ASSERT_TRUE(recorder.wait_for("go"));
  EXPECT_EQ(recorder.pane->write(all), all.size());
  EXPECT_TRUE(recorder.wait_exit());
  std::string expected;
  for (const char c : all) expected += format(" {:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(recorder.output.substr(recorder.output.find('\n') + 1), expected + "\n");
}

TEST(Pane, CanFloodOutputWhileItGetsInput) {
  PaneRecorder recorder{
      shell("stty raw -echo; echo go; head -c 5000000 /dev/zero | tr '\\0' x; head -c 200000 | wc -c")};
  ASSERT_TRUE(recorder.wait_for("go"));
  const std::string typed(200'000, 'k');
  EXPECT_EQ(recorder.pane->write(typed), typed.size()) << "it fits the queue before the program reads";
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output_bytes, 3U + 5'000'000U + 7U);
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 0}));
}

TEST(Pane, GetsKeysWhileItsOutputIsPaused) {
  PaneRecorder recorder{shell("echo go; yes; echo over")};
  recorder.when_output = [&](std::string_view) { recorder.pane->pause_output(); };
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.pass(Millis{50});
  recorder.pane->write("\x03");
  const auto leader = recorder.pane->pid();
  EXPECT_TRUE(recorder.until([&] { return testing::is_gone(leader); })) << "Ctrl-C ends the shell and its yes";
  recorder.when_output = nullptr;
  recorder.pane->resume_output();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGINT}));
}

TEST(Pane, BoundsInputThatIsNeverRead) {
  PaneRecorder recorder{shell("stty raw -echo; echo go; exec sleep 1000")};
  ASSERT_TRUE(recorder.wait_for("go"));
  const std::string block(100'000, 'k');
  std::size_t taken = 0;
  const auto give = [&] { taken += recorder.pane->write(block); };
  recorder.when_input_written = give;
  for (int i = 0; i < 20; ++i) {
    give();
    recorder.pass(Millis{10});
  }
  EXPECT_EQ(recorder.pane->input_waiting(), pty::kMaxInputBytes);
  EXPECT_EQ(recorder.pane->write("x"), 0U);
  EXPECT_LT(taken, pty::kMaxInputBytes + 128 * 1024) << "bytes in the kernel and in tmux";
}

TEST(Pane, GetsAllInputInOrder) {
  PaneRecorder recorder{shell("stty raw -echo; echo go; head -c 1000000 | sha256sum")};
  ASSERT_TRUE(recorder.wait_for("go"));
  std::string all;
  for (int i = 0; all.size() < 1'000'000; ++i) all += std::to_string(i) + ",";
  all.resize(1'000'000);
  std::size_t given = 0;
  const auto give = [&] { given += recorder.pane->write(std::string_view{all}.substr(given)); };
  recorder.when_input_written = give;
  give();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(given, all.size());
  PaneRecorder expected{shell("seq -s , 0 500000 | head -c 1000000 | sha256sum")};
  EXPECT_TRUE(expected.wait_exit());
  EXPECT_EQ(recorder.output.substr(recorder.output.find("go") + 3, 64), expected.output.substr(0, 64));
}

TEST(Pane, WaitsWhileItsOutputIsPaused) {
  PaneRecorder recorder{shell("stty raw; echo go; head -c 3000000 /dev/zero; echo written >&2; exit 3")};
  recorder.when_output = [&](std::string_view) { recorder.pane->pause_output(); };
  ASSERT_TRUE(recorder.wait_for("go"));
  const auto seen = recorder.output_bytes;
  recorder.pass(Millis{100});
  EXPECT_EQ(recorder.output_bytes, seen);
  EXPECT_FALSE(testing::is_gone(recorder.pane->pid())) << "it blocks in its write";
  recorder.when_output = nullptr;
  recorder.pane->resume_output();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output_bytes, 3'000'011U);
}

TEST(Pane, KeepsItsLastOutputForAPausedListener) {
  PaneRecorder recorder{shell("echo go; echo last words")};
  recorder.pane->pause_output();
  recorder.pass(Millis{50});
  EXPECT_FALSE(recorder.status);
  EXPECT_TRUE(recorder.output.empty());
  recorder.pane->resume_output();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output, "go\r\nlast words\r\n");
}

TEST(Pane, GetsTheSizeAndItsChanges) {
  PaneRecorder recorder{shell("stty size; trap 'stty size; exit 0' WINCH; echo go; sleep 1000 & wait"), {100, 30}};
  ASSERT_TRUE(recorder.wait_for("go"));
  EXPECT_TRUE(recorder.output.starts_with("30 100\r\n")) << recorder.output;
  ASSERT_TRUE(recorder.pane->resize({132, 43}));
  EXPECT_TRUE(recorder.wait_for("43 132"));
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.sizes.empty()) << "it was requested";
  EXPECT_FALSE(recorder.pane->resize({0, 43}));
}

TEST(Pane, HasTheEnvironmentAndTmuxsTerminal) {
  auto command = shell("echo \"<$SECRET> <$TERM> <${TMUX_PANE}> <$(pwd)>\"; test -n \"$TMUX\"; ps -o tty= -p $$; tty");
  pty::set_variable(command.environment, "SECRET", "a b\n'\"$x#{pane_id}");
  command.directory = "/usr/share";
  PaneRecorder recorder{std::move(command)};
  EXPECT_TRUE(recorder.wait_exit());
  const auto term = recorder.output.contains("<tmux-256color>") ? "tmux-256color" : "screen";
  EXPECT_TRUE(recorder.output.starts_with(format("<a b\r\n'\"$x#{{pane_id}}> <{}> <%0> </usr/share>\r\n", term)))
      << recorder.output;
  EXPECT_TRUE(recorder.output.contains("/dev/pts/"));
}

TEST(Pane, RunsOneWordCommandsAndOddArguments) {
  PaneRecorder one{{.argv = {"pwd"}, .environment = pty::inherited_environment(), .directory = "/usr"}};
  EXPECT_TRUE(one.wait_exit());
  EXPECT_EQ(one.output, "/usr\r\n");
  PaneRecorder odd{{.argv = {"printf", "<%s>", "a b", "", "; ls", "#{pane_id}", "\"$HOME\"", "-t"},
                    .environment = pty::inherited_environment(),
                    .directory = {}}};
  EXPECT_TRUE(odd.wait_exit());
  EXPECT_EQ(odd.output, "<a b><><; ls><#{pane_id}><\"$HOME\"><-t>");
}

TEST(Pane, RepliesToAQueryOnce) {
  PaneRecorder recorder{shell("stty raw -echo; printf '\\033[6n'; head -c 6 | od -An -tx1")};
  EXPECT_TRUE(recorder.pane->answers_queries());
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("1b 5b 31 3b 31 52")) << "only tmux replies";
}

TEST(Pane, CanBeDestroyedInItsCallback) {
  PaneRecorder recorder{shell("echo go; exec sleep 1000")};
  const auto pid = recorder.pane->pid();
  recorder.when_output = [&](std::string_view) { recorder.pane.reset(); };
  EXPECT_TRUE(recorder.until([&] { return recorder.pane == nullptr; }));
  EXPECT_TRUE(testing::is_gone(pid));
  EXPECT_FALSE(recorder.status);
  EXPECT_TRUE(recorder.until([&] { return !recorder.sessions().contains("relay-Alice"); }));
}

}  // namespace
}  // namespace relay::tmux
