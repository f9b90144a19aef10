/// Start times: of the daemon until it responds, of the command line until it exits.
#include <filesystem>
#include <fstream>

#include "figures.h"
#include "subjects/agent_relay.h"
#include "workloads/driver.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

/// A PostToolUse event of Claude Code.
constexpr std::string_view kHookCall =
    R"({"session_id":"bench","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t",)"
    R"("tool_input":{"command":"make test"},"tool_response":{"stdout":"all tests have passed"}})";

Outcome outcome_of(std::string variant, const std::vector<double>& milliseconds) {
  return {.variant = std::move(variant),
          .measurements = {{Metric::StartP50, quantile(milliseconds, 0.5)},
                           {Metric::StartP99, quantile(milliseconds, 0.99)}}};
}

/// From before the fork to after the exit, beside a running daemon.
Result<Outcome> measure_runs(std::string variant, const std::vector<std::string>& args, const DaemonUnderTest& daemon,
                             std::size_t times, const std::string& input = "/dev/null") {
  std::vector<double> milliseconds;
  for (std::size_t i = 0; i < times; ++i) {
    const auto start = now();
    const int code = RELAY_TRY(run_in(daemon.server().directory(), args, daemon.environment(), input));
    milliseconds.push_back(seconds_since(start) * 1e3);
    if (code != 0) return fail("failed: " + variant);
  }
  return outcome_of(std::move(variant), milliseconds);
}

Result<std::vector<Outcome>> run_start(const Subject&, const Scale& scale) {
  const auto program = std::filesystem::absolute(scale.program).string();
  std::vector<double> daemon_ms;
  for (std::size_t i = 0; i < scale.starts; ++i) {
    const auto start = now();
    const auto daemon = RELAY_TRY(DaemonUnderTest::start(program, {}));
    daemon_ms.push_back(seconds_since(start) * 1e3);
  }
  std::vector<Outcome> outcomes{outcome_of("the daemon, until it responds", daemon_ms)};
  const auto running = RELAY_TRY(start_agent_relay(program, {}));
  const Seat bob{.name = "Bob"};
  RELAY_TRY(running->open(std::span{&bob, 1}));
  const auto& daemon = running->daemon();
  outcomes.push_back(
      RELAY_TRY(measure_runs("agent-relay send Bob hello", {program, "send", "Bob", "hello"}, daemon, scale.starts)));
  const auto call = daemon.server().file("hook.json");
  std::ofstream{call} << kHookCall;
  outcomes.push_back(RELAY_TRY(
      measure_runs("agent-relay hook, inside an agent", {program, "hook", "claude"}, daemon, scale.starts, call)));
  outcomes.push_back(RELAY_TRY(measure_runs("agent-relay --version", {program, "--version"}, daemon, scale.starts)));
  outcomes.push_back(RELAY_TRY(measure_runs("/bin/true, for comparison", {"/bin/true"}, daemon, scale.starts)));
  return outcomes;
}

}  // namespace

Workload start_work() {
  return {.name = "start",
          .title = "agent-relay only: from the start of a process",
          .headline = Metric::StartP50,
          .unfit_reason = only_for("power"),
          .run = run_start,
          .only_subject = "power",
          .max_rounds = 3};
}

}  // namespace relay::bench
