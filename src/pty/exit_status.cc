#include "pty/exit_status.h"

#include <sys/wait.h>

#include <cstring>

#include "base/format.h"

namespace relay::pty {

ExitStatus ExitStatus::from_wait(int wait_status) {
  if (WIFEXITED(wait_status)) return {Kind::Exited, WEXITSTATUS(wait_status)};
  if (WIFSIGNALED(wait_status)) return {Kind::Signalled, WTERMSIG(wait_status)};
  return {Kind::Lost, 0};
}

int ExitStatus::shell_code() const {
  switch (kind) {
    case Kind::Exited: return value;
    case Kind::Signalled: return 128 + value;
    case Kind::Lost: return 255;
  }
  return 255;
}

std::string ExitStatus::describe() const {
  switch (kind) {
    case Kind::Exited: return format("exited with code {}", value);
    case Kind::Signalled: {
      const char* name = ::sigabbrev_np(value);
      return name != nullptr ? format("ended by SIG{}", name) : format("ended by signal {}", value);
    }
    case Kind::Lost: return "could not be ended";
  }
  return "unknown";
}

}  // namespace relay::pty
