/// The checks of `doctor` for the machine: the clock, the limits of descriptors and inotify, and a systemd service that
/// starts the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/framework/context.h"

namespace relay::cli {

std::vector<CheckResult> run_machine_checks(const Context& context);

/// Every agent and every client takes a descriptor of the daemon, which raises its soft limit to the hard one. Pure.
CheckResult assess_descriptors(std::uint64_t hard_limit);

/// Hosts follow transcripts with inotify: one instance and a few watches per agent.
struct InotifyFacts {
  std::int64_t instances = 0, watches = 0;  // limits per user
  bool available = true;                    // another instance can be created now
};
/// Pure.
CheckResult assess_inotify(const InotifyFacts& facts);

/// A clock before the first release is wrong. Pure.
CheckResult check_clock(WallMs now);
/// A message stored later than `now` shows that the clock was set back. Pure.
std::optional<CheckResult> check_newest_message(WallMs stored, WallMs now);

/// The path of agent-relay in the ExecStart of a systemd unit; none when the unit starts another program.
std::optional<std::string> parse_unit_program(std::string_view unit);

}  // namespace relay::cli
