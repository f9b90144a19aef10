/// The outbox on disk: appended to, synced, and rewritten when most of it is answered.
///
/// Invariants: after a failed append or sync nothing is appended until a rewrite from the live entries succeeded, so a
///   record never follows a torn one. The file stays below kRewriteSlackBytes plus four times its live bytes. A lock
///   file beside it limits it to one program at a time.
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

  /// Writes the live entries to a new file, syncs it and replaces the old one.
  Result<void> rewrite(std::string_view epoch, std::uint64_t next, const std::deque<OutboxEntry>& entries);
  /// Appends after the intact bytes that `parse_outbox` found.
  Result<void> continue_after(std::size_t bytes);

  Result<void> append(std::string_view records);
  Result<void> sync();

  [[nodiscard]] bool usable() const { return file_ != nullptr; }
  [[nodiscard]] bool wants_rewrite(std::size_t live_bytes) const {
    return !usable() || mostly_history(bytes_, live_bytes);
  }

  static constexpr bool mostly_history(std::size_t file_bytes, std::size_t live_bytes) {
    return file_bytes > kRewriteSlackBytes + kRewriteFactor * live_bytes;
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
