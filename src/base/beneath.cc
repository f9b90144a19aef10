#include "base/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "base/format.h"

namespace relay {
namespace {

constexpr int kAlways = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
constexpr mode_t kNewFileMode = 0600;

UniqueFd resolve_by_kernel(int directory, const std::string& relative, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd{static_cast<int>(::syscall(SYS_openat2, directory, relative.c_str(), &how, sizeof how))};
}

/// One name after the other. `..` is refused although it may stay inside: no caller needs it.
UniqueFd resolve_stepwise(int directory, std::string_view relative, int flags, mode_t mode) {
  UniqueFd at;
  for (;;) {
    const auto slash = relative.find('/');
    const std::string name{relative.substr(0, slash)};
    if (name.empty() || name == "..") {
      errno = EXDEV;
      return UniqueFd{};
    }
    const int above = at ? at.get() : directory;
    if (slash == std::string_view::npos) return UniqueFd{::openat(above, name.c_str(), flags | O_NOFOLLOW, mode)};
    UniqueFd below{::openat(above, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!below) return UniqueFd{};
    at = std::move(below);
    relative.remove_prefix(slash + 1);
  }
}

/// The kernel is too old for openat2, or a sandbox that lacks the call forbids it.
bool is_unsupported(int number) { return number == ENOSYS || number == EPERM || number == EINVAL; }

UniqueFd resolve(const BeneathPath& path, int flags) {
  auto fd = resolve_beneath(path.directory, path.relative, flags | kAlways, kNewFileMode, Resolution::Kernel);
  if (!fd && is_unsupported(errno))
    fd = resolve_beneath(path.directory, path.relative, flags | kAlways, kNewFileMode, Resolution::Stepwise);
  return fd;
}

Failure cannot_open(const std::string& display_path, int number) {
  if (number == ENOENT) return fail(BeneathErrc::Absent, format("there is no {}", display_path));
  if (number == ELOOP || number == EXDEV)
    return fail(BeneathErrc::Link, format("{} is a link or leads through one, and links in a project are not followed; "
                                          "move it aside",
                                          display_path));
  if (number == ENOTDIR)
    return fail(BeneathErrc::WrongKind, format("{} is not a directory; move it aside", display_path));
  if (number == ENXIO)  // a pipe without a reader, a socket
    return fail(BeneathErrc::WrongKind, format("{} is not an ordinary file; move it aside", display_path));
  return fail_errno(format("cannot open {}", display_path), number);
}

Result<struct stat> status_of(int fd, const std::string& display_path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return fail_errno(format("cannot stat {}", display_path));
  return status;
}

Result<void> check_owner(const struct stat& status, const std::string& display_path) {
  if (status.st_uid == ::geteuid()) return {};
  return fail(BeneathErrc::Foreign, format("{} belongs to another user (uid {}) and is not used; move it aside",
                                           display_path, status.st_uid));
}

}  // namespace

std::string_view describe(BeneathErrc code) {
  switch (code) {
    case BeneathErrc::Absent: return "there is no such file";
    case BeneathErrc::Link: return "a link is in the path";
    case BeneathErrc::WrongKind: return "it is of another kind";
    case BeneathErrc::Foreign: return "it belongs to another user";
  }
  return "";
}

UniqueFd resolve_beneath(int directory, const std::string& relative, int flags, mode_t mode, Resolution resolution) {
  return resolution == Resolution::Kernel ? resolve_by_kernel(directory, relative, flags, mode)
                                          : resolve_stepwise(directory, relative, flags, mode);
}

Result<void> check_owner(int fd, const std::string& display_path) {
  return check_owner(RELAY_TRY(status_of(fd, display_path)), display_path);
}

Result<UniqueFd> open_directory_beneath(const BeneathPath& path) {
  auto fd = resolve(path, O_RDONLY | O_DIRECTORY);
  if (!fd) {
    const int number = errno;
    struct stat status{};
    const bool is_link = number == ENOTDIR &&  // O_DIRECTORY reports a link this way
                         ::fstatat(path.directory, path.relative.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISLNK(status.st_mode);
    return cannot_open(path.display_path, is_link ? ELOOP : number);
  }
  RELAY_TRY(check_owner(fd.get(), path.display_path));
  return fd;
}

Result<UniqueFd> open_file_beneath(const BeneathPath& path, int flags) {
  RELAY_ASSERT((flags & O_TRUNC) == 0);
  auto fd = resolve(path, flags);
  if (!fd) return cannot_open(path.display_path, errno);
  const auto status = RELAY_TRY(status_of(fd.get(), path.display_path));
  if (!S_ISREG(status.st_mode))
    return fail(BeneathErrc::WrongKind, format("{} is not an ordinary file; move it aside", path.display_path));
  RELAY_TRY(check_owner(status, path.display_path));
  return fd;
}

}  // namespace relay
