#include "pty/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/format.h"
#include "base/unique_fd.h"
#include "pty/process_handle.h"

namespace relay::pty {
namespace {

constexpr std::size_t kMaxStatBytes = 1024;
constexpr std::size_t kMaxEnvironmentBytes = 1024 * 1024;
constexpr std::size_t kBlockBytes = 16 * 1024;

std::string read_file(const std::string& path, std::size_t bound) {
  std::string text;
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return text;
  std::array<char, kBlockBytes> block;
  while (text.size() < bound) {
    const auto count = ::read(file.get(), block.data(), std::min(block.size(), bound - text.size()));
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::optional<Process> process(std::string_view number) {
  return parse_process(read_file(format("/proc/{}/stat", number), kMaxStatBytes));
}

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

bool is_number(std::string_view name) { return name.find_first_not_of("0123456789") == std::string_view::npos; }

/// Does one of the descriptors in this folder lead to `target`? Checks at most `left` of them and counts them down.
bool leads_to(const std::string& path, std::string_view target, std::size_t& left) {
  const Folder folder{::opendir(path.c_str()), &::closedir};
  if (!folder) return false;
  std::array<char, 64> link{};
  while (const auto* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    if (left == 0) return false;
    --left;
    const auto size = ::readlinkat(::dirfd(folder.get()), entry->d_name, link.data(), link.size());
    if (size > 0 && std::string_view{link.data(), static_cast<std::size_t>(size)} == target) return true;
  }
  return false;
}

template <class Number>
bool read_number(std::string_view& text, Number& number) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<Process> parse_process(std::string_view line) {
  // pid (name) state parent group session ... with the start as field 22
  Process found;
  if (!read_number(line, found.id.pid)) return std::nullopt;
  const auto name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return std::nullopt;
  const char state = line[name_end + 2];
  found.ended = state == 'Z' || state == 'X';
  line.remove_prefix(name_end + 3);
  if (!read_number(line, found.parent) || !read_number(line, found.group) || !read_number(line, found.session))
    return std::nullopt;
  constexpr int kFieldsBeforeStart = 15;  // 7 to 21
  std::int64_t skipped = 0;
  for (int i = 0; i < kFieldsBeforeStart; ++i)
    if (!read_number(line, skipped)) return std::nullopt;
  if (!read_number(line, found.id.start)) return std::nullopt;
  return found;
}

std::optional<Process> find_process(pid_t pid) { return process(std::to_string(pid)); }

const std::string& boot_id() {
  static const std::string id = [] {
    auto text = read_file("/proc/sys/kernel/random/boot_id", kMaxStatBytes);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }();
  return id;
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  const Folder folder{::opendir("/proc"), &::closedir};
  if (!folder) return all;
  while (const auto* entry = ::readdir(folder.get())) {
    if (!is_number(entry->d_name)) continue;
    if (const auto found = process(entry->d_name)) all.push_back(*found);
  }
  return all;
}

std::optional<std::string> find_variable(pid_t pid, std::string_view name) {
  const auto environment = read_file(format("/proc/{}/environ", pid), kMaxEnvironmentBytes);
  for (std::string_view left = environment; !left.empty();) {
    const auto entry = left.substr(0, left.find('\0'));
    left.remove_prefix(std::min(entry.size() + 1, left.size()));
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return std::string{entry.substr(name.size() + 1)};
  }
  return std::nullopt;
}

bool has_variable(pid_t pid, std::string_view entry) {
  const auto environment = read_file(format("/proc/{}/environ", pid), kMaxEnvironmentBytes);
  for (std::size_t at = 0; (at = environment.find(entry, at)) != std::string::npos; ++at) {
    const auto end = at + entry.size();
    if ((at == 0 || environment[at - 1] == '\0') && (end == environment.size() || environment[end] == '\0'))
      return true;
  }
  return false;
}

std::vector<std::string> open_files(pid_t pid) {
  std::vector<std::string> files;
  std::error_code failed;
  for (std::filesystem::directory_iterator each{format("/proc/{}/fd", pid), failed}, end; !failed && each != end;
       each.increment(failed)) {
    std::error_code ignored;  // closed meanwhile, or not a file
    if (auto path = std::filesystem::read_symlink(each->path(), ignored).string(); !ignored && path.starts_with('/'))
      files.push_back(std::move(path));
  }
  return files;
}

std::optional<pid_t> find_socket_holder(std::uint32_t inode, uid_t user, std::size_t max_descriptors) {
  std::vector<pid_t> pids;
  const Folder folder{::opendir("/proc"), &::closedir};
  if (!folder) return std::nullopt;
  while (const auto* entry = ::readdir(folder.get()))
    if (is_number(entry->d_name)) pids.push_back(std::atoi(entry->d_name));
  std::ranges::sort(pids, std::greater{});
  const auto target = format("socket:[{}]", inode);
  for (const pid_t pid : pids) {
    const auto folder_path = format("/proc/{}", pid);
    struct stat status{};
    if (::stat(folder_path.c_str(), &status) != 0 || status.st_uid != user) continue;
    if (leads_to(folder_path + "/fd", target, max_descriptors)) return pid;
    if (max_descriptors == 0) break;
  }
  return std::nullopt;
}

bool send_signal(const ProcessId& id, int number) {
  const auto handle = open_process(id.pid);
  if (!handle) return false;
  const auto now = find_process(id.pid);  // the handle fixes the process
  return now && now->id == id && send_to(handle, number);
}

}  // namespace relay::pty
