#include "net/file_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"

namespace relay::net {
namespace {

constexpr std::uint32_t kDirectoryEvents =
    IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// A file behind a symbolic link is replaced in a directory that is not watched: the old file then loses a name.
constexpr std::uint32_t kFileEvents = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF;
constexpr std::size_t kEventBytes = 16U << 10;

std::string deepest_directory_above(const std::string& path) {
  auto directory = std::filesystem::path{path}.parent_path();
  std::error_code ignored;
  while (directory.has_relative_path() && !std::filesystem::is_directory(directory, ignored))
    directory = directory.parent_path();
  return directory.string();
}

}  // namespace

Result<std::unique_ptr<FileWatch>> FileWatch::start(AsioLoop& loop, std::string path, Callback on_change) {
  UniqueFd inotify{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!inotify && errno == EMFILE)
    return fail(
        relay::format("cannot watch {}: this user has no inotify instances left; raise fs.inotify.max_user_instances "
                      "or stop other programs",
                      path));
  if (!inotify) return fail_errno(relay::format("cannot watch {}", path));
  std::unique_ptr<FileWatch> watch{new FileWatch{std::move(inotify), std::move(path), std::move(on_change)}};
  watch->watch_directory();
  if (watch->directory_watch_ < 0) return fail_errno(relay::format("cannot watch {}", watch->directory_));
  watch->update_watches();
  watch->readable_ =
      std::make_unique<ReadableWatch>(loop, watch->inotify_.get(), [self = watch.get()] { self->on_events(); });
  return watch;
}

FileWatch::FileWatch(UniqueFd inotify, std::string path, Callback on_change)
    : inotify_{std::move(inotify)},
      path_{std::move(path)},
      on_change_{std::make_shared<Callback>(std::move(on_change))} {}

FileWatch::~FileWatch() = default;

void FileWatch::on_events() {
  const auto before = file_;
  const auto [modified, removed] = read_events();
  update_watches();
  const auto callback = on_change_;  // the callback may destroy this watch
  if (before && file_ && (removed || *before != *file_)) return (*callback)(FileWatchEvent::Replaced);
  if (before && !file_) return (*callback)(FileWatchEvent::Removed);
  if (!before && file_) return (*callback)(FileWatchEvent::Created);
  if (modified && file_) return (*callback)(FileWatchEvent::Modified);
}

/// Reads the events of the file itself. The state of directories is looked up afterwards.
FileWatch::FileChanges FileWatch::read_events() {
  alignas(inotify_event) std::array<char, kEventBytes> bytes;
  FileChanges changes;
  for (ssize_t count; (count = ::read(inotify_.get(), bytes.data(), bytes.size())) > 0;) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      const auto* event = reinterpret_cast<const inotify_event*>(bytes.data() + at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0 || (event->wd == file_watch_ && (event->mask & IN_MODIFY) != 0))
        changes.modified = true;
      if (event->wd == directory_watch_ && (event->mask & IN_MOVE_SELF) != 0)
        ::inotify_rm_watch(inotify_.get(), std::exchange(directory_watch_, -1));
      if ((event->mask & IN_IGNORED) == 0) continue;
      if (event->wd == directory_watch_) directory_watch_ = -1;
      if (event->wd != file_watch_) continue;
      file_watch_ = -1;
      changes.removed = true;
    }
  }
  return changes;
}

/// Repeats until the watched directory is the deepest existing one: another may appear while its parent is being
/// watched.
void FileWatch::update_watches() {
  for (;;) {
    if (deepest_directory_above(path_) != directory_ || directory_watch_ < 0) watch_directory();
    if (directory_watch_ < 0 || deepest_directory_above(path_) == directory_) break;
  }
  watch_file();
}

void FileWatch::watch_directory() {
  if (directory_watch_ >= 0) ::inotify_rm_watch(inotify_.get(), directory_watch_);
  directory_ = deepest_directory_above(path_);
  directory_watch_ = ::inotify_add_watch(inotify_.get(), directory_.c_str(), kDirectoryEvents);
}

void FileWatch::watch_file() {
  const auto now = current_identity();
  if (now == file_ && (!now || file_watch_ >= 0)) return;
  if (file_watch_ >= 0) ::inotify_rm_watch(inotify_.get(), file_watch_);
  file_watch_ = now ? ::inotify_add_watch(inotify_.get(), path_.c_str(), kFileEvents) : -1;
  file_ = now;
}

std::optional<FileWatch::Identity> FileWatch::current_identity() const {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) != 0) return std::nullopt;
  return Identity{.device = status.st_dev, .inode = status.st_ino};
}

}  // namespace relay::net
