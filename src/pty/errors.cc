#include "pty/errors.h"

namespace relay::pty {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::CommandNotFound: return "command not found";
    case Errc::CannotExecute: return "the command cannot be executed";
    case Errc::BadDirectory: return "the working directory cannot be entered";
    case Errc::NotATerminal: return "not a terminal";
  }
  return "unknown";
}

}  // namespace relay::pty
