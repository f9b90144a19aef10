/// The part of a file system that an append-only log needs, as an interface, so that a test can supply a disk that
/// loses unsynced data.
///
/// Contract: bytes appended survive a crash of the program; they survive a power cut only once `sync` returned, and a
///   name (created, replaced) only once the directory's `sync` returned.
/// Threading: one thread. Ownership: a directory outlives its files and locks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace relay {

/// An open file that only grows.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  /// Appends all of the bytes or fails; after an error an unknown part of them may be there.
  virtual Result<void> append(std::string_view bytes) = 0;
  virtual Result<void> sync() = 0;
};

enum class LockErrc { Held };
std::string_view describe(LockErrc code);

/// Held until destroyed, or until the program dies.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

/// Locks a separate file, which is created when absent.
Result<std::unique_ptr<DirectoryLock>> lock_file(const std::string& path);

class Directory {
 public:
  virtual ~Directory() = default;
  /// The whole file; empty when it does not exist. Refuses files larger than `max_bytes`.
  virtual Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) = 0;
  /// Appends to an existing file.
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& name) = 0;
  /// Creates an empty file and replaces an existing one.
  virtual Result<std::unique_ptr<AppendFile>> create(const std::string& name) = 0;
  /// Atomic: a reader sees the old or the new file.
  virtual Result<void> replace(const std::string& name, const std::string& with) = 0;
  virtual Result<void> sync() = 0;
  /// One holder per name, among all programs; otherwise LockErrc::Held. On a disk the file then contains the holder's
  /// pid.
  virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) = 0;
};

/// The file system of the machine. Directory 0700, files 0600.
class DiskDirectory final : public Directory {
 public:
  /// Creates the last component of the path when it is absent. The directory must belong to this user.
  static Result<std::unique_ptr<DiskDirectory>> open(const std::string& path);
  /// A directory below `root`, created where it is absent, one name after the other. Every directory below `root` must
  /// belong to this user and no name may be a link (beneath.h), so that a project written by another user
  /// cannot lead outside `root`.
  static Result<std::unique_ptr<DiskDirectory>> open_inside(const std::string& root,
                                                            const std::vector<std::string>& names);
  /// The same without creating anything: null when it is absent.
  static Result<std::unique_ptr<DiskDirectory>> find_inside(const std::string& root,
                                                            const std::vector<std::string>& names);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Ordinary files, oldest first.
  [[nodiscard]] std::vector<std::string> files() const;
  /// Those of them last written before that time.
  [[nodiscard]] std::vector<std::string> files_before(WallMs time) const;
  /// Directories, without links to directories.
  [[nodiscard]] std::vector<std::string> directories() const;
  /// True when the directory no longer exists afterwards. A directory that is not empty stays.
  bool remove_empty_directory(const std::string& name);
  /// Succeeds when there is no such file.
  Result<void> remove(const std::string& name);
  /// Creates the file unless it exists.
  Result<void> create_once(const std::string& name, std::string_view content);
  /// Opens a file to which several programs append lines at the same time, each in one write. The file is created when
  /// absent, writes go to its end, and its content can be read. Only an ordinary file.
  Result<UniqueFd> open_shared(const std::string& name);
  /// The target of the link of that name; empty when it is not a link.
  [[nodiscard]] std::optional<std::string> link_target(const std::string& name) const;
  /// Replaces the link, file or socket of that name by a link. Atomic.
  Result<void> replace_link(const std::string& name, const std::string& target);

  Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& name) override;
  Result<std::unique_ptr<AppendFile>> create(const std::string& name) override;
  Result<void> replace(const std::string& name, const std::string& with) override;
  Result<void> sync() override;
  Result<std::unique_ptr<DirectoryLock>> lock(const std::string& name) override;

 private:
  struct Entry {
    std::int64_t written_ns;
    std::string name;
    auto operator<=>(const Entry&) const = default;
  };
  DiskDirectory(std::string path, UniqueFd fd) : path_{std::move(path)}, fd_{std::move(fd)} {}
  static Result<std::unique_ptr<DiskDirectory>> enter(const std::string& path);
  [[nodiscard]] Result<std::unique_ptr<DiskDirectory>> open_below(const std::string& name) const;
  /// Those of one kind (S_IFREG, S_IFDIR), oldest first.
  [[nodiscard]] std::vector<Entry> entries(mode_t kind) const;
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& name, int flags) const;
  [[nodiscard]] std::string full(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  UniqueFd fd_;
};

}  // namespace relay
