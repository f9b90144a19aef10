/// Tells when one file was written to, came, was replaced or went. The kernel says so; nothing is polled.
///
/// Why more than inotify's own watch: a watch is on an inode, we mean a path. The file, and the directories above it, may
///   come later (agents name their record before they write it), and another file may be put in its place.
/// Invariants: one callback for whatever happened since the last one; a change is never left untold, though several may
///   be told as one. Nothing is told of what was there at the beginning.
/// Ownership: destroying the watch ends it, also from inside the callback.
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

enum class FileWatchEvent : std::uint8_t { Written, Came, Replaced, Gone };

class FileWatch {
 public:
  using Callback = std::move_only_function<void(FileWatchEvent)>;

  /// The path is absolute. Fails when the kernel has no watches left for this user.
  static Result<std::unique_ptr<FileWatch>> begin(AsioLoop& loop, std::string path, Callback on_change);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
  };

  struct Happened {
    bool written = false;
    bool lost = false;  // it is gone, though another may have its number already
  };

  FileWatch(UniqueFd inotify, std::string path, Callback on_change);

  void on_events();
  Happened take_events();
  void settle();
  void watch_directory();
  void watch_file();
  std::optional<Identity> present() const;

  UniqueFd inotify_;
  std::string path_;
  std::string directory_;  // the deepest one above the file that exists; watched
  int directory_watch_ = -1;
  int file_watch_ = -1;
  std::optional<Identity> file_;
  std::shared_ptr<Callback> on_change_;
  std::unique_ptr<ReadableWatch> readable_;
};

}  // namespace relay::net
