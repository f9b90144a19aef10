#include "cli/doctor/agent_versions.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/format.h"
#include "base/unique_fd.h"

namespace relay::cli {
namespace {

constexpr std::size_t kMaxPrintedBytes = 4'096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A running `PROGRAM --version`. The destructor kills it with its process group.
class VersionProcess {
 public:
  explicit VersionProcess(const std::string& path) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = UniqueFd{ends[0]};
    const UniqueFd write_end{ends[1]};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string program = path, option = "--version";
    std::array<char*, 3> words = {program.data(), option.data(), nullptr};
    if (::posix_spawn(&pid_, path.c_str(), &actions, &attributes, words.data(), environ) != 0) pid_ = -1;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (pid_ < 0) output_ = UniqueFd{};
  }
  VersionProcess(const VersionProcess&) = delete;
  VersionProcess& operator=(const VersionProcess&) = delete;
  ~VersionProcess() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] int fd() const { return output_.get(); }
  [[nodiscard]] bool is_open() const { return static_cast<bool>(output_); }
  void read_some() {
    std::array<char, 1'024> block;
    const auto count = ::read(output_.get(), block.data(), block.size());
    if (count > 0 && printed.size() < kMaxPrintedBytes)
      printed.append(block.data(), static_cast<std::size_t>(count));
    else if (count >= 0 || errno != EINTR)
      output_ = UniqueFd{};
  }

  std::string printed;

 private:
  pid_t pid_ = -1;
  UniqueFd output_;
};

}  // namespace

std::vector<std::string> query_versions(const std::vector<std::string>& paths, Millis limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::vector<std::unique_ptr<VersionProcess>> processes;
  for (const auto& path : paths) processes.push_back(std::make_unique<VersionProcess>(path));
  for (;;) {
    std::vector<pollfd> open;
    for (const auto& one : processes)
      if (one->is_open()) open.push_back({one->fd(), POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (open.empty() || left <= 0) break;
    if (::poll(open.data(), open.size(), static_cast<int>(left)) < 0 && errno != EINTR) break;
    for (const auto& ready : open)
      if (ready.revents != 0)
        (*std::ranges::find(processes, ready.fd, [](const auto& one) { return one->fd(); }))->read_some();
  }
  std::vector<std::string> printed;
  for (const auto& one : processes) printed.push_back(one->is_open() ? std::string{} : std::move(one->printed));
  return printed;
}

std::string parse_version(std::string_view printed) {
  for (std::size_t at = 0; at < printed.size(); ++at) {
    if (!is_digit(printed[at]) || (at > 0 && (is_digit(printed[at - 1]) || printed[at - 1] == '.'))) continue;
    const auto end = std::min(printed.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.-+", at), printed.size());
    const auto word = printed.substr(at, end - at);
    const auto dot = word.find_first_not_of("0123456789");
    if (dot != std::string_view::npos && word[dot] == '.' && dot + 1 < word.size() && is_digit(word[dot + 1]))
      return std::string{word.substr(0, word.find_last_not_of(".-+") + 1)};
  }
  return {};
}

std::strong_ordering compare_versions(std::string_view one, std::string_view other) {
  const auto next = [](std::string_view& text) {
    std::uint64_t number = 0;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at)
      number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
    text.remove_prefix(at < text.size() && text[at] == '.' ? at + 1
                                                           : text.size());  // anything but a digit ends the number
    return number;
  };
  while (!one.empty() || !other.empty())
    if (const auto order = next(one) <=> next(other); order != 0) return order;
  return std::strong_ordering::equal;
}

std::string version_deviation(std::string_view version, const std::vector<std::string>& tested) {
  if (tested.empty() || std::ranges::find(tested, version) != tested.end()) return {};
  const auto before = [](const auto& one, const auto& other) { return compare_versions(one, other) < 0; };
  const auto [oldest, newest] = std::ranges::minmax(tested, before);
  if (compare_versions(version, newest) > 0)
    return relay::format("newer than {}, the version its profile was tested with", newest);
  if (compare_versions(version, oldest) < 0)
    return relay::format("older than {}, the version its profile was tested with", oldest);
  return relay::format("between the versions its profile was tested with ({} to {})", oldest, newest);
}

}  // namespace relay::cli
