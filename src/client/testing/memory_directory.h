/// A directory in memory that drops unsynced bytes on a crash, and fails on request.
///
/// Two crashes exist: `crash` (the program died: everything written stays) and `cut_power` (only synced bytes are
/// certain; of the rest a random part survives, and the last bytes may be garbage).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/directory.h"
#include "base/random.h"

namespace relay::client::testing {

class MemoryDirectory final : public Directory {
 public:
  Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& name) override;
  Result<std::unique_ptr<AppendFile>> create(const std::string& name) override;
  Result<void> replace(const std::string& name, const std::string& with) override;
  Result<void> sync() override;
  Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) override;

  /// The program died; its open files become unusable.
  void crash() { ++life_; }
  void cut_power(Random& random);

  /// The next appends and syncs fail, this many times (an append then writes half of its bytes).
  int fail_appends = 0;
  int fail_syncs = 0;
  int syncs = 0;

  /// The current bytes; the caller may damage them.
  std::string* bytes(const std::string& name);

 private:
  struct Inode {
    std::string written;
    std::string synced;
  };
  class File;
  class Lock;
  using Names = std::map<std::string, std::shared_ptr<Inode>>;

  Names names_;
  Names synced_names_;
  std::set<std::string> locks_;
  int life_ = 0;
};

}  // namespace relay::client::testing
