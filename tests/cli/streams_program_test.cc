/// A wrapped program beside the same program without us: which of its standard descriptors are terminals, the bytes that
/// pass, the end of its input, and how it ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

enum class Kind { Terminal, Pipe, Nothing };
constexpr std::array kKinds = {Kind::Terminal, Kind::Pipe, Kind::Nothing};
using Kinds = std::array<Kind, 3>;

constexpr std::string_view kTyped = "hello\n";

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct Seen {
  std::string report;    // by the probe itself
  std::string out, err;  // of pipes
  int status = -1;       // as waitpid tells it
  bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << "report: " << seen.report << " out: " << seen.out << " err: " << seen.err << " status: " << seen.status;
}

/// One run with descriptors of these kinds, at a terminal of its own.
class Seat {
 public:
  explicit Seat(Kinds kinds) : kinds_{kinds} {
    int controller = -1, peer = -1;
    EXPECT_EQ(::openpty(&controller, &peer, nullptr, nullptr, nullptr), 0);
    controller_.reset(controller);
    peer_.reset(peer);
    ::fcntl(controller_.get(), F_SETFD, FD_CLOEXEC);
    for (auto& ends : pipes_) {
      int pair[2];
      EXPECT_EQ(::pipe2(pair, O_CLOEXEC), 0);
      ends = {UniqueFd{pair[0]}, UniqueFd{pair[1]}};
    }
  }

  Seen run(Sandbox& box, std::vector<std::string> command, const std::string& report) {
    command.insert(command.end(), {report, "7"});
    std::filesystem::remove(report);
    const pid_t pid = start(box, command);
    peer_.reset();
    pipes_[0].first.reset();
    pipes_[1].second.reset();
    pipes_[2].second.reset();
    if (kinds_[0] == Kind::Pipe) {
      EXPECT_EQ(::write(pipes_[0].second.get(), kTyped.data(), kTyped.size()), static_cast<ssize_t>(kTyped.size()));
    }
    pipes_[0].second.reset();
    if (kinds_[0] == Kind::Terminal) {
      type(kTyped);
      // Only then is it sure that the terminal passes single keys.
      EXPECT_TRUE(until([&] { return contents(report).contains("copied"); })) << contents(report);
      type("\x04");
    }
    Seen seen;
    EXPECT_TRUE(until([&] {
      drain(pipes_[1].first.get(), seen.out);
      drain(pipes_[2].first.get(), seen.err);
      return ::waitpid(pid, &seen.status, WNOHANG) == pid;
    })) << "it does not end";
    drain(pipes_[1].first.get(), seen.out);
    drain(pipes_[2].first.get(), seen.err);
    seen.report = contents(report);
    return seen;
  }

