#include "forwarding/poll_forwarder.h"

#include <poll.h>
#include <termios.h>

#include <array>

#include "pty/pseudo_terminal.h"
#include "pty/spawn.h"

namespace relay::bench {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

bool copy(int from, int to) {
  static std::array<char, kBlockBytes> block;
  const auto count = ::read(from, block.data(), block.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  for (ssize_t done = 0; done < count;) {
    const auto written = ::write(to, block.data() + done, static_cast<std::size_t>(count - done));
    if (written < 0 && errno == EAGAIN) {
      pollfd writable{.fd = to, .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);
    } else if (written <= 0) {
      return false;
    } else {
      done += written;
    }
  }
  return true;
}

}  // namespace

int forward_by_poll(const pty::Command& command) {
  termios raw{};
  ::tcgetattr(0, &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(0, TCSANOW, &raw);
  auto terminal = pty::PseudoTerminal::open({});
  if (!terminal) return 3;
  const auto child = pty::spawn(terminal->peer.get(), command);
  if (!child) return 3;
  terminal->peer.reset();
  const int inner = terminal->controller.get();
  while (true) {
    std::array<pollfd, 2> fds{
        {{.fd = 0, .events = POLLIN, .revents = 0}, {.fd = inner, .events = POLLIN, .revents = 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[0].revents != 0 && !copy(0, inner)) return 0;
    if (fds[1].revents != 0 && !copy(inner, 1)) return 0;
  }
}

}  // namespace relay::bench
