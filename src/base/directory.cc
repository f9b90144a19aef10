#include "base/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <limits>
#include <utility>

#include "base/beneath.h"
#include "base/format.h"

namespace relay {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kNanosPerMilli = 1'000'000;

class DiskFile final : public AppendFile {
 public:
  DiskFile(std::string path, UniqueFd fd) : path_{std::move(path)}, fd_{std::move(fd)} {}

  Result<void> append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto written = ::write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno(format("cannot write {}", path_));
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Result<void> sync() override {
    if (::fdatasync(fd_.get()) != 0) return fail_errno(format("cannot sync {}", path_));
    return {};
  }

 private:
  std::string path_;
  UniqueFd fd_;
};

class DiskLock final : public DirectoryLock {
 public:
  explicit DiskLock(UniqueFd fd) : fd_{std::move(fd)} {}

 private:
  UniqueFd fd_;
};

}  // namespace

Result<std::unique_ptr<DiskDirectory>> DiskDirectory::enter(const std::string& path) {
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd) return fail_errno(format("cannot open the directory {}", path));
  return std::unique_ptr<DiskDirectory>{new DiskDirectory{path, std::move(fd)}};
}

Result<std::unique_ptr<DiskDirectory>> DiskDirectory::open(const std::string& path) {
  if (::mkdir(path.c_str(), kDirectoryMode) != 0 && errno != EEXIST)
    return fail_errno(format("cannot create the directory {}", path));
  auto opened = RELAY_TRY(enter(path));
  RELAY_TRY(check_owner(opened->fd_.get(), path));
  return opened;
}

Result<std::unique_ptr<DiskDirectory>> DiskDirectory::open_below(const std::string& name) const {
  const auto path = full(name);
  auto fd = RELAY_TRY(open_directory_beneath({fd_.get(), name, path}));
  return std::unique_ptr<DiskDirectory>{new DiskDirectory{path, std::move(fd)}};
}

Result<std::unique_ptr<DiskDirectory>> DiskDirectory::open_inside(const std::string& root,
                                                                  const std::vector<std::string>& names) {
  auto inside = RELAY_TRY(enter(root));
  for (const auto& name : names) {
    if (::mkdirat(inside->fd_.get(), name.c_str(), kDirectoryMode) != 0 && errno != EEXIST)
      return fail_errno(format("cannot create the directory {}", inside->full(name)));
    inside = RELAY_TRY(inside->open_below(name));
  }
  if (::fchmod(inside->fd_.get(), kDirectoryMode) != 0) return fail_errno(format("cannot protect {}", inside->path_));
  return inside;
}

Result<std::unique_ptr<DiskDirectory>> DiskDirectory::find_inside(const std::string& root,
                                                                  const std::vector<std::string>& names) {
  auto inside = RELAY_TRY(enter(root));
  for (const auto& name : names) {
    auto below = inside->open_below(name);
    if (!below && is(below.error(), BeneathErrc::Absent)) return nullptr;
    inside = RELAY_TRY(std::move(below));
  }
  return inside;
}

Result<UniqueFd> DiskDirectory::open_file(const std::string& name, int flags) const {
  return open_file_beneath({fd_.get(), name, full(name)}, flags);
}

