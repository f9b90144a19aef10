/// Whether the daemon can write to its directories, by the file system. Changes nothing.
///
/// Why in addition to the daemon's own report: the daemon notices a full disk with its next write, the user wants to
///   know before.
#pragma once

#include <cstdint>
#include <string>

namespace relay::cli {

struct DiskState {
  std::uint64_t free_bytes = 0;
  std::string problem = {};  // empty: it is writable
  std::string fix = {};
};

/// Inspects the path, or the nearest existing directory above it.
DiskState inspect_disk(const std::string& path);

/// The results of `statvfs` and `access`.
struct DiskFacts {
  std::string path = {};
  std::uint64_t free_bytes = 0;
  std::uint64_t files = 0, free_files = 0;  // 0 of 0: the file system has no inode count
  bool read_only = false;                   // the file system
  bool may_write = true;                    // this user, at the path
};
/// Pure.
DiskState assess_disk(const DiskFacts& facts);

}  // namespace relay::cli
