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
// Behind a link the file is replaced in a directory that is not watched: the old one then loses a name.
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

Result<std::unique_ptr<FileWatch>> FileWatch::begin(AsioLoop& loop, std::string path, Callback on_change) {
  UniqueFd inotify{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!inotify && errno == EMFILE)
    return fail(relay::format(
        "cannot watch {}: this user has no watches left; raise fs.inotify.max_user_instances, or end other programs",
        path));
  if (!inotify) return fail_errno(relay::format("cannot watch {}", path));
  std::unique_ptr<FileWatch> watch{new FileWatch{std::move(inotify), std::move(path), std::move(on_change)}};
  watch->watch_directory();
  if (watch->directory_watch_ < 0) return fail_errno(relay::format("cannot watch {}", watch->directory_));
  watch->settle();
  watch->readable_ =
      std::make_unique<ReadableWatch>(loop, watch->inotify_.get(), [it = watch.get()] { it->on_events(); });
  return watch;
}

FileWatch::FileWatch(UniqueFd inotify, std::string path, Callback on_change)
    : inotify_{std::move(inotify)},
      path_{std::move(path)},
      on_change_{std::make_shared<Callback>(std::move(on_change))} {}

FileWatch::~FileWatch() = default;

void FileWatch::on_events() {
  const auto before = file_;
  const auto [written, lost] = take_events();
  settle();
  const auto callback = on_change_;  // may destroy this watch
  if (before && file_ && (lost || *before != *file_)) return (*callback)(FileWatchEvent::Replaced);
  if (before && !file_) return (*callback)(FileWatchEvent::Gone);
  if (!before && file_) return (*callback)(FileWatchEvent::Came);
  if (written && file_) return (*callback)(FileWatchEvent::Written);
}

/// What happened to the file itself. What happened in directories is looked up afterwards.
FileWatch::Happened FileWatch::take_events() {
  alignas(inotify_event) std::array<char, kEventBytes> bytes;
  Happened happened;
  for (ssize_t count; (count = ::read(inotify_.get(), bytes.data(), bytes.size())) > 0;) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      const auto* event = reinterpret_cast<const inotify_event*>(bytes.data() + at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0 || (event->wd == file_watch_ && (event->mask & IN_MODIFY) != 0))
        happened.written = true;
      if (event->wd == directory_watch_ && (event->mask & IN_MOVE_SELF) != 0)
        ::inotify_rm_watch(inotify_.get(), std::exchange(directory_watch_, -1));
      if ((event->mask & IN_IGNORED) == 0) continue;
      if (event->wd == directory_watch_) directory_watch_ = -1;
      if (event->wd != file_watch_) continue;
      file_watch_ = -1;
      happened.lost = true;
    }
  }
  return happened;
}

/// Until what is watched is what is there: a directory that came while the one above it was being watched counts too.
void FileWatch::settle() {
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
  const auto now = present();
  if (now == file_ && (!now || file_watch_ >= 0)) return;
  if (file_watch_ >= 0) ::inotify_rm_watch(inotify_.get(), file_watch_);
  file_watch_ = now ? ::inotify_add_watch(inotify_.get(), path_.c_str(), kFileEvents) : -1;
  file_ = now;
}

std::optional<FileWatch::Identity> FileWatch::present() const {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) != 0) return std::nullopt;
  return Identity{.device = status.st_dev, .inode = status.st_ino};
}

}  // namespace relay::net
