#include "pty/pseudo_terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cstdlib>

namespace relay::pty {

Result<PseudoTerminal> PseudoTerminal::open(WindowSize size) {
  PseudoTerminal made;
  made.controller.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!made.controller) return fail_errno("cannot open a pseudo-terminal");
  if (::unlockpt(made.controller.get()) != 0) return fail_errno("cannot unlock a pseudo-terminal");
  // By the controller, not by path: right even where /dev/pts belongs to another mount namespace.
  made.peer.reset(::ioctl(made.controller.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.peer) return fail_errno("cannot open the other end of a pseudo-terminal");
  RELAY_TRY(set_window_size(made.controller.get(), size));
  // So that erasing in line mode takes whole characters; everything else the kernel's defaults do well.
  termios attributes{};
  if (::tcgetattr(made.peer.get(), &attributes) == 0) {
    attributes.c_iflag |= IUTF8;
    ::tcsetattr(made.peer.get(), TCSANOW, &attributes);
  }
  return made;
}

}  // namespace relay::pty
