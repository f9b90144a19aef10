#include "config/worktree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "base/unique_fd.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGitDirectory = "gitdir: ";

/// The first line of a small regular file of this user; empty when there is none.
std::string first_line_of(const fs::path& path) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)};
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return {};
  std::array<char, kMaxGitFileBytes> buffer{};
  const auto count = ::read(file.get(), buffer.data(), buffer.size());
  if (count <= 0) return {};
  const std::string_view text{buffer.data(), static_cast<std::size_t>(count)};
  const auto end = text.find('\n');
  if (end == std::string_view::npos && text.size() == buffer.size()) return {};  // truncated: not a path
  return std::string{text.substr(0, end)};
}

/// A path in a git file is relative to the directory of that file. Empty when it does not exist.
fs::path resolved_from(const fs::path& directory, const std::string& path) {
  if (path.empty() || path.contains('\0')) return {};
  std::error_code failed;
  auto real = fs::canonical(directory / path, failed);
  return failed ? fs::path{} : real;
}

}  // namespace

std::optional<std::string> main_worktree_of(const std::string& root) {
  const auto pointer = fs::path{root} / ".git";
  const auto line = first_line_of(pointer);
  if (!line.starts_with(kGitDirectory)) return std::nullopt;
  const auto own = resolved_from(root, line.substr(kGitDirectory.size()));  // <main>/.git/worktrees/<name>
  if (own.empty()) return std::nullopt;
  const auto common = resolved_from(own, first_line_of(own / "commondir"));
  if (common.empty() || common.filename() != ".git" || own.parent_path() != common / "worktrees") return std::nullopt;
  if (resolved_from(own, first_line_of(own / "gitdir")) != pointer) return std::nullopt;
  return common.parent_path().string();
}

std::optional<LinkedWorktree> linked_worktree_around(const std::string& directory) {
  for (fs::path at = directory; at.has_relative_path(); at = at.parent_path()) {
    if (auto main = main_worktree_of(at.string())) return LinkedWorktree{at.string(), *std::move(main)};
    struct stat info{};
    if (::lstat((at / ".git").c_str(), &info) == 0) return std::nullopt;  // a separate repository
  }
  return std::nullopt;
}

}  // namespace relay::config
