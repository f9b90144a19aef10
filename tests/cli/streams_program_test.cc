/// Compares a program under agent-relay with the same program alone: the kinds of its standard descriptors, the bytes, the
/// end of its input, and its exit.
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

#include "base/unique_fd.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

enum class Kind { Terminal, Pipe, Nothing };
constexpr std::array kKinds = {Kind::Terminal, Kind::Pipe, Kind::Nothing};
using Kinds = std::array<Kind, 3>;

constexpr std::string_view kTyped = "hello\n";

struct ProbeResult {
  std::string report;    // written by the probe
  std::string out, err;  // output to pipes
  int status = -1;       // of waitpid
  bool operator==(const ProbeResult&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ProbeResult& result) {
  return out << "report: " << result.report << " out: " << result.out << " err: " << result.err
             << " status: " << result.status;
}

/// One run with descriptors of these kinds, on its own pseudo-terminal.
class ProbeRun {
 public:
  explicit ProbeRun(Kinds kinds) : kinds_{kinds} {
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

  ProbeResult run(Sandbox& box, std::vector<std::string> command, const std::string& report) {
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
      // After that the terminal certainly passes single keys.
      EXPECT_TRUE(until([&] { return file_contents(report).contains("copied"); })) << file_contents(report);
      type("\x04");
    }
    ProbeResult result;
    EXPECT_TRUE(until([&] {
      drain(pipes_[1].first.get(), result.out);
      drain(pipes_[2].first.get(), result.err);
      return ::waitpid(pid, &result.status, WNOHANG) == pid;
    })) << "it does not exit";
    drain(pipes_[1].first.get(), result.out);
    drain(pipes_[2].first.get(), result.err);
    result.report = file_contents(report);
    return result;
  }

 private:
  pid_t start(Sandbox& box, const std::vector<std::string>& command) {
    const auto descriptor = [&](std::size_t fd) {
      if (kinds_[fd] == Kind::Terminal) return peer_.get();
      if (kinds_[fd] == Kind::Nothing) return -1;
      return fd == 0 ? pipes_[0].first.get() : pipes_[fd].second.get();
    };
    const std::array descriptors = {descriptor(0), descriptor(1), descriptor(2)};
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::setsid();
    ::ioctl(peer_.get(), TIOCSCTTY, 0);
    for (int fd = 0; const int source : descriptors)
      ::dup2(source >= 0 ? source : ::open("/dev/null", O_RDWR | O_CLOEXEC), fd++);
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

  /// Polls, and reads the terminal meanwhile.
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
  /// The script has the same output and status with `agent-relay run` as `$relay` and with nothing.
  void expect_same(const std::string& script) {
    const auto path = box.write(box.project() + "/script", script);
    const auto plain = run_bash(path, "");
    const auto wrapped = run_bash(path, program() + " run");
    EXPECT_EQ(wrapped, plain) << script;
  }
  std::string run_bash(const std::string& path, const std::string& relay) {
    const auto command =
        "cd " + box.project() + " && AGENT_RELAY_HOME=" + box.home() + " relay='" + relay + "' bash " + path + " 2>&1";
    std::string output;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const auto got = ::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    return output + "\nstatus " + std::to_string(status);
  }

  Sandbox box;
};

TEST_F(Streams, MatchPlainRunForAllDescriptorKinds) {
  for (const auto in : kKinds)
    for (const auto out : kKinds)
      for (const auto err : kKinds) {
        const Kinds kinds = {in, out, err};
        const auto report = box.project() + "/report";
        const auto plain = ProbeRun{kinds}.run(box, {STREAM_PROBE}, report);
        const auto wrapped = ProbeRun{kinds}.run(box, {program(), "-n", "Probe", STREAM_PROBE}, report);
        EXPECT_EQ(wrapped, plain) << static_cast<int>(in) << static_cast<int>(out) << static_cast<int>(err);
        EXPECT_EQ(WEXITSTATUS(plain.status), 7);
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

TEST_F(Streams, EndProgramWhenReaderCloses) {
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
    const auto script = box.write(box.project() + "/instructed", "$relay ./" + agent + " hello </dev/null | cat");
    EXPECT_NE(run_bash(script, program() + " run --instructions"), run_bash(script, "")) << "with --instructions";
  }
}

TEST_F(Streams, AreNotReadOrTypedInto) {
  box.ok({"up"});
  auto agent = box.start({"-n", "Pipe", "cat"});
  ASSERT_TRUE(eventually([&] { return box.run({"agents"}).out.contains("no terminal"); })) << box.run({"agents"}).out;
  EXPECT_TRUE(box.ok({"explain", "Pipe"}).contains("it runs without a terminal: nothing is typed"));
  EXPECT_EQ(box.ok_json({"explain", "Pipe"}).at("headless"), true);
  for (const auto& words : {std::vector<std::string>{"input", "Pipe", "text"}, {"attach", "Pipe", "--print"}}) {
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
