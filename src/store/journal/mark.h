/// The newest acknowledged commit, in a small file: `<database>-reached`. Private to src/store.
///
/// Why: an unreadable record at the end of a journal was either never acknowledged (a torn write) or is damaged. The
///   mark distinguishes the two, even when the whole journal or the database is missing.
/// Invariants: written after a commit is in the journal and before it is acknowledged, so it is never ahead of the
///   journal; not synced, so after a power cut it may be behind.
/// Threading: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/message_store.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {

struct JournalMark {
  std::uint64_t id = 0;  // of the store
  std::uint64_t epoch = 0;
  JournalReach reach;
};

class JournalMarkFile {
 public:
  JournalMarkFile(std::string path, std::string vfs) : path_{std::move(path)}, vfs_{std::move(vfs)} {}

  /// Empty when the file is missing or damaged.
  [[nodiscard]] std::optional<JournalMark> read() const;
  Result<void> write(const JournalMark& mark);

 private:
  std::string path_, vfs_;
  std::unique_ptr<VfsFile> file_;
};

inline std::string mark_path(const std::string& database) { return database + "-reached"; }

}  // namespace relay::store
