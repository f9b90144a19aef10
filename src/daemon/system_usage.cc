#include "daemon/system_usage.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/format.h"

namespace relay::daemon {
namespace {

constexpr std::uint64_t kKibibyte = 1024;

/// The fields of /proc/<pid>/stat that matter here, counted as in proc(5).
struct ProcessTimes {
  double cpu_seconds = 0;      // 14 and 15
  double started_seconds = 0;  // 22, since boot
};

ProcessTimes times_of(std::int32_t pid) {
  std::ifstream file{format("/proc/{}/stat", pid)};
  std::string line;
  std::getline(file, line);
  // The name in parentheses may hold anything, blanks and parentheses included: count from the last one.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields{line.substr(name_end + 1)};
  const double per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  ProcessTimes times;
  std::string field;
  for (int number = 3; fields >> field; ++number) {
    if (number == 14 || number == 15) times.cpu_seconds += std::stod(field) / per_second;
    if (number == 22) times.started_seconds = std::stod(field) / per_second;
  }
  return times;
}

double seconds_since_boot() {
  std::ifstream file{"/proc/uptime"};
  double seconds = 0;
  file >> seconds;
  return seconds;
}

std::uint64_t resident_bytes(std::int32_t pid) {
  std::ifstream file{format("/proc/{}/statm", pid)};
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

broker::ProcessUsage usage_of_process(std::int32_t pid) {
  if (pid <= 0) return {};
  const ProcessTimes times = times_of(pid);
  const double alive = seconds_since_boot() - times.started_seconds;
  return {.rss_bytes = resident_bytes(pid), .cpu_percent = alive > 0 ? 100 * times.cpu_seconds / alive : 0};
}

broker::MachineUsage usage_of_machine() {
  broker::MachineUsage usage{.total_memory = 0, .free_memory = 0, .own_memory = resident_bytes(::getpid())};
  std::ifstream file{"/proc/meminfo"};
  std::string name;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> name >> kibibytes && std::getline(file, unit)) {
    if (name == "MemTotal:") usage.total_memory = kibibytes * kKibibyte;
    if (name == "MemAvailable:") usage.free_memory = kibibytes * kKibibyte;
  }
  return usage;
}

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace relay::daemon