std::vector<DiskDirectory::Entry> DiskDirectory::entries(mode_t kind) const {
  std::vector<Entry> found;
  const int copy = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (listing == nullptr && copy >= 0) ::close(copy);
  while (const dirent* entry = listing == nullptr ? nullptr : ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    struct stat status{};
    if (name == "." || name == ".." || ::fstatat(fd_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        (status.st_mode & S_IFMT) != kind)
      continue;
    found.push_back({status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec, std::string{name}});
  }
  if (listing != nullptr) ::closedir(listing);
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> DiskDirectory::files() const { return files_before(std::numeric_limits<WallMs>::max()); }

std::vector<std::string> DiskDirectory::files_before(WallMs time) const {
  std::vector<std::string> names;
  for (auto& entry : entries(S_IFREG))
    if (entry.written_ns / kNanosPerMilli < time) names.push_back(std::move(entry.name));
  return names;
}

std::vector<std::string> DiskDirectory::directories() const {
  std::vector<std::string> names;
  for (auto& entry : entries(S_IFDIR)) names.push_back(std::move(entry.name));
  return names;
}

bool DiskDirectory::remove_empty_directory(const std::string& name) {
  return ::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

Result<void> DiskDirectory::remove(const std::string& name) {
  if (::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT)
    return fail_errno(format("cannot remove {}", full(name)));
  return {};
}

Result<void> DiskDirectory::create_once(const std::string& name, std::string_view content) {
  UniqueFd fd{::openat(fd_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode)};
  if (!fd) return errno == EEXIST ? Result<void>{} : Result<void>{fail_errno(format("cannot create {}", full(name)))};
  return DiskFile{full(name), std::move(fd)}.append(content);
}

Result<UniqueFd> DiskDirectory::open_shared(const std::string& name) {
  return open_file(name, O_RDWR | O_APPEND | O_CREAT);
}

Result<std::optional<std::string>> DiskDirectory::read(const std::string& name, std::size_t max_bytes) {
  const auto opened = open_file(name, O_RDONLY);
  if (!opened && is(opened.error(), BeneathErrc::Absent)) return std::optional<std::string>{};
  if (!opened) return Failure{opened.error()};
  const int fd = opened->get();
  struct stat status{};
  if (::fstat(fd, &status) != 0) return fail_errno(format("cannot read {}", full(name)));
  if (static_cast<std::size_t>(status.st_size) > max_bytes)
    return fail(
        format("{} has {} bytes, more than the {} it may have; move it aside", full(name), status.st_size, max_bytes));
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(format("cannot read {}", full(name)));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return std::optional{std::move(bytes)};
}

Result<std::unique_ptr<AppendFile>> DiskDirectory::open_append(const std::string& name) {
  return std::make_unique<DiskFile>(full(name), RELAY_TRY(open_file(name, O_WRONLY | O_APPEND)));
}

Result<std::unique_ptr<AppendFile>> DiskDirectory::create(const std::string& name) {
  RELAY_TRY(remove(name));  // not truncated: it may be a pipe, or a file that has a second name elsewhere
  UniqueFd fd{::openat(fd_.get(), name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode)};
  if (!fd) return fail_errno(format("cannot create {}", full(name)));
  return std::make_unique<DiskFile>(full(name), std::move(fd));
}

std::optional<std::string> DiskDirectory::link_target(const std::string& name) const {
  char buffer[PATH_MAX];
  const ssize_t count = ::readlinkat(fd_.get(), name.c_str(), buffer, sizeof buffer);
  if (count < 0) return std::nullopt;
  return std::string(buffer, static_cast<std::size_t>(count));
}

Result<void> DiskDirectory::replace_link(const std::string& name, const std::string& target) {
  const auto fresh = name + ".new";
  RELAY_TRY(remove(fresh));
  if (::symlinkat(target.c_str(), fd_.get(), fresh.c_str()) != 0)
    return fail_errno(format("cannot make the link {}", full(name)));
  auto replaced = replace(name, fresh);
  if (!replaced) (void)remove(fresh);
  return replaced;
}

Result<void> DiskDirectory::replace(const std::string& name, const std::string& with) {
  if (::renameat(fd_.get(), with.c_str(), fd_.get(), name.c_str()) != 0)
    return fail_errno(format("cannot replace {}", full(name)));
  return {};
}

Result<void> DiskDirectory::sync() {
  if (::fsync(fd_.get()) != 0) return fail_errno(format("cannot sync the directory {}", path_));
  return {};
}

std::string_view describe(LockErrc code) {
  switch (code) {
    case LockErrc::Held: return "held by another program";
  }
  return "";
}

namespace {

Result<std::unique_ptr<DirectoryLock>> lock_open_file(UniqueFd fd, const std::string& path) {
  if (!fd) return fail_errno(format("cannot open {}", path));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return fail(LockErrc::Held, format("{} is held by another program; only one may use it", path));
    return fail_errno(format("cannot lock {}", path));
  }
  // The pid is only informative; the lock itself is the kernel's.
  const auto holder = format("{}\n", ::getpid());
  [[maybe_unused]] const bool written =
      ::ftruncate(fd.get(), 0) == 0 && ::pwrite(fd.get(), holder.data(), holder.size(), 0) > 0;
  return std::make_unique<DiskLock>(std::move(fd));
}

}  // namespace

Result<std::unique_ptr<DirectoryLock>> lock_file(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  return lock_open_file(UniqueFd{::open(path.c_str(), kFlags, kFileMode)}, path);
}

Result<std::unique_ptr<DirectoryLock>> DiskDirectory::lock(const std::string& name) {
  return lock_open_file(RELAY_TRY(open_file(name, O_RDWR | O_CREAT)), full(name));
}

}  // namespace relay
