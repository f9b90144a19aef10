/// Commits in the order they were made, in files beside the database, until the database has them.
///
/// Why: a database touches some twenty pages for one message; to keep the promise of an acknowledgement one append is
///   enough. What was appended is applied to the database a moment later, many commits at a time.
/// Files: `<database>-commits0`, `-commits1`, … of about kSegmentBytes, used again in turn once the database has what
///   they hold. A record carries its number and a checksum under a seed of its segment, so that what an earlier turn left
///   in a file, or a write that was cut, is never taken for a record, and one that is damaged costs no other.
///   `<database>-reached` says how far it had come (journal_mark.h). docs/spec/store.md has the bytes.
/// Damage: a commit that was acknowledged and cannot be read is counted, its file is set aside, and the commits behind it
///   are told all the same. What cannot be read and was never acknowledged is what a crash leaves: it is ignored.
/// Invariants: commits are numbered from 1 without a gap; what was refused is not there (unless the process dies while it
///   is being refused); nothing is used again before release() said so.
/// Threading: any one thread appends and syncs; release(), newest() and read() from another are safe beside it, pass() and
///   clean() while nothing is being appended.
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
    std::string database;       // whose files they are
    std::string vfs = {};       // where they are; empty is the machine's own
    std::uint64_t id = 0;       // of the store; files of another one are set aside
    JournalReach applied = {};  // the store has everything up to here
    WallMs now = 0;             // names what is set aside
    /// The machine went down and nothing was synced: what is behind the first hole is given up, so that the commits that
    /// survive are the first ones.
    bool power_lost = false;
    /// The store was recovered from a damaged one: commits that it should have are told again as well.
    bool report_all = false;
  };
  /// One commit that the store does not have yet.
  using Replay = std::function<Result<void>(JournalReach place, records::Changes changes)>;

  /// Tells everything after `applied` and begins anew behind it.
  static Result<std::unique_ptr<Journal>> open(const Options& options, const Replay& replay);
  /// The store whose journal or mark lies beside this database, which may be gone; nothing when there is none.
  static std::optional<std::uint64_t> store_beside(const std::string& database, const std::string& vfs);

  /// Some commits as one record: all of them are there after a crash, or none. `record` begins with kFrameBytes of room.
  Result<void> append(std::string& record, std::uint32_t commits, std::uint32_t messages = 0);
  /// What was appended survives a power cut. When that fails it is taken back.
  Result<void> sync();
  /// What was appended need not survive one: it is safe as it is, and marked so. When that fails it is taken back.
  Result<void> mark_safe();
  /// What was appended since it was safe last is not there, also after a crash.
  void roll_back();
  /// Nothing that was taken back is left on the disk. Without that nothing is appended, nor may anything go past.
  Result<void> erase_rolled_back();

  /// The store has commits up to `number` that the journal never had: what comes next follows those.
  /// An error: that is so, and only the mark is behind; mark() writes it again.
  Result<void> skip_to(JournalReach reach);
  /// Marks how far all is safe. Until then damage to what was passed would not be counted.
  Result<void> mark();

  /// Everything up to `number` is in the database, for as long as the database itself lasts.
  void mark_applied(CommitNumber number);
  /// Tells what is still there after `number`.
  Result<void> read(CommitNumber after, const Replay& replay);

  [[nodiscard]] CommitNumber newest() const { return reach().commits; }
  [[nodiscard]] JournalReach reach() const;
  /// Where the newest segment begins: release()d up to here, all others may be used again.
  [[nodiscard]] CommitNumber newest_segment() const;
  /// Was there anything of an earlier life?
  [[nodiscard]] bool found_files() const { return found_files_; }
  /// What was lost or set aside at the opening.
  [[nodiscard]] const Damage& damage() const { return damage_; }

  /// Deletes the files: the database has everything, and is closed.
  void discard();

 private:
  struct Segment {
    std::string path;
    std::unique_ptr<VfsFile> file;
    CommitNumber first = 0;  // the first commit in it; 0: it holds nothing
    std::uint64_t seed = 0;  // of its records' checksums
    bool in_use = false;     // holds what the database may not have
    bool unsynced = false;
  };

  /// Where the next record goes.
  struct End {
    std::size_t segment = SIZE_MAX;  // none yet
    std::uint64_t offset = 0;
    JournalReach reach;
  };

  /// Bytes of what was taken back that would still be read.
  struct StaleRange {
    std::size_t segment = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  struct Found;  // a segment as an earlier life left it

  explicit Journal(const Options& options);

  [[nodiscard]] std::string path_of(std::size_t place) const;
  Result<std::vector<Found>> find_segments();
  Result<void> replay_all(std::vector<Found>& found, const Replay& replay);
  Result<void> set_aside(const std::string& path, std::string_view reason);
  Result<void> open_segment();
  Result<void> clean_locked();

  Options options_;
  Damage damage_;
  bool found_files_ = false;
  std::uint64_t epoch_ = 1;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Segment> segments_;
  End end_;
  End safe_;  // what was appended behind it is not, yet
  JournalMarkFile mark_;
  std::vector<StaleRange> ghosts_;
};

}  // namespace relay::store
