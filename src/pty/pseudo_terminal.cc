#include "pty/pseudo_terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cstdlib>

namespace relay::pty {

Result<PseudoTerminal> PseudoTerminal::open(WindowSize size) {
  PseudoTerminal terminal;
  terminal.controller.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!terminal.controller) return fail_errno("cannot open a pseudo-terminal");
  if (::unlockpt(terminal.controller.get()) != 0) return fail_errno("cannot unlock a pseudo-terminal");
  // By the controller, not by path: correct even where /dev/pts belongs to another mount namespace.
  terminal.peer.reset(::ioctl(terminal.controller.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.peer) return fail_errno("cannot open the other end of a pseudo-terminal");
  RELAY_TRY(set_window_size(terminal.controller.get(), size));
  // So that erasing in line mode removes whole characters; the kernel's defaults fit otherwise.
  termios attributes{};
  if (::tcgetattr(terminal.peer.get(), &attributes) == 0) {
    attributes.c_iflag |= IUTF8;
    ::tcsetattr(terminal.peer.get(), TCSANOW, &attributes);
  }
  return terminal;
}

}  // namespace relay::pty
