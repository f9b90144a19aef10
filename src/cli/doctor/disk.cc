#include "cli/doctor/disk.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "base/result.h"
#include "cli/render/times.h"

namespace relay::cli {
namespace {

constexpr std::uint64_t kLittleSpaceBytes = 100'000'000;

}  // namespace

DiskState judge_disk(const DiskFacts& facts) {
  DiskState state{.free_bytes = facts.free_bytes};
  if (facts.read_only) {
    state.problem = relay::format("the file system of {} is read-only", facts.path);
    state.advice = "mount it writable or set AGENT_RELAY_HOME: until then messages are refused";
  } else if (!facts.may_write) {
    state.problem = facts.path + " cannot be written";
    state.advice = "give yourself the right to write there or set AGENT_RELAY_HOME";
  } else if (facts.free_bytes < kLittleSpaceBytes) {
    state.problem = relay::format("{} free at {}", short_size(facts.free_bytes), facts.path);
    state.advice = "make room: without it messages are refused";
  } else if (facts.files > 0 && facts.free_files == 0) {
    state.problem = relay::format("no more files can be made at {}", facts.path);
    state.advice = "remove files there: every one has been given out";
  }
  return state;
}

DiskState look_at_disk(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path at = path;
  while (!std::filesystem::exists(at, ignored) && at.has_relative_path()) at = at.parent_path();
  struct statvfs info{};
  if (::statvfs(at.c_str(), &info) != 0)
    return {.problem = Error::from_errno("cannot look at " + at.string()).message(),
            .advice = "mount it again or set AGENT_RELAY_HOME"};
  const bool read_only = (info.f_flag & ST_RDONLY) != 0;
  return judge_disk({.path = at.string(),
                     .free_bytes = info.f_bavail * info.f_frsize,
                     .files = info.f_files,
                     .free_files = info.f_favail,
                     .read_only = read_only,
                     .may_write = ::access(at.c_str(), W_OK) == 0});
}

}  // namespace relay::cli
