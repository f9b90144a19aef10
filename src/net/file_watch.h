/// Watches one path and reports that its file was modified, created, replaced or removed. Uses inotify, without
/// polling.
///
/// Why more than an inotify watch: inotify watches an inode, the caller names a path. The file and the directories
///   above it may be created later (agents announce a transcript before they write it), and another file may replace
///   it.
/// Invariants: one callback covers all changes since the last one; no change is lost, but several may be reported as
///   one. The state at the start is not reported.
/// Ownership: destroying the watch ends it, also inside the callback.
/// Threading: loop thread only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::net {

class AsioLoop;
class ReadableWatch;

enum class FileWatchEvent : std::uint8_t { Modified, Created, Replaced, Removed };

class FileWatch {
 public:
  using Callback = std::move_only_function<void(FileWatchEvent)>;

  /// The path is absolute. Fails when this user has no inotify instances left.
  static Result<std::unique_ptr<FileWatch>> start(AsioLoop& loop, std::string path, Callback on_change);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
  };

  struct FileChanges {
    bool modified = false;
    bool removed = false;  // the inode is deleted, even if a new file has its number
  };

  FileWatch(UniqueFd inotify, std::string path, Callback on_change);

  void on_events();
  FileChanges read_events();
  void update_watches();
  void watch_directory();
  void watch_file();
  std::optional<Identity> current_identity() const;

  UniqueFd inotify_;
  std::string path_;
  std::string directory_;  // the deepest existing directory above the file; watched
  int directory_watch_ = -1;
  int file_watch_ = -1;
  std::optional<Identity> file_;
  std::shared_ptr<Callback> on_change_;
  std::unique_ptr<ReadableWatch> readable_;
};

}  // namespace relay::net
