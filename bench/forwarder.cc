#include "forwarder.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>

namespace relay::bench {
namespace {

[[noreturn]] void forward(int from, int to) {
  static std::array<char, 256 * 1024> buffer;
  while (true) {
    const auto got = ::read(from, buffer.data(), buffer.size());
    if (got <= 0) ::_exit(0);
    for (ssize_t done = 0; done < got;) {
      const auto wrote = ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
      if (wrote <= 0) ::_exit(0);
      done += wrote;
    }
  }
}

}  // namespace

Result<Forwarder> Forwarder::start() {
  std::array<int, 2> in{}, out{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0 ||
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out.data()) != 0)
    return fail_errno("cannot make sockets");
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start the forwarder");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(in[0]);
    ::close(out[0]);
    forward(in[1], out[1]);
  }
  ::close(in[1]);
  ::close(out[1]);
  return Forwarder{Peer{UniqueFd{in[0]}}, Peer{UniqueFd{out[0]}}, pid};
}

Forwarder::~Forwarder() {
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace relay::bench
