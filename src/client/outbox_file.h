/// The outbox on disk: appended to, synced, and rewritten when most of it is history.
///
/// Invariants: after a failed append or sync nothing is appended any more until a rewrite from the living entries
///   succeeded, so a record never follows a torn one. The file stays below kRewriteSlackBytes plus four times what
///   lives in it. Held by one program at a time (a lock file beside it).
/// Ownership: borrows the directory, which outlives it. Threading: one thread.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/directory.h"
#include "client/outbox_format.h"

namespace relay::client {

inline constexpr std::size_t kRewriteSlackBytes = 256 * 1024;
inline constexpr std::size_t kRewriteFactor = 4;

class OutboxFile {
 public:
  OutboxFile(Directory& directory, std::string name, std::unique_ptr<DirectoryLock> lock)
      : directory_{directory}, name_{std::move(name)}, lock_{std::move(lock)} {}

  /// Writes everything that lives into a new file that takes the old one's place, synced.
  Result<void> rewrite(std::string_view epoch, std::uint64_t next, const std::deque<OutboxEntry>& entries);
  /// Goes on behind what `parse_outbox` found whole.
  Result<void> continue_after(std::size_t bytes);

  Result<void> append(std::string_view records);
  Result<void> sync();

  [[nodiscard]] bool usable() const { return file_ != nullptr; }
  [[nodiscard]] bool wants_rewrite(std::size_t living_bytes) const {
    return !usable() || mostly_history(bytes_, living_bytes);
  }

  static constexpr bool mostly_history(std::size_t file_bytes, std::size_t living_bytes) {
    return file_bytes > kRewriteSlackBytes + kRewriteFactor * living_bytes;
  }

 private:
  Directory& directory_;
  std::string name_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<AppendFile> file_;  // null: broken, a rewrite comes first
  std::size_t bytes_ = 0;
  bool dirty_ = false;
};

}  // namespace relay::client
