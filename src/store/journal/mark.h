/// How far the journal had come, in a small file of its own: `<database>-reached`. Private to src/store.
///
/// Why: a record at the end of a journal that cannot be read was either never acknowledged (a crash, normal life) or is
///   damaged. The mark tells which, also when the whole journal or the database is gone.
/// Invariants: written after a commit is safe and before it is acknowledged, so it is never ahead of what was safe; not
///   synced, so after a power cut it may be behind.
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

  /// Nothing when there is none that is whole.
  [[nodiscard]] std::optional<JournalMark> read() const;
  Result<void> write(const JournalMark& mark);

 private:
  std::string path_, vfs_;
  std::unique_ptr<VfsFile> file_;
};

inline std::string mark_path(const std::string& database) { return database + "-reached"; }

}  // namespace relay::store
