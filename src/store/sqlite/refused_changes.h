/// Acknowledged changes that the database refuses, in a file beside it: `<database>-refused`. Private to src/store.
///
/// Why: the journal drops a commit once the database has it. A change of that commit which contradicts the database
///   (its key belongs to another row, its message is missing) may belong to an acknowledged message. It is kept here
///   and retried at each opening of the store, because a recovery may remove the contradiction.
/// Invariants: a change is on disk when keep() returns; a change is kept once; changes stay in order; a change that
///   builds on a kept one is kept behind it, so a delivery that has finished meanwhile does not come back as pending; a
///   damaged record loses no other; the file has at most kMaxBytes and is deleted when it is empty.
/// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/changes.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {

class RefusedChanges {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;

  RefusedChanges(const std::string& database, std::string vfs) : path_{database + "-refused"}, vfs_{std::move(vfs)} {}

  /// Reads the changes that an earlier process kept.
  Result<void> load();

  enum class KeepResult { Added, Duplicate, Full };
  Result<KeepResult> keep(const records::Change& change);
  /// Calls `apply` for each, in order; true: the database has it, and the file drops it. A change that builds on a
  /// refused one is skipped. Returns the number dropped.
  Result<std::size_t> retry(const std::function<Result<bool>(const records::Change&)>& apply);

  /// Ends recovery. The broker that starts now has no row refused before, so only changes kept from now on count as a
  /// base.
  void finish_recovery() { messages_.clear(), deliveries_.clear(); }
  /// True if the change builds on a kept one.
  [[nodiscard]] bool has_base_of(const records::Change& change) const;
  [[nodiscard]] std::size_t size() const { return changes_.size(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct RefusedChange {
    std::uint64_t at = 0;  // in the file
    std::uint64_t check = 0;
    records::Change change;
  };

  Result<void> open();
  void remember(const records::Change& change);

  std::string path_, vfs_;
  std::unique_ptr<VfsFile> file_;
  std::vector<RefusedChange> changes_;
  std::set<Key> messages_, deliveries_;  // of the kept changes; after finish_recovery(): of those kept since
};

}  // namespace relay::store
