#include "pty/process_table.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
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

template <class Number>
bool take_number(std::string_view& text, Number& number) {
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
  if (!take_number(line, found.id.pid)) return std::nullopt;
  const auto name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return std::nullopt;
  const char state = line[name_end + 2];
  found.ended = state == 'Z' || state == 'X';
  line.remove_prefix(name_end + 3);
  if (!take_number(line, found.parent) || !take_number(line, found.group) || !take_number(line, found.session))
    return std::nullopt;
  constexpr int kFieldsBeforeStart = 15;  // 7 to 21
  std::int64_t skipped = 0;
  for (int i = 0; i < kFieldsBeforeStart; ++i)
    if (!take_number(line, skipped)) return std::nullopt;
  if (!take_number(line, found.id.start)) return std::nullopt;
  return found;
}

std::optional<Process> find_process(pid_t pid) { return process(std::to_string(pid)); }

std::vector<Process> all_processes() {
  std::vector<Process> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), &::closedir};
  if (!folder) return all;
  while (const auto* entry = ::readdir(folder.get())) {
    const std::string_view name{entry->d_name};
    if (name.find_first_not_of("0123456789") != std::string_view::npos) continue;
    if (const auto found = process(name)) all.push_back(*found);
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
    std::error_code gone;  // closed since, or no file
    if (auto path = std::filesystem::read_symlink(each->path(), gone).string(); !gone && path.starts_with('/'))
      files.push_back(std::move(path));
  }
  return files;
}

bool send_signal(const ProcessId& id, int number) {
  const auto handle = open_process(id.pid);
  if (!handle) return false;
  const auto now = find_process(id.pid);  // whom the handle means can no longer change
  return now && now->id == id && send_to(handle, number);
}

}  // namespace relay::pty
