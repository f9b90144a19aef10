#include "daemon/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/format.h"
#include "daemon/daemon.h"
#include "daemon/private_file.h"

namespace relay::daemon {
namespace {

std::string pid_in(const std::string& path) {
  bool exists = false;
  auto text = read_small_file(path, exists);
  if (!text || !exists) return "unknown";
  while (text->ends_with('\n')) text->pop_back();
  return *text;
}

}  // namespace

Result<InstanceLock> InstanceLock::acquire(const std::string& path, const std::string& pid_path) {
  UniqueFd fd{::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd) {
    const Error reason = Error::from_errno(format("cannot write {}", path));
    return Failure{Error{reason.code(), reason.message() + "; choose a writable AGENT_RELAY_HOME"}};
  }
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail_errno(format("cannot lock {}", path));
    return fail(
        Errc::AlreadyRunning,
        format("a daemon (pid {}) already runs for this home; stop it with: agent-relay down --all", pid_in(pid_path)));
  }
  return InstanceLock{std::move(fd)};
}

}  // namespace relay::daemon
