#include "daemon/project_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/directory.h"
#include "base/format.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "daemon/private_file.h"
#include "net/unix_address.h"
#include "text/json_writer.h"

namespace relay::daemon {
namespace {

constexpr std::string_view kLinkDirectory = ".agent-relay";
constexpr std::string_view kLinkName = "relay.sock";
constexpr mode_t kExcludeMode = 0644;  // as git makes it

std::optional<mode_t> kind_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & S_IFMT;
}

/// True when another daemon of this user listens there: a published one, or one of another relay home. A link to the
/// daemon of another user is replaced.
bool has_own_listener(const std::string& path) {
  const auto connected = net::connect_now(path);
  return connected.has_value() ||
         !(is(connected.error(), net::Errc::ConnectionRefused) || is(connected.error(), net::Errc::ForeignListener));
}

/// Points the link at `target`. Replaces only a link or a socket without a daemon of this user, so that two relay homes
/// that serve the same project do not replace each other's link.
Result<void> place_link(DiskDirectory& directory, const std::string& name, const std::string& target) {
  if (directory.link_target(name) == target) return {};
  const auto path = format("{}/{}", directory.path(), name);
  const auto existing = kind_of(path);
  if (existing && *existing != S_IFLNK && *existing != S_IFSOCK)
    return fail(format("{} exists and is not a link", path));
  if (existing && has_own_listener(path)) return fail(format("another daemon listens at {}", path));
  return directory.replace_link(name, target);
}

bool has_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end) == line) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// Published daemons do this too, so that no user commits a socket.
Result<void> exclude_from_git(const std::string& root) {
  const auto info = RELAY_TRY(DiskDirectory::find_inside(root, {".git", "info"}));
  if (!info) return {};
  const auto found = RELAY_TRY(info->read("exclude", kMaxSmallFileBytes));
  const std::string_view text = found ? std::string_view{*found} : std::string_view{};
  if (has_line(text, kLinkDirectory) || has_line(text, format("{}/", kLinkDirectory))) return {};
  const UniqueFd file = RELAY_TRY(info->open_shared("exclude"));
  if (!found) ::fchmod(file.get(), kExcludeMode);
  const std::string line = format("{}{}\n", text.empty() || text.ends_with('\n') ? "" : "\n", kLinkDirectory);
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return fail_errno(format("cannot write {}/exclude", info->path()));
  return {};
}

/// Everything in the root is opened beneath it: the project may contain hostile links and pipes.
Result<void> link_in_root(const config::Project& project, const std::string& socket) {
  if (project.common) return {};
  const auto directory = RELAY_TRY(DiskDirectory::open_inside(project.root, {std::string{kLinkDirectory}}));
  RELAY_TRY(place_link(*directory, std::string{kLinkName}, socket));
  return exclude_from_git(project.root);
}

Result<void> link_at_primary_path(const config::Project& project, const std::string& socket) {
  const auto directory = RELAY_TRY(DiskDirectory::open(project.directory));
  return place_link(*directory, std::string{kLinkName}, socket);
}

void log_failure(const Result<void>& optional_link) {
  if (!optional_link)
    log::info("cannot link the socket for other clients", {{"reason", optional_link.error().message()}});
}

void remove_link(const Result<std::unique_ptr<DiskDirectory>>& directory, const std::string& target) {
  if (!directory || !*directory || (*directory)->link_target(std::string{kLinkName}) != target) return;
  (void)(*directory)->remove(std::string{kLinkName});
}

}  // namespace

Result<std::string> prepare_project(const config::Project& project, WallMs now) {
  RELAY_TRY(config::make_private_directory(project.directory));
  if (kind_of(project.socket.primary) == S_IFLNK) ::unlink(project.socket.primary.c_str());
  const std::string marker = project.directory + "/.project";
  if (!kind_of(marker)) {
    text::JsonWriter json;
    json.field("projectRoot", project.root).field("projectId", project.id).field("createdAt", now);
    RELAY_TRY(replace_private_file(marker, json.take() + "\n"));
  }
  return config::socket_to_listen(project.socket);
}

void announce_project(const config::Home& home, const config::Project& project, const std::string& socket) {
  log_failure(replace_private_file(project.pid_file, format("{}\n", ::getpid())));
  if (socket != project.socket.primary) log_failure(link_at_primary_path(project, socket));
  log_failure(link_in_root(project, socket));
  for (const std::string& base : home.published) {
    const auto directory = DiskDirectory::open(base);
    if (!directory) continue;  // the parent is missing, so no client uses it
    const auto existing = kind_of(base + "/" + project.id);
    if (!existing || existing == S_IFLNK) log_failure(place_link(**directory, project.id, project.directory));
  }
}

void withdraw_project(const config::Project& project, const std::string& socket) {
  ::unlink(project.pid_file.c_str());
  if (socket != project.socket.primary) remove_link(DiskDirectory::open(project.directory), socket);
  remove_link(DiskDirectory::find_inside(project.root, {std::string{kLinkDirectory}}), socket);
}

}  // namespace relay::daemon