 private:
  pid_t start(Sandbox& box, const std::vector<std::string>& command) {
    const auto of = [&](std::size_t fd) {
      if (kinds_[fd] == Kind::Terminal) return peer_.get();
      if (kinds_[fd] == Kind::Nothing) return -1;
      return fd == 0 ? pipes_[0].first.get() : pipes_[fd].second.get();
    };
    const std::array wanted = {of(0), of(1), of(2)};
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::setsid();
    ::ioctl(peer_.get(), TIOCSCTTY, 0);
    for (int fd = 0; const int given : wanted)
      ::dup2(given >= 0 ? given : ::open("/dev/null", O_RDWR | O_CLOEXEC), fd++);
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    ::setenv("AGENT_RELAY_HOME", box.home().c_str(), 1);
    if (::chdir(box.project().c_str()) != 0) ::_exit(126);
    std::vector<char*> argv;
    for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv.front(), argv.data());
    ::_exit(127);
  }

  void type(std::string_view text) {
    EXPECT_EQ(::write(controller_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  static void drain(int fd, std::string& into) {
    std::array<char, 4096> buffer;
    for (pollfd one{fd, POLLIN, 0}; ::poll(&one, 1, 0) > 0;) {
      const auto got = ::read(fd, buffer.data(), buffer.size());
      if (got <= 0) return;
      into.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  /// Reads the terminal meanwhile, as a person does.
  bool until(const std::function<bool()>& holds) {
    return eventually([&] {
      drain(controller_.get(), screen_);
      return holds();
    });
  }

  Kinds kinds_;
  UniqueFd controller_, peer_;
  std::array<std::pair<UniqueFd, UniqueFd>, 3> pipes_;  // reading and writing end
  std::string screen_;
};

struct Streams : ::testing::Test {
  /// The same script with `$relay` as a wrapped run and as a plain one.
  void expect_same(const std::string& script) {
    const auto path = box.write(box.project() + "/script", script);
    const auto bare = run_bash(path, "");
    const auto wrapped = run_bash(path, program() + " run");
    EXPECT_EQ(wrapped, bare) << script;
  }
  std::string run_bash(const std::string& path, const std::string& relay) {
    const auto command =
        "cd " + box.project() + " && AGENT_RELAY_HOME=" + box.home() + " relay='" + relay + "' bash " + path + " 2>&1";
    std::string said;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const auto got = ::fread(buffer.data(), 1, buffer.size(), pipe)) said.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    return said + "\nstatus " + std::to_string(status);
  }

  Sandbox box;
};

TEST_F(Streams, MatchBareRunInAllTwentySevenCases) {
  for (const auto in : kKinds)
    for (const auto out : kKinds)
      for (const auto err : kKinds) {
        const Kinds kinds = {in, out, err};
        const auto report = box.project() + "/report";
        const auto bare = Seat{kinds}.run(box, {STREAM_PROBE}, report);
        const auto wrapped = Seat{kinds}.run(box, {program(), "-n", "Probe", STREAM_PROBE}, report);
        EXPECT_EQ(wrapped, bare) << static_cast<int>(in) << static_cast<int>(out) << static_cast<int>(err);
        EXPECT_EQ(WEXITSTATUS(bare.status), 7);
      }
}

TEST_F(Streams, PassTenMegabytesUnchanged) {
  std::string bytes(10 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((i * 2654435761U) >> 13);
  box.write(box.project() + "/bytes", bytes);
  expect_same("$relay cat < bytes | cksum; cat bytes | $relay cat | cksum; echo ${PIPESTATUS[@]}");
}

TEST_F(Streams, EndWithTheInput) {
  expect_same(
      "echo hi | $relay cat; echo $?; $relay cat </dev/null; echo $?; printf 'no newline' | $relay cat; echo $?");
}

TEST_F(Streams, StayClosed) {
  for (const std::string closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-"})
    expect_same("$relay " STREAM_PROBE " report 3 " + closed + "; echo $?; cat report");
}

TEST_F(Streams, ReportExitCodeAndSignal) {
  expect_same("$relay sh -c 'exit 41' </dev/null; echo $?");
  expect_same("$relay sh -c 'kill -TERM $$' </dev/null | cat; echo ${PIPESTATUS[0]}");
  expect_same("$relay sh -c 'kill -KILL $$' </dev/null | cat; echo ${PIPESTATUS[0]}");
}

TEST_F(Streams, EndProgramWhenReaderIsGone) {
  expect_same("$relay yes </dev/null | head -1; echo ${PIPESTATUS[0]}");
  expect_same("trap '' PIPE; $relay sh -c 'yes; echo $?' </dev/null 2>&1 | head -1; echo ${PIPESTATUS[0]}");
}

TEST_F(Streams, ForwardSignals) {
  for (const std::string name : {"TERM", "INT", "HUP", "USR1"})
    expect_same("set -m; mkfifo ready; $relay sh -c 'trap \"echo got " + name + "; exit 9\" " + name +
                "; echo > ready; while :; do sleep 0.05; done' </dev/null | cat & read x < ready; pids=$(jobs -p); "
                "kill -" +
                name + " $(pgrep -g $pids -o); wait $pids; echo $?; rm ready");
}

TEST_F(Streams, KeepIgnoredSignals) {
  expect_same("trap '' HUP INT; $relay sh -c 'kill -HUP $$; kill -INT $$; echo alive' </dev/null | cat");
}

TEST_F(Streams, KeepInheritedDescriptors) {
  expect_same("$relay cat <(echo by a pipe) | cat");
  expect_same("exec 5<<< 'by number'; $relay sh -c 'cat <&5' </dev/null | cat");
}

TEST_F(Streams, HaveNoInstructionsForModel) {
  for (const std::string agent : {"codex exec", "opencode run"}) {
    const auto name = agent.substr(0, agent.find(' '));
    box.write(box.project() + "/" + name, "#!/bin/sh\necho \"$@\" ${OPENCODE_CONFIG_CONTENT:-no configuration}\n");
    std::filesystem::permissions(box.project() + "/" + name, std::filesystem::perms::owner_all);
    expect_same("$relay ./" + agent + " hello </dev/null | cat");
    const auto script = box.write(box.project() + "/told", "$relay ./" + agent + " hello </dev/null | cat");
    EXPECT_NE(run_bash(script, program() + " run --instructions"), run_bash(script, "")) << "asked for";
  }
}

TEST_F(Streams, AreNotReadOrTypedInto) {
  box.ok({"up"});
  auto agent = box.start({"-n", "Pipe", "cat"});
  ASSERT_TRUE(eventually([&] { return box.run({"agents"}).out.contains("no terminal"); })) << box.run({"agents"}).out;
  EXPECT_TRUE(box.ok({"explain", "Pipe"}).contains("it runs without a terminal: nothing is typed"));
  EXPECT_EQ(box.ok_json({"explain", "Pipe"}).at("headless"), true);
  for (const auto& words : {std::vector<std::string>{"input", "Pipe", "words"}, {"attach", "Pipe", "--print"}}) {
    const auto refused = box.run(words);
    EXPECT_NE(refused.code, 0);
    EXPECT_TRUE(refused.err.contains("Pipe runs without a terminal")) << refused.err;
  }
  agent->type("still here\n");
  agent->end_input();
  const auto ran = agent->finish();
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "still here\n");
  EXPECT_EQ(ran.err, "");
}

}  // namespace
}  // namespace relay::cli_tests
