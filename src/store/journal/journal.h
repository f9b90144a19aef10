/// Commits in order, in files beside the database, until the database has them.
///
/// Why: a database writes some twenty pages for one message; one append is enough to make a commit durable. The store
///   applies the appended commits to the database a moment later, many at a time.
/// Files: `<database>-commits0`, `-commits1`, … of about kSegmentBytes. A file is reused once the database has its
///   commits. A record has its number and a checksum under the seed of its segment, so leftovers of an earlier use and
///   torn writes are never read as records, and a damaged record loses no other. `<database>-reached` holds the newest
///   acknowledged commit (mark.h). docs/spec/store.md describes the bytes.
/// Damage: an acknowledged commit that cannot be read is counted, its file is quarantined, and the commits behind it
///   are still replayed. Unreadable bytes that were never acknowledged are a torn write and are ignored.
/// Invariants: commits are numbered from 1 without a gap; a rolled-back commit is not in the files (unless the process
///   dies while erasing it); no file is reused before mark_applied() covers it.
/// Threading: one thread appends and syncs; another may call mark_applied(), newest() and read() at any time, skip_to()
///   and erase_rolled_back() only while no append runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/changes.h"
#include "store/damage.h"
#include "store/journal/format.h"
#include "store/journal/mark.h"
#include "store/message_store.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {

class Journal {
 public:
  static constexpr std::size_t kSegmentBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxSegments = 64;
  static constexpr std::size_t kFrameBytes = sizeof(RecordFrame);  // in front of each record

  struct Options {
    std::string database;       // path of the database
    std::string vfs = {};       // SQLite file system of the files; empty: the machine's own
    std::uint64_t id = 0;       // of the store; files of another store are quarantined
    JournalReach applied = {};  // the store has every commit up to here
    WallMs now = 0;             // part of the names of quarantined files
    /// The machine went down and nothing was synced: commits behind the first gap are dropped, so the surviving commits
    /// are the first ones.
    bool power_lost = false;
    /// The store was recovered from a damaged one: commits that it should already have are replayed as well.
    bool replay_all = false;
  };
  /// Called for each commit that the store does not have yet.
  using Replay = std::function<Result<void>(JournalReach reach, records::Changes changes)>;

  /// Replays every commit after `applied` and continues behind the last one.
  static Result<std::unique_ptr<Journal>> open(const Options& options, const Replay& replay);
  /// The id of the store whose journal or mark lies beside this database, which may be missing; empty if there is none.
  static std::optional<std::uint64_t> store_beside(const std::string& database, const std::string& vfs);

  /// Appends commits as one record: after a crash all of them exist or none. `record` starts with kFrameBytes of room.
  Result<void> append(std::string& record, std::uint32_t commits, std::uint32_t messages = 0);
  /// Makes the appended records survive a power cut and marks them safe. On failure it rolls them back.
  Result<void> sync();
  /// Marks the appended records safe without a sync (durability `process`). On failure it rolls them back.
  Result<void> mark_safe();
  /// Removes the records appended since the last safe one, so that a reader after a crash does not find them.
  void roll_back();
  /// Erases the bytes of rolled-back records. Until it succeeds nothing is appended and no direct commit may run.
  Result<void> erase_rolled_back();

  /// The store has commits up to `reach` that never were in the journal: the next append follows those.
  /// An error means that only the mark is behind; mark() writes it again.
  Result<void> skip_to(JournalReach reach);
  /// Writes the mark of the newest safe commit. Until then damage to skipped commits would not be counted.
  Result<void> mark();

  /// The database has every commit up to `number` for good.
  void mark_applied(CommitNumber number);
  /// Replays the commits after `number` that are still in the files.
  Result<void> read(CommitNumber after, const Replay& replay);

  [[nodiscard]] CommitNumber newest() const { return reach().commits; }
  [[nodiscard]] JournalReach reach() const;
  /// The first commit of the newest segment: once mark_applied() covers those before it, all other segments are free.
  [[nodiscard]] CommitNumber newest_segment() const;
  /// The opening found files of an earlier process.
  [[nodiscard]] bool found_files() const { return found_files_; }
  /// What the opening lost or quarantined.
  [[nodiscard]] const Damage& damage() const { return damage_; }

  /// Deletes the files. The database has every commit and is closed.
  void discard();

 private:
  struct Segment {
    std::string path;
    std::unique_ptr<VfsFile> file;
    CommitNumber first = 0;  // the first commit in it; 0: it is empty
    std::uint64_t seed = 0;  // of its records' checksums
    bool in_use = false;     // has commits that the database may lack
    bool unsynced = false;
  };

  /// The position of the next record.
  struct End {
    std::size_t segment = SIZE_MAX;  // none yet
    std::uint64_t offset = 0;
    JournalReach reach;
  };

  /// Bytes of rolled-back records that a reader would still find.
  struct StaleRange {
    std::size_t segment = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  struct FoundSegment;  // a segment that an earlier process left

  explicit Journal(const Options& options);

  [[nodiscard]] std::string path_of(std::size_t index) const;
  Result<std::vector<FoundSegment>> find_segments();
  Result<void> replay_all(std::vector<FoundSegment>& found, const Replay& replay);
  Result<void> quarantine(const std::string& path, std::string_view reason);
  Result<void> open_segment();
  Result<void> erase_stale_locked();

  Options options_;
  Damage damage_;
  bool found_files_ = false;
  std::uint64_t epoch_ = 1;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Segment> segments_;
  End end_;
  End safe_;  // records behind it are not safe yet
  JournalMarkFile mark_;
  std::vector<StaleRange> stale_;
};

}  // namespace relay::store
