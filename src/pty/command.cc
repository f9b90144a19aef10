#include "pty/command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "pty/errors.h"

namespace relay::pty {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

bool is_variable(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

enum class FileKind { Missing, NotExecutable, Program };

FileKind inspect(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return FileKind::Missing;
  return S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0 ? FileKind::Program : FileKind::NotExecutable;
}

/// The path relative to our directory, for a path relative to the command's directory.
std::string resolve_from(const std::string& directory, const std::string& path) {
  return directory.empty() || path.starts_with('/') ? path : directory + "/" + path;
}

Failure cannot_execute(const std::string& path) {
  return fail(Errc::CannotExecute, format("cannot run {}: it is not an executable file", path));
}

}  // namespace

std::vector<std::string> inherited_environment() {
  std::vector<std::string> all;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::string_view variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string_view entry : environment)
    if (is_variable(entry, name)) return entry.substr(name.size() + 1);
  return {};
}

void remove_variable(std::vector<std::string>& environment, std::string_view name) {
  std::erase_if(environment, [&](std::string_view each) { return each.substr(0, each.find('=')) == name; });
}

void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  std::erase_if(environment, [&](const std::string& entry) { return is_variable(entry, name); });
  environment.push_back(format("{}={}", name, value));
}

Result<std::string> find_program(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) return fail(Errc::CommandNotFound, "no command to run");
  const auto& name = command.argv.front();
  if (name.contains('/')) {
    switch (inspect(resolve_from(command.directory, name))) {
      case FileKind::Missing: return fail(Errc::CommandNotFound, format("command not found: {}", name));
      case FileKind::NotExecutable: return cannot_execute(name);
      case FileKind::Program: return name;
    }
  }
  auto path = variable(command.environment, "PATH");
  if (path.empty()) path = kDefaultPath;
  std::string not_executable;
  while (true) {
    const auto end = path.find(':');
    const std::string folder{path.substr(0, end)};
    auto candidate = format("{}/{}", folder.empty() ? "." : folder, name);
    switch (inspect(resolve_from(command.directory, candidate))) {
      case FileKind::Missing: break;
      case FileKind::NotExecutable: not_executable = candidate; break;
      case FileKind::Program: return candidate;
    }
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  if (!not_executable.empty()) return cannot_execute(not_executable);
  return fail(Errc::CommandNotFound, format("command not found: {}; check that it is installed and on the PATH", name));
}

}  // namespace relay::pty
