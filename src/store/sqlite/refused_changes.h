/// Acknowledged changes that the database refuses, in a file beside it: `<database>-refused`. Private to src/store.
///
/// Why: the journal forgets a commit once the database has it. A change of that commit which contradicts the database (its
///   key belongs to another row, its message is missing) may belong to an acknowledged message, so it is kept here and
///   tried again whenever the store is opened: after a recovery the contradiction may be gone.
/// Invariants: a change is on the disk when keep() returns; a change is kept once; changes stay in the order of keeping; what
///   builds on a kept change is kept behind it, so a delivery that was finished meanwhile does not come back as pending; a
///   record that is damaged costs no other; the file is at most kMaxBytes large and is deleted when nothing waits in it.
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

  /// Reads what an earlier life kept.
  Result<void> load();

  enum class Kept { Now, Before, NoRoom };
  Result<Kept> keep(const records::Change& change);
  /// Gives each to `apply`, in order; true: the database has it, and it is dropped from the file. What builds on a change
  /// that is still refused is not tried. Returns how many were dropped.
  Result<std::size_t> retry(const std::function<Result<bool>(const records::Change&)>& apply);

  /// From here on only what is kept from now on counts as a base: a broker that starts knows no row that was refused before.
  void start_work() { messages_.clear(), deliveries_.clear(); }
  /// Does the change build on one that is kept?
  [[nodiscard]] bool is_base_of(const records::Change& change) const;
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Waiting {
    std::uint64_t at = 0;  // in the file
    std::uint64_t check = 0;
    records::Change change;
  };

  Result<void> open();
  void remember(const records::Change& change);

  std::string path_, vfs_;
  std::unique_ptr<VfsFile> file_;
  std::vector<Waiting> waiting_;
  std::set<Key> messages_, deliveries_;  // of the changes that wait; since start_work: of those kept since
};

}  // namespace relay::store
