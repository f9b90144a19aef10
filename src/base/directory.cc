#include "base/directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/format.h"

namespace relay {
namespace {

constexpr int kCommonFlags = O_CLOEXEC | O_NOFOLLOW;
constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;

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

Result<std::unique_ptr<DiskDirectory>> DiskDirectory::open(const std::string& path) {
  if (::mkdir(path.c_str(), kDirectoryMode) != 0 && errno != EEXIST)
    return fail_errno(format("cannot create the directory {}", path));
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd) return fail_errno(format("cannot open the directory {}", path));
  return std::unique_ptr<DiskDirectory>{new DiskDirectory{path, std::move(fd)}};
}

Result<std::optional<std::string>> DiskDirectory::read(const std::string& name, std::size_t max_bytes) {
  const UniqueFd fd{::openat(fd_.get(), name.c_str(), O_RDONLY | kCommonFlags)};
  if (!fd && errno == ENOENT) return std::optional<std::string>{};
  if (!fd) return fail_errno(format("cannot open {}", full(name)));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(format("cannot read {}", full(name)));
  if (!S_ISREG(status.st_mode)) return fail(format("{} is no ordinary file; move it away", full(name)));
  if (static_cast<std::size_t>(status.st_size) > max_bytes)
    return fail(
        format("{} has {} bytes, more than the {} it may have; move it away", full(name), status.st_size, max_bytes));
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = ::read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(format("cannot read {}", full(name)));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return std::optional{std::move(bytes)};
}

Result<std::unique_ptr<AppendFile>> DiskDirectory::open_append(const std::string& name) {
  UniqueFd fd{::openat(fd_.get(), name.c_str(), O_WRONLY | O_APPEND | kCommonFlags)};
  if (!fd) return fail_errno(format("cannot open {}", full(name)));
  return std::make_unique<DiskFile>(full(name), std::move(fd));
}

Result<std::unique_ptr<AppendFile>> DiskDirectory::create(const std::string& name) {
  UniqueFd fd{::openat(fd_.get(), name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | kCommonFlags, kFileMode)};
  if (!fd) return fail_errno(format("cannot create {}", full(name)));
  return std::make_unique<DiskFile>(full(name), std::move(fd));
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

Result<std::unique_ptr<DirectoryLock>> DiskDirectory::lock(const std::string& name) {
  UniqueFd fd{::openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | kCommonFlags, kFileMode)};
  if (!fd) return fail_errno(format("cannot open {}", full(name)));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return fail(LockErrc::Held, format("{} is held by another program; only one may use it", full(name)));
    return fail_errno(format("cannot lock {}", full(name)));
  }
  // Only a courtesy to whoever finds it held: the lock itself is the kernel's.
  const auto holder = format("{}\n", ::getpid());
  [[maybe_unused]] const bool noted =
      ::ftruncate(fd.get(), 0) == 0 && ::pwrite(fd.get(), holder.data(), holder.size(), 0) > 0;
  return std::make_unique<DiskLock>(std::move(fd));
}

}  // namespace relay
