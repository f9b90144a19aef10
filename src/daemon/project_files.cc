#include "daemon/project_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <optional>

#include "base/format.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "daemon/private_file.h"
#include "net/unix_address.h"
#include "protocol/json_writer.h"

namespace relay::daemon {
namespace {

constexpr std::string_view kLinkDirectory = ".agent-relay";

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::optional<mode_t> kind_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & S_IFMT;
}

std::string target_of(const std::string& link) {
  char buffer[PATH_MAX];
  const ssize_t count = ::readlink(link.c_str(), buffer, sizeof buffer);
  return count < 0 ? std::string{} : std::string(buffer, static_cast<std::size_t>(count));
}

/// Another daemon is there: of the published kind, or of another home.
bool somebody_listens(const std::string& path) {
  const auto answer = net::connect_now(path);
  return answer.has_value() || !is(answer.error(), net::Errc::NoOneListens);
}

/// Points `link` at `target`; replaces a link or a socket nobody listens behind, nothing else: two homes that serve the
/// same project do not fight over it.
Result<void> place_link(const std::string& target, const std::string& link) {
  const auto there = kind_of(link);
  if (there == S_IFLNK && target_of(link) == target) return {};
  if (there && *there != S_IFLNK && *there != S_IFSOCK) return fail(format("{} is in the way of a link", link));
  if (there && somebody_listens(link)) return fail(format("another daemon listens at {}", link));
  const std::string fresh = link + ".new";
  ::unlink(fresh.c_str());
  if (::symlink(target.c_str(), fresh.c_str()) != 0) return fail_errno(format("cannot make the link {}", link));
  if (::rename(fresh.c_str(), link.c_str()) != 0) {
    const int number = errno;
    ::unlink(fresh.c_str());
    return fail_errno(format("cannot make the link {}", link), number);
  }
  return {};
}

bool has_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end) == line) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// Published daemons do this too, so that nobody commits a socket.
Result<void> exclude_from_git(const std::string& root) {
  if (kind_of(root + "/.git/info") != S_IFDIR) return {};
  const std::string path = root + "/.git/info/exclude";
  bool exists = false;
  const std::string text = RELAY_TRY(read_small_file(path, exists));
  if (has_line(text, kLinkDirectory) || has_line(text, format("{}/", kLinkDirectory))) return {};
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)};
  if (!fd) return fail_errno(format("cannot write {}", path));
  const std::string line = format("{}{}\n", text.empty() || text.ends_with('\n') ? "" : "\n", kLinkDirectory);
  if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return fail_errno(format("cannot write {}", path));
  }
  return {};
}

Result<void> link_in_root(const config::Project& project, const std::string& socket) {
  const std::string directory = parent_of(project.link);
  if (!kind_of(directory) && ::mkdir(directory.c_str(), 0700) != 0) {
    return fail_errno(format("cannot make {}", directory));
  }
  RELAY_TRY(place_link(socket, project.link));
  return exclude_from_git(project.root);
}

void note(const Result<void>& courtesy) {
  if (!courtesy) log::info("a courtesy for other clients was not possible", {{"reason", courtesy.error().message()}});
}

void unlink_if_pointing_at(const std::string& link, const std::string& target) {
  if (kind_of(link) == S_IFLNK && target_of(link) == target) ::unlink(link.c_str());
}

}  // namespace

Result<std::string> prepare_project(const config::Project& project, WallMs now) {
  RELAY_TRY(config::make_private_directory(project.directory));
  if (kind_of(project.socket.usual) == S_IFLNK) ::unlink(project.socket.usual.c_str());
  const std::string marker = project.directory + "/.project";
  if (!kind_of(marker)) {
    protocol::JsonWriter json;
    json.field("projectRoot", project.root).field("projectId", project.id).field("createdAt", now);
    RELAY_TRY(replace_private_file(marker, json.take() + "\n"));
  }
  return config::socket_to_listen(project.socket);
}

void announce_project(const config::Home& home, const config::Project& project, const std::string& socket) {
  note(replace_private_file(project.pid_file, format("{}\n", ::getpid())));
  if (socket != project.socket.usual) note(place_link(socket, project.socket.usual));
  note(link_in_root(project, socket));
  for (const std::string& base : home.published) {
    if (::mkdir(base.c_str(), 0700) != 0 && errno != EEXIST) continue;  // its parent is not there: nobody looks there
    const std::string compatible = base + "/" + project.id;
    const auto there = kind_of(compatible);
    if (!there || there == S_IFLNK) note(place_link(project.directory, compatible));
  }
}

void withdraw_project(const config::Project& project, const std::string& socket) {
  ::unlink(project.pid_file.c_str());
  if (socket != project.socket.usual) unlink_if_pointing_at(project.socket.usual, socket);
  unlink_if_pointing_at(project.link, socket);
}

}  // namespace relay::daemon
