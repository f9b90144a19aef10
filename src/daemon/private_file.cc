#include "daemon/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/format.h"
#include "base/unique_fd.h"

namespace relay::daemon {
namespace {

Result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(format("cannot write {}", path));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> write_new(const std::string& path, std::string_view text, Sync sync) {
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd) return fail_errno(format("cannot write {}", path));
  RELAY_TRY(write_all(fd.get(), text, path));
  if (sync == Sync::Yes && ::fsync(fd.get()) != 0) return fail_errno(format("cannot write {}", path));
  return {};
}

}  // namespace

Result<void> replace_private_file(const std::string& path, std::string_view text, Sync sync) {
  const std::string fresh = path + ".new";
  auto written = write_new(fresh, text, sync);
  if (written && ::rename(fresh.c_str(), path.c_str()) != 0) written = fail_errno(format("cannot replace {}", path));
  if (!written) ::unlink(fresh.c_str());
  return written;
}

Result<std::string> read_small_file(const std::string& path, bool& exists) {
  exists = false;
  const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) {
    if (errno == ENOENT) return std::string{};
    return fail_errno(format("cannot read {}", path));
  }
  exists = true;
  std::string text;
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(format("cannot read {}", path));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kMaxSmallFileBytes) {
      return fail(format("cannot read {}: it has more than {} bytes; move it aside", path, kMaxSmallFileBytes));
    }
  }
}

}  // namespace relay::daemon
