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

constexpr WallMs kReleaseYear = 1'735'689'600'000;  // 2025-01-01: an earlier clock is wrong
constexpr WallMs kClockTolerance = 60'000;
constexpr std::uint64_t kMinDescriptors = 4'096;
constexpr std::int64_t kMinInstances = 64;
constexpr std::int64_t kMinWatches = 8'192;

std::int64_t number_in(const std::string& path) {
  std::ifstream file{path};
  std::int64_t number = 0;
  return file >> number ? number : 0;
}

CheckResult check_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return problem("descriptors", Error::from_errno("cannot read the limit").message(), "");
  return assess_descriptors(limit.rlim_max);
}

CheckResult check_inotify() {
  const UniqueFd one{::inotify_init1(IN_CLOEXEC)};
  return assess_inotify({.instances = number_in("/proc/sys/fs/inotify/max_user_instances"),
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
    const auto program = parse_unit_program(std::string{std::istreambuf_iterator<char>{file}, {}});
    if (!program) continue;
    if (::access(program->c_str(), X_OK) != 0)
      return problem("service", relay::format("{} starts {}, which does not exist", entry.path().string(), *program),
                     "correct ExecStart there, then: systemctl --user daemon-reload");
    return fine("service", entry.path().string());
  }
  return fine("service", "none; agent-relay up starts the daemon");
}

}  // namespace

CheckResult check_clock(WallMs now) {
  if (now >= kReleaseYear) return fine("clock", short_time(now, 0));
  return problem("clock", "it shows " + short_time(now, kReleaseYear), "set it: expiry and message order depend on it");
}

std::optional<CheckResult> check_newest_message(WallMs stored, WallMs now) {
  if (stored <= now + kClockTolerance) return std::nullopt;
  return problem("clock", "the newest message is from the future", "the clock was set back: correct it");
}

CheckResult assess_descriptors(std::uint64_t hard_limit) {
  if (hard_limit == RLIM_INFINITY) return fine("descriptors", "no limit");
  const auto message = relay::format("{} per process", hard_limit);
  return hard_limit >= kMinDescriptors
             ? fine("descriptors", message)
             : note("descriptors", message,
                    relay::format("raise nofile to {} or more in /etc/security/limits.conf", kMinDescriptors));
}

CheckResult assess_inotify(const InotifyFacts& facts) {
  const auto message = relay::format("{} instances, {} watches per user", facts.instances, facts.watches);
  const std::string raise =
      "raise them: sudo sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288";
  if (!facts.available) return problem("inotify", message + "; none is left, so transcripts are not followed", raise);
  if (facts.instances < kMinInstances || facts.watches < kMinWatches) return note("inotify", message, raise);
  return fine("inotify", message);
}

std::optional<std::string> parse_unit_program(std::string_view unit) {
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

std::vector<CheckResult> run_machine_checks(const Context& context) {
  return {check_descriptors(), check_inotify(), check_service(context)};
}

}  // namespace relay::cli
