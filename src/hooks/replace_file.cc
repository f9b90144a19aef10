#include "hooks/replace_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/unique_fd.h"

namespace relay::hooks {
namespace {

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> make_directories(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return fail_errno(format("cannot make {}", path));
  const auto above = directory_of(path);
  if (above == path) return fail_errno(format("cannot make {}", path));
  RELAY_TRY(make_directories(above));
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail_errno(format("cannot make {}", path));
}

Result<void> write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot write");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file) != 0) return fail_errno("cannot write");
  return {};
}

Result<void> take_modes(int file, const std::string& from) {
  struct stat status{};
  if (from.empty() || ::stat(from.c_str(), &status) != 0) return {};
  if (status.st_uid != ::geteuid() || status.st_gid != ::getegid()) {
    // Only root may change an owner; replacing a writable file of another user would change its owner.
    if (::fchown(file, status.st_uid, status.st_gid) != 0 && status.st_uid != ::geteuid()) {
      return fail_errno("it belongs to another user");
    }
  }
  if (::fchmod(file, status.st_mode & 07777) != 0) return fail_errno("cannot set its modes");
  return {};
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view text, const ReplaceOptions& options) {
  const auto directory = directory_of(path);
  RELAY_TRY(make_directories(directory));
  std::string temporary = path + ".XXXXXX";
  const UniqueFd file{::mkostemp(temporary.data(), O_CLOEXEC)};  // 0600
  if (!file) return fail_errno(format("cannot write beside {}", path));
  const auto written = [&]() -> Result<void> {
    RELAY_TRY(write_all(file.get(), text));
    RELAY_TRY(take_modes(file.get(), options.modes_of));
    if (::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno("cannot rename it into place");
    return {};
  }();
  if (!written) {
    ::unlink(temporary.c_str());
    return fail(format("{} was not changed: {}", path, written.error().message()));
  }
  const UniqueFd above{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (above) ::fsync(above.get());
  return {};
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(format("cannot remove {}", path));
  return {};
}

}  // namespace relay::hooks
