/// Commits in the order they were made, in files beside the database, until the database has them.
///
/// Why: a database touches some twenty pages for one message; to keep the promise of an acknowledgement one append is
///   enough. What was appended is applied to the database a moment later, many commits at a time.
/// Files: `<database>-commits0`, `-commits1`, … of about kSegmentBytes, used again in turn once the database has what
///   they hold. A record is followed by the next; each is bound to the one before it by its checksum, so that what an
///   earlier turn left in a file, or a write that was cut, is never taken for a record. docs/spec/store.md has the bytes.
/// Invariants: commits are numbered from 1 without a gap; what was refused is not there (unless the process dies while it
///   is being refused); nothing is used again before release() said so.
/// Threading: any one thread appends and syncs; release(), newest() and read() from another are safe beside it, pass() and
///   clean() while nothing is being appended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/changes.h"
#include "store/message_store.h"
#include "store/vfs_file.h"

namespace relay::store {

class Journal {
 public:
  static constexpr std::size_t kSegmentBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxSegments = 64;
  static constexpr std::size_t kFrameBytes = 16;  // in front of each record

  struct Options {
    std::string database;      // whose files they are
    std::string vfs = {};      // where they are; empty is the machine's own
    std::uint64_t id = 0;      // of the store; files of another one are set aside
    CommitNumber applied = 0;  // the store has everything up to here
    WallMs now = 0;            // names what is set aside
  };
  /// One commit that the store does not have yet.
  using Replay = std::function<Result<void>(CommitNumber number, records::Changes changes)>;

  /// Tells everything after `applied` and begins anew behind it.
  static Result<std::unique_ptr<Journal>> open(const Options& options, const Replay& replay);

  /// Some commits as one record: all of them are there after a crash, or none. `record` begins with kFrameBytes of room.
  Result<void> append(std::string& record, std::uint32_t commits);
  /// What was appended survives a power cut. When that fails it is taken back.
  Result<void> sync();
  /// What was appended need not survive one: it is safe as it is.
  void accept();
  /// What was appended since it was safe last is not there, also after a crash.
  void take_back();
  /// Nothing that was taken back is left on the disk. Without that nothing is appended, nor may anything go past.
  Result<void> clean();

  /// The store has commits up to `number` that the journal never had: what comes next follows those.
  void pass(CommitNumber number);

  /// Everything up to `number` is in the database, for as long as the database itself lasts.
  void release(CommitNumber number);
  /// Tells what is still there after `number`.
  Result<void> read(CommitNumber after, const Replay& replay);

  [[nodiscard]] CommitNumber newest() const;
  /// Where the newest segment begins: release()d up to here, all others may be used again.
  [[nodiscard]] CommitNumber newest_segment() const;
  /// Was there anything of an earlier life?
  [[nodiscard]] bool found_files() const { return found_files_; }
  /// One sentence for the person when files had to be set aside; empty when all was well.
  [[nodiscard]] const std::string& warning() const { return warning_; }

  /// Deletes the files: the database has everything, and is closed.
  void discard();

 private:
  struct Segment {
    std::string path;
    std::unique_ptr<VfsFile> file;
    CommitNumber first = 0;               // the first commit in it; 0: it holds nothing
    std::uint64_t follows = 0, seed = 0;  // checksum of the record before it, and what that of its first begins with
    bool in_use = false;                  // holds what the database may not have
    bool unsynced = false;
  };

  /// Where the next record goes.
  struct End {
    std::size_t segment = SIZE_MAX;  // none yet
    std::uint64_t offset = 0;
    CommitNumber newest = 0;
    std::uint64_t chain = 0;  // the checksum of the newest record
  };

  /// Bytes of what was taken back that would still be read.
  struct Ghost {
    std::size_t segment = 0;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
  };

  explicit Journal(const Options& options) : options_{options} { end_.newest = options.applied; }

  [[nodiscard]] std::string path_of(std::size_t place) const;
  Result<void> find_segments();
  Result<Segment> look_at(const std::string& path);
  Result<void> scan(Segment& segment, CommitNumber after, const Replay& replay, End& end);
  Result<void> replay_all(const Replay& replay);
  Result<void> set_aside(Segment& segment, std::string_view why);
  Result<void> open_segment();
  Result<void> clean_locked();

  Options options_;
  std::string warning_;
  bool found_files_ = false;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Segment> segments_;
  End end_;
  End safe_;  // what was appended behind it is not, yet
  std::vector<Ghost> ghosts_;
};

}  // namespace relay::store
