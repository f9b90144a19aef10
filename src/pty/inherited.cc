#include "pty/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <memory>
#include <string_view>

#include "pty/user_terminal.h"

namespace relay::pty {
namespace {

std::vector<int> ignored_now() {
  std::vector<int> ignored;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) ignored.push_back(number);
  }
  return ignored;
}

}  // namespace

const std::vector<int>& signals_ignored_at_start() {
  static const auto ignored = ignored_now();
  return ignored;
}

std::vector<int> inheritable_descriptors() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc/self/fd"), ::closedir};
  if (!folder) return found;
  while (const auto* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc{} || fd <= STDERR_FILENO) continue;
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.push_back(fd);
  }
  std::ranges::sort(found);
  return found;
}

Streams matching_streams() {
  if (!UserTerminal::is_one()) return Streams::Inherited;
  return ::isatty(STDERR_FILENO) == 1 ? Streams::Terminal : Streams::ErrorInherited;
}

}  // namespace relay::pty
