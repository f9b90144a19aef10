#include "cli/doctor/machine_checks.h"

#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/render/times.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

constexpr WallMs kReleaseYear = 1'735'689'600'000;  // 2025-01-01: no clock of ours can be earlier
constexpr WallMs kClockTolerance = 60'000;
constexpr std::uint64_t kFewDescriptors = 4'096;
constexpr std::int64_t kFewInstances = 64;
constexpr std::int64_t kFewWatches = 8'192;

std::int64_t number_in(const std::string& path) {
  std::ifstream file{path};
  std::int64_t number = 0;
  return file >> number ? number : 0;
}

CheckResult check_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return problem("descriptors", Error::from_errno("cannot tell the limit").message(), "");
  return judge_descriptors(limit.rlim_max);
}

CheckResult check_inotify() {
  const UniqueFd one{::inotify_init1(IN_CLOEXEC)};
  return judge_inotify({.instances = number_in("/proc/sys/fs/inotify/max_user_instances"),
                        .watches = number_in("/proc/sys/fs/inotify/max_user_watches"),
                        .available = static_cast<bool>(one)});
}

CheckResult check_service(const Context& context) {
  const auto home = context.environment("HOME").value_or("");
  const auto config = context.environment("XDG_CONFIG_HOME").value_or(home + "/.config");
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator{config + "/systemd/user", failed}) {
    std::error_code unreadable;
    if (entry.path().extension() != ".service" || !entry.is_regular_file(unreadable)) continue;
    std::ifstream file{entry.path()};
    const auto program = program_of_unit(std::string{std::istreambuf_iterator<char>{file}, {}});
    if (!program) continue;
    if (::access(program->c_str(), X_OK) != 0)
      return problem("service", relay::format("{} starts {}, which is not there", entry.path().string(), *program),
                     "correct ExecStart there, then: systemctl --user daemon-reload");
    return fine("service", entry.path().string());
  }
  return fine("service", "none; the daemon is started by agent-relay up");
}

}  // namespace

CheckResult judge_clock(WallMs now) {
  if (now >= kReleaseYear) return fine("clock", short_time(now, 0));
  return problem("clock", "it says " + short_time(now, kReleaseYear), "set it: expiry and order depend on it");
}

std::optional<CheckResult> judge_newest_message(WallMs stored, WallMs now) {
  if (stored <= now + kClockTolerance) return std::nullopt;
  return problem("clock", "the newest message is from the future", "the clock went back: set it");
}

CheckResult judge_descriptors(std::uint64_t hard_limit) {
  if (hard_limit == RLIM_INFINITY) return fine("descriptors", "no limit");
  const auto says = relay::format("{} for each process", hard_limit);
  return hard_limit >= kFewDescriptors
             ? fine("descriptors", says)
             : note("descriptors", says,
                    relay::format("raise nofile to {} or more in /etc/security/limits.conf", kFewDescriptors));
}

CheckResult judge_inotify(const InotifyFacts& facts) {
  const auto says = relay::format("{} instances, {} watches for each user", facts.instances, facts.watches);
  const std::string raise =
      "raise them: sudo sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288";
  if (!facts.available) return problem("inotify", says + "; none is left, so transcripts are not followed", raise);
  if (facts.instances < kFewInstances || facts.watches < kFewWatches) return note("inotify", says, raise);
  return fine("inotify", says);
}

std::optional<std::string> program_of_unit(std::string_view unit) {
  constexpr std::string_view kKey = "\nExecStart=";
  const auto at = unit.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  auto line = unit.substr(at + kKey.size());
  line = line.substr(0, line.find('\n'));
  const auto program = line.substr(0, line.find(' '));
  const auto name = program.substr(program.rfind('/') + 1);
  if (name != "agent-relay" && name != "relay") return std::nullopt;
  return std::string{program};
}

std::vector<CheckResult> examine_machine(const Context& context) {
  return {check_descriptors(), check_inotify(), check_service(context)};
}

}  // namespace relay::cli
