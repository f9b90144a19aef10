/// Chooses between a socket's two paths, for listening and for connecting.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/format.h"
#include "base/unique_fd.h"
#include "config/paths.h"

namespace relay::config {
namespace {

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_socket(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

/// Some file systems (network shares, shared folders of virtual machines) have no sockets; only an attempt shows it.
bool holds_sockets(const std::string& directory) {
  const UniqueFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto probe = relay::format("{}/.p{}", directory, ::getpid());
  if (!socket || probe.size() > kMaxSocketPathBytes) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, probe.c_str(), probe.size() + 1);
  ::unlink(probe.c_str());
  const bool bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (bound) ::unlink(probe.c_str());
  return bound;
}

}  // namespace

bool is_private_directory(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

Result<std::string> socket_to_listen(const SocketPaths& paths) {
  const auto directory = directory_of(paths.primary);
  RELAY_TRY(make_private_directory(directory));
  if (paths.primary.size() <= kMaxSocketPathBytes && holds_sockets(directory)) return paths.primary;
  const auto runtime = directory_of(paths.fallback);
  if (const auto made = make_private_directory(runtime); !made)
    return fail(
        relay::format("cannot listen: {} cannot hold a socket, and the runtime directory {} cannot be used ({}); "
                      "remove it, set XDG_RUNTIME_DIR, or set AGENT_RELAY_HOME to a shorter path",
                      directory, runtime, made.error().message()));
  return paths.fallback;
}

std::string socket_to_connect(const SocketPaths& paths) {
  const bool primary_fits = paths.primary.size() <= kMaxSocketPathBytes;
  if (primary_fits && is_socket(paths.primary)) return paths.primary;
  if (is_socket(paths.fallback) && is_private_directory(directory_of(paths.fallback))) return paths.fallback;
  // An existing runtime directory that is not private to this user may be a trap of another user: it is not used.
  const bool fallback_is_free = ::access(directory_of(paths.fallback).c_str(), F_OK) != 0;
  const bool fallback_is_usable = fallback_is_free || is_private_directory(directory_of(paths.fallback));
  return primary_fits || !fallback_is_usable ? paths.primary : paths.fallback;
}

}  // namespace relay::config
