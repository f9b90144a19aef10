#include "cli/doctor/disk.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "base/result.h"
#include "cli/render/times.h"

namespace relay::cli {
namespace {

constexpr std::uint64_t kMinFreeBytes = 100'000'000;

}  // namespace

DiskState assess_disk(const DiskFacts& facts) {
  DiskState state{.free_bytes = facts.free_bytes};
  if (facts.read_only) {
    state.problem = relay::format("the file system of {} is read-only", facts.path);
    state.fix = "mount it writable or set AGENT_RELAY_HOME; until then messages are refused";
  } else if (!facts.may_write) {
    state.problem = facts.path + " is not writable";
    state.fix = "give yourself write permission or set AGENT_RELAY_HOME";
  } else if (facts.free_bytes < kMinFreeBytes) {
    state.problem = relay::format("only {} free at {}", short_size(facts.free_bytes), facts.path);
    state.fix = "free some space; messages are refused when the disk is full";
  } else if (facts.files > 0 && facts.free_files == 0) {
    state.problem = relay::format("no free inodes at {}", facts.path);
    state.fix = "remove files there";
  }
  return state;
}

DiskState inspect_disk(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path at = path;
  while (!std::filesystem::exists(at, ignored) && at.has_relative_path()) at = at.parent_path();
  struct statvfs info{};
  if (::statvfs(at.c_str(), &info) != 0)
    return {.problem = Error::from_errno("cannot check " + at.string()).message(),
            .fix = "mount it again or set AGENT_RELAY_HOME"};
  const bool read_only = (info.f_flag & ST_RDONLY) != 0;
  return assess_disk({.path = at.string(),
                      .free_bytes = info.f_bavail * info.f_frsize,
                      .files = info.f_files,
                      .free_files = info.f_favail,
                      .read_only = read_only,
                      .may_write = ::access(at.c_str(), W_OK) == 0});
}

}  // namespace relay::cli
