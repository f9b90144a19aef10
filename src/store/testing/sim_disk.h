/// A disk in memory that tracks synced writes, as a SQLite file system: for crash tests and simulation.
///
/// Each write stays "in flight" until its file is synced. A power cut (`crash`) decides for every write in flight,
/// sector by sector, whether it survives: writes to one file are unordered between syncs and may be torn. Names of
/// files are durable at once. Every use of a handle from before a crash or kill fails, so a store from before it can only
/// be destroyed.
/// Deterministic: no clock, no randomness but the one passed to `crash`.
/// Ownership: must outlive every connection that uses it. Threading: any thread; one mutex guards the files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace relay::store {

class SimDisk {
 public:
  static constexpr std::size_t kSectorBytes = 512;

  /// Registers itself with SQLite as `simdisk-N`.
  SimDisk();
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  /// The name for SqliteOptions::vfs (with Sharing::Exclusive: there is no shared memory here).
  [[nodiscard]] const std::string& vfs() const;

  /// Cuts the power: each unsynced write survives, is dropped or is torn.
  void crash(Random& random);
  /// Kills the process: its handles fail, its writes stay.
  void kill();

  /// Kills the process after this many more writes, truncations and syncs.
  void kill_after(std::uint64_t operations);

  /// The next `count` writes (or syncs) report an I/O error.
  void fail_next_writes(std::uint64_t count);
  void fail_next_syncs(std::uint64_t count);
  /// While full, a file cannot grow.
  void set_full(bool full);
  /// While read-only, nothing is written, created or deleted.
  void set_read_only(bool read_only);

  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] std::optional<std::string> read(const std::string& path) const;
  /// Creates or replaces a file, synced.
  void put(const std::string& path, std::string bytes);

  /// Damages one file that is not empty: a bit, some bytes, its end or its start. Returns a description; empty when
  /// there is no such file. Quarantined files are not damaged. No handle may be open.
  std::string damage(Random& random);

  [[nodiscard]] std::uint64_t syncs() const;

  class Files;

 private:
  std::unique_ptr<Files> files_;
};

}  // namespace relay::store
