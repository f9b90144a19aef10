/// The entry point of agent-relay.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/framework/program.h"

namespace {

/// With a standard descriptor closed, the next file or socket would get its number, and output would go into it. Reading
/// from the replacement ends at once, writing to it fails. It closes on exec, so that a program that inherits the
/// descriptors finds it closed too.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) ::_exit(1);
  }
}

}  // namespace

int main(int count, char** words) {
  ::prctl(PR_SET_NAME, "agent-relay");  // for ps, top and ss: started through /proc/self/exe it would be "exe"
  fill_standard_descriptors();
  return relay::cli::run_program({words + (count > 0 ? 1 : 0), words + count});
}
