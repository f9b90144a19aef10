/// A child that inherits our descriptors, or some of them.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>

#include "net/testing/temporary_directory.h"
#include "pty/inherited.h"
#include "pty/testing/child_recorder.h"

namespace relay::pty {
namespace {

using net::testing::TemporaryDirectory;
using testing::ChildRecorder;
using testing::shell;

std::string contents(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

Command inherited(const std::string& script) {
  auto command = shell(script);
  command.streams = Streams::Inherited;
  return command;
}

TEST(InheritedStreams, KeepTheChildInOurGroupAndReportItsExit) {
  const TemporaryDirectory place;
  ChildRecorder recorder{inherited("ps -o pgid= -p $$ > " + place.file("group") + "; exit 5")};
  ASSERT_TRUE(recorder.wait_exit());
  EXPECT_EQ(*recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 5}));
  EXPECT_EQ(recorder.output, "");
  EXPECT_EQ(std::stoi(contents(place.file("group"))), ::getpgrp());
}

TEST(InheritedStreams, EndReachesAllDescendants) {
  const TemporaryDirectory place;
  ChildRecorder recorder{inherited("trap '' TERM; sleep 1000 & echo $! > " + place.file("pid") + "; wait")};
  ASSERT_TRUE(net::testing::run_until(recorder.loop, [&] { return contents(place.file("pid")).ends_with('\n'); }));
  recorder.child->end(Millis{200});
  ASSERT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(testing::is_gone(std::stoi(contents(place.file("pid")))));
}

TEST(InheritedStreams, InputIsDropped) {
  ChildRecorder recorder{inherited("exit 0")};
  EXPECT_EQ(recorder.child->write("words"), 5U);
  EXPECT_EQ(recorder.child->input_waiting(), 0U);
  EXPECT_TRUE(recorder.child->resize({}).has_value());
  EXPECT_TRUE(recorder.wait_exit());
}

TEST(InheritedStreams, StandardErrorAloneCanBeInherited) {
  auto command = shell("for fd in 0 1 2; do test -t $fd && echo terminal $fd.; done");
  command.streams = Streams::ErrorInherited;
  const UniqueFd before{::dup(STDERR_FILENO)};
  const UniqueFd nothing{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  ::dup2(nothing.get(), STDERR_FILENO);
  ChildRecorder recorder{std::move(command)};
  ::dup2(before.get(), STDERR_FILENO);
  ASSERT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("terminal 0.") && recorder.output.contains("terminal 1."));
  EXPECT_FALSE(recorder.output.contains("terminal 2."));
}

TEST(InheritedStreams, OnlyKeptDescriptorsStayOpen) {
  constexpr int kFar = 50;  // no program in the child opens so many
  const UniqueFd kept{::fcntl(STDIN_FILENO, F_DUPFD, kFar)}, other{::fcntl(STDIN_FILENO, F_DUPFD, kFar)};
  const auto found = inheritable_descriptors();
  EXPECT_TRUE(std::ranges::is_sorted(found) && std::ranges::count(found, kept.get()) == 1);
  auto command = shell("ls /proc/self/fd | tr '\\n' ' '; echo end.");
  command.kept_descriptors = {kept.get()};
  ChildRecorder recorder{std::move(command)};
  ASSERT_TRUE(recorder.wait_exit());
  const auto listed = " " + recorder.output;
  EXPECT_TRUE(listed.contains(" " + std::to_string(kept.get()) + " ")) << listed;
  EXPECT_FALSE(listed.contains(" " + std::to_string(other.get()) + " ")) << listed;
}

TEST(InheritedStreams, IgnoredSignalsStayIgnored) {
  auto command = shell("kill -HUP $$; echo alive.");
  command.ignored_signals = {SIGHUP};
  ChildRecorder recorder{std::move(command)};
  EXPECT_TRUE(recorder.wait_for("alive."));
  EXPECT_TRUE(recorder.wait_exit());
}

}  // namespace
}  // namespace relay::pty
