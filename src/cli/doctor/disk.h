/// Whether the daemon can write where its files are, as the file system says it. Looks and changes nothing.
///
/// Why beside the daemon's own word: a daemon learns of a full disk with its next write, a person wants to know before.
#pragma once

#include <cstdint>
#include <string>

namespace relay::cli {

struct DiskState {
  std::uint64_t free_bytes = 0;
  std::string problem = {};  // empty: it can be written
  std::string advice = {};
};

/// At the path, or at the nearest directory above it that exists.
DiskState look_at_disk(const std::string& path);

/// What `statvfs` and `access` say, judged. Pure.
struct DiskFacts {
  std::string path = {};
  std::uint64_t free_bytes = 0;
  std::uint64_t files = 0, free_files = 0;  // 0 of 0: the file system does not count them
  bool read_only = false;                   // the file system
  bool may_write = true;                    // this user, at the path
};
DiskState judge_disk(const DiskFacts& facts);

}  // namespace relay::cli
