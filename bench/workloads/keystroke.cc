/// The cost of a forwarder between a user and a program: a key and its echo, and output at full speed.
///
/// Each key passes a forwarder twice. The `poll()` loop writes blocking: it cannot read a key while a terminal is slow,
/// and it needs no queue. The relay's terminal classes never block.
#include <algorithm>
#include <filesystem>

#include "base/quantile.h"
#include "forwarding/roles.h"
#include "forwarding/terminal_under_test.h"
#include "subjects/daemon_under_test.h"
#include "workloads/driver.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr std::size_t kWarmUpKeys = 100;
constexpr double kMegabytesForASecond = 32;  // per second of measurement

std::string self_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// The command line around the command, and its directory.
struct Wrapper {
  std::vector<std::string> args = {};  // before the command
  bool is_script = false;              // script(1) takes the command as one argument, then a file
  std::vector<std::string> environment = pty::inherited_environment();
  std::string directory = {};
};

Result<TerminalUnderTest> sit(const Wrapper& wrapper, const std::vector<std::string>& inside) {
  auto args = wrapper.args;
  if (wrapper.is_script) {
    std::string line = "exec";
    for (const auto& word : inside) line += " " + word;
    args = {"script", "-q", "-c", line, "/dev/null"};
  } else {
    args.insert(args.end(), inside.begin(), inside.end());
  }
  auto seat = RELAY_TRY(
      TerminalUnderTest::start({.argv = args, .environment = wrapper.environment, .directory = wrapper.directory}));
  RELAY_TRY(seat.read_until(kReadyText));
  return seat;
}

Result<std::vector<Outcome>> measure(const Wrapper& wrapper, const Scale& scale) {
  std::vector<double> key_us;
  {
    auto seat = RELAY_TRY(sit(wrapper, {self_path(), "role", "echo"}));
    for (std::size_t i = 0; i < kWarmUpKeys; ++i) RELAY_TRY(seat.keystroke());
    for (const auto start = now(); seconds_since(start) < scale.seconds && !interrupted();)
      key_us.push_back(RELAY_TRY(seat.keystroke()));
  }
  const auto megabytes = static_cast<std::size_t>(std::clamp(kMegabytesForASecond * scale.seconds, 4.0, 64.0));
  auto seat = RELAY_TRY(sit(wrapper, {self_path(), "role", "flood", std::to_string(megabytes)}));
  const auto cpu_before = seat.cpu_seconds();
  RELAY_TRY(seat.type("g"));
  const auto seconds = RELAY_TRY(seat.read_all(megabytes * kMegabyte));
  const auto amount = static_cast<double>(megabytes);
  return std::vector{
      Outcome{.variant = "echo, and a flood",
              .measurements = {{Metric::KeyP50, quantile(key_us, 0.5)},
                               {Metric::KeyP99, quantile(key_us, 0.99)},
                               {Metric::Throughput, amount / seconds},
                               {Metric::CpuPerMegabyte, (seat.cpu_seconds() - cpu_before) / amount * 1e3}}}};
}

Candidate wrapped(Traits traits, std::vector<std::string> args) {
  return {.traits = std::move(traits),
          .run = [args = std::move(args)](const Scale& scale) { return measure({.args = args}, scale); }};
}

/// The whole host, with its own daemon.
Result<std::vector<Outcome>> measure_host(const Scale& scale) {
  const auto daemon = RELAY_TRY(DaemonUnderTest::start(scale.program, {}));
  auto environment = daemon.environment();
  environment.insert(environment.end(), {"HOME=" + daemon.server().directory(), "PATH=/usr/local/bin:/usr/bin:/bin",
                                         "TERM=xterm-256color"});
  return measure({.args = {std::filesystem::absolute(scale.program).string(), "-n", "Typing"},
                  .environment = std::move(environment),
                  .directory = daemon.server().directory()},
                 scale);
}

}  // namespace

Workload keystroke_work() {
  return {.name = "keystroke",
          .title = "a key and its echo, and output, through a terminal",
          .headline = Metric::KeyP50,
          .candidates =
              {wrapped({.name = "bare", .title = "no forwarder", .note = "the program itself; CPU is its own"}, {}),
               wrapped({.name = "poll", .title = "bare poll() forwarder", .note = "copies only"},
                       {self_path(), "role", "poll"}),
               {.traits = {.name = "script", .title = "script(1)", .note = "from util-linux, writing to /dev/null"},
                .run = [](const Scale& scale) { return measure({.is_script = true}, scale); }},
               wrapped({.name = "parts",
                        .title = "relay terminal classes",
                        .own = true,
                        .note = "Child and UserTerminal, which never block"},
                       {self_path(), "role", "parts"}),
               {.traits = {.name = "host",
                           .title = "agent-relay -n NAME",
                           .own = true,
                           .note = "the host as users run it, with screen, commands and daemon"},
                .run = measure_host}},
          .yardsticks = {"bare", "poll", "script"}};
}

}  // namespace relay::bench
