/// Which of a socket's two places is used, from either end.
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

/// Some file systems (network shares, shared folders of virtual machines) have no sockets: only trying tells.
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

Result<std::string> socket_to_listen(const SocketPaths& places) {
  const auto directory = directory_of(places.primary);
  RELAY_TRY(make_private_directory(directory));
  if (places.primary.size() <= kMaxSocketPathBytes && holds_sockets(directory)) return places.primary;
  const auto runtime = directory_of(places.fallback);
  if (const auto made = make_private_directory(runtime); !made)
    return fail(
        relay::format("cannot listen: {} cannot hold a socket, and the runtime directory {} cannot be used ({}); "
                      "remove it, set XDG_RUNTIME_DIR, or set AGENT_RELAY_HOME to a shorter path",
                      directory, runtime, made.error().message()));
  return places.fallback;
}

std::string socket_to_connect(const SocketPaths& places) {
  const bool usual_fits = places.primary.size() <= kMaxSocketPathBytes;
  if (usual_fits && is_socket(places.primary)) return places.primary;
  if (is_socket(places.fallback) && is_private_directory(directory_of(places.fallback))) return places.fallback;
  // A runtime directory that is there and not ours alone is another user's trap: it is not used.
  const bool fallback_is_free = ::access(directory_of(places.fallback).c_str(), F_OK) != 0;
  const bool fallback_is_ours = fallback_is_free || is_private_directory(directory_of(places.fallback));
  return usual_fits || !fallback_is_ours ? places.primary : places.fallback;
}

}  // namespace relay::config
