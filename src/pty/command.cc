#include "pty/command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "pty/errors.h"

namespace relay::pty {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

enum class Found { Nothing, NotExecutable, Program };

Found look_at(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return Found::Nothing;
  return S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0 ? Found::Program : Found::NotExecutable;
}

/// The path as seen from here, for a path that is relative to the command's own directory.
std::string from_here(const std::string& directory, const std::string& path) {
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
    if (names(entry, name)) return entry.substr(name.size() + 1);
  return {};
}

void remove_variable(std::vector<std::string>& environment, std::string_view name) {
  std::erase_if(environment, [&](std::string_view each) { return each.substr(0, each.find('=')) == name; });
}

void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  std::erase_if(environment, [&](const std::string& entry) { return names(entry, name); });
  environment.push_back(format("{}={}", name, value));
}

Result<std::string> find_program(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty())
    return fail(Errc::CommandNotFound, "there is no command to run");
  const auto& name = command.argv.front();
  if (name.contains('/')) {
    switch (look_at(from_here(command.directory, name))) {
      case Found::Nothing: return fail(Errc::CommandNotFound, format("command not found: {}", name));
      case Found::NotExecutable: return cannot_execute(name);
      case Found::Program: return name;
    }
  }
  auto path = variable(command.environment, "PATH");
  if (path.empty()) path = kDefaultPath;
  std::string refused;
  while (true) {
    const auto end = path.find(':');
    const std::string folder{path.substr(0, end)};
    auto candidate = format("{}/{}", folder.empty() ? "." : folder, name);
    switch (look_at(from_here(command.directory, candidate))) {
      case Found::Nothing: break;
      case Found::NotExecutable: refused = candidate; break;
      case Found::Program: return candidate;
    }
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  if (!refused.empty()) return cannot_execute(refused);
  return fail(Errc::CommandNotFound, format("command not found: {}; is it installed, and on the PATH?", name));
}

}  // namespace relay::pty
