#include "pty/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "net/testing/temporary_directory.h"
#include "pty/errors.h"
#include "pty/testing/child_recorder.h"

namespace relay::pty {
namespace {

using net::testing::TemporaryDirectory;
using testing::ChildRecorder;
using testing::shell;

class NullListener final : public ProgramListener {
  void on_output(std::string_view) override {}
  void on_input_written(std::size_t) override {}
  void on_exit(const ExitStatus&) override {}
};

Error error_of(Command command) {
  net::AsioLoop loop;
  NullListener listener;
  auto child = Child::spawn(loop, std::move(command), {}, listener);
  EXPECT_FALSE(child);
  return child ? Error{{}, "it started"} : child.error();
}

TEST(Spawn, ReportsAMissingCommand) {
  const auto error = error_of({.argv = {"no-such-agent"}, .environment = inherited_environment(), .directory = {}});
  EXPECT_TRUE(is(error, Errc::CommandNotFound));
  EXPECT_TRUE(error.message().starts_with("command not found: no-such-agent"));
}

TEST(Spawn, ReportsAMissingDirectory) {
  auto command = shell("exit 0");
  command.directory = "/no/such/place";
  const auto error = error_of(std::move(command));
  EXPECT_TRUE(is(error, Errc::BadDirectory));
  EXPECT_EQ(error.message(), "cannot enter the directory /no/such/place: No such file or directory");
}

TEST(Spawn, ReportsAMissingInterpreter) {
  const TemporaryDirectory place;
  std::ofstream{place.file("agent")} << "#!/no/such/interpreter\n";
  ASSERT_EQ(::chmod(place.file("agent").c_str(), 0755), 0);
  const auto error = error_of({.argv = {place.file("agent")}, .environment = {}, .directory = {}});
  EXPECT_TRUE(is(error, Errc::CannotExecute));
  EXPECT_TRUE(error.message().contains("interpreter"));
}

TEST(Spawn, ReportsAFileThatIsNotAProgram) {
  const TemporaryDirectory place;
  std::ofstream{place.file("agent")} << "not a program\n";
  ASSERT_EQ(::chmod(place.file("agent").c_str(), 0755), 0);
  EXPECT_TRUE(error_of({.argv = {place.file("agent")}, .environment = {}, .directory = {}}).message().contains("#!"));
}

TEST(Spawn, RefusesZeroBytes) { EXPECT_FALSE(error_of(shell(std::string{"a\0b", 3})).message().empty()); }

TEST(Spawn, PassesArgumentsUnchanged) {
  ChildRecorder recorder{
      {.argv = {"printf", "%s|", "a b", "$HOME", "*", ""}, .environment = inherited_environment(), .directory = {}}};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output, "a b|$HOME|*||");
}

TEST(Spawn, PassesOnlyEnvironmentAndDirectory) {
  auto command = shell("pwd; env");
  command.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"};
  command.directory = "/usr";
  ChildRecorder recorder{std::move(command)};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.starts_with("/usr\r\n"));
  EXPECT_TRUE(recorder.output.contains("COLOUR=blue"));
  EXPECT_TRUE(recorder.output.contains(kMarkVariable));
  EXPECT_FALSE(recorder.output.contains("HOME="));
}

TEST(Spawn, ClosesOurDescriptors) {
  const UniqueFd leak{::open("/dev/null", O_RDONLY)};  // without O_CLOEXEC, as some libraries do
  ChildRecorder recorder{shell("exec ls -m /proc/self/fd")};
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output, "0, 1, 2, 3\r\n") << "standard input, output, error, and the directory it reads";
}

TEST(Spawn, ResetsIgnoredAndBlockedSignals) {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto* former = ::signal(SIGPIPE, SIG_IGN);
  ChildRecorder recorder{shell("grep -E 'SigBlk|SigIgn' /proc/self/status")};
  ::signal(SIGPIPE, former);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.output, "SigBlk:\t0000000000000000\r\nSigIgn:\t0000000000000000\r\n");
}

TEST(Spawn, MakesTheChildSessionLeaderInTheForeground) {
  ChildRecorder recorder{shell("ps -o sid=,pgid=,tpgid= -p $$ | tr -s ' '; echo $$ end")};
  EXPECT_TRUE(recorder.wait_exit());
  const auto pid = std::to_string(recorder.child->pid());
  EXPECT_TRUE(recorder.output.contains(pid + " " + pid + " " + pid)) << recorder.output;
}

}  // namespace
}  // namespace relay::pty
