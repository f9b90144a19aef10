#include "cli/context.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/format.h"

namespace relay::cli {
namespace {

constexpr std::size_t kLeastColumns = 40;

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<std::size_t>(size.ws_col, kLeastColumns);
}

/// All of it, however slowly the other side takes it. Not stdio: a terminal that is read without blocking is written
/// without blocking too (both ends share one file description), and stdio drops what it could not write at once.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string Context::own_name() const {
  for (const auto* variable : {"AGENT_RELAY_NAME", "USER"})
    if (auto name = environment(variable)) return *name;
  return "human";
}

Result<Context> make_context() {
  Context context;
  context.environment = config::process_environment();
  context.home = RELAY_TRY(config::find_home(context.environment));
  context.project = RELAY_TRY(config::current_project(context.home, context.environment));
  context.to_terminal = ::isatty(STDOUT_FILENO) == 1;
  const auto term = context.environment("TERM");
  context.paint = Paint{context.to_terminal && !context.environment("NO_COLOR") && term != "dumb"};
  if (context.to_terminal) context.columns = terminal_columns();
  return context;
}

void print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  if (errno != EPIPE) complain(Error::from_errno("cannot write the output").message(), ExitCode::No);
  std::_Exit(static_cast<int>(ExitCode::No));
}

ExitCode complain(std::string_view sentence, ExitCode code) {
  const auto line = relay::format("agent-relay: {}\n", sanitised(sentence, Lines::Join));
  (void)write_all(STDERR_FILENO, line);  // there is nobody left to tell
  return code;
}

}  // namespace relay::cli
