/// The program: words in, one command, an exit code.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/framework/program.h"

namespace {

/// Started with a standard descriptor closed, the next file or socket opened would take its number, and our output
/// would end up in it. Reading from the stand-in ends at once, writing to it fails. It closes on exec: what is closed for
/// us is closed for a program that gets our descriptors.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) ::_exit(1);
  }
}

}  // namespace

int main(int count, char** words) {
  ::prctl(PR_SET_NAME, "agent-relay");  // what ps, top and ss show: started by /proc/self/exe it would be "exe"
  fill_standard_descriptors();
  return relay::cli::run_program({words + (count > 0 ? 1 : 0), words + count});
}
