/// The part of `doctor` that looks at the machine: its clock, limits of descriptors and of inotify, and a service that starts
/// us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/check_result.h"
#include "cli/framework/context.h"

namespace relay::cli {

std::vector<CheckResult> examine_machine(const Context& context);

/// Every agent and every client is a descriptor of the daemon, which raises its own limit as far as it may. Pure.
CheckResult judge_descriptors(std::uint64_t hard_limit);

/// Hosts follow transcripts by inotify: an instance and a few watches for each agent. Pure.
struct InotifyFacts {
  std::int64_t instances = 0, watches = 0;  // what one user may have
  bool available = true;                    // one more can be had now
};
CheckResult judge_inotify(const InotifyFacts& facts);

/// A clock before the first release is wrong. Pure.
CheckResult judge_clock(WallMs now);
/// A message that was stored later than now shows that the clock went back. Pure.
std::optional<CheckResult> judge_newest_message(WallMs stored, WallMs now);

/// The program that a unit of systemd starts: the first word of ExecStart; none when it starts something else.
std::optional<std::string> program_of_unit(std::string_view unit);

}  // namespace relay::cli
