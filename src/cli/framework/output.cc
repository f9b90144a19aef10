#include "cli/framework/output.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "cli/render/text.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

constexpr std::size_t kDefaultColumns = 80, kMinColumns = 40;

bool json_errors = false;  // set once from the command line
TerminalWriter terminal_writer;

bool write_all(int fd, std::string_view text) {
  if (!terminal_writer || ::isatty(fd) != 1) return write_fully(fd, text);
  terminal_writer(text);
  return true;
}

}  // namespace

void set_terminal_writer(TerminalWriter writer) { terminal_writer = std::move(writer); }

/// Not stdio: a terminal that is read without blocking is written without blocking too (both share one file description),
/// and stdio drops bytes that it cannot write at once.
bool write_fully(int fd, std::string_view text) {
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

void enable_json_errors() { json_errors = true; }

void print(std::string_view text) {
  if (write_all(STDOUT_FILENO, json_errors ? escaped_json(text) : text)) return;
  if (errno != EPIPE) print_notice(Error::from_errno("cannot write the output").message());
  std::_Exit(static_cast<int>(ExitCode::Failed));
}

void print_wrapped(std::string_view text) { print(fold(text, terminal_columns(STDOUT_FILENO))); }

void print_notice(std::string_view message) {
  const auto line = relay::format("agent-relay: {}\n", sanitize(message, Lines::Join));
  (void)write_all(STDERR_FILENO, fold(line, terminal_columns(STDERR_FILENO)));  // a failure here cannot be reported
}

std::size_t terminal_columns(int fd) {
  if (::isatty(fd) != 1) return 0;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultColumns;
  return std::max<std::size_t>(size.ws_col, kMinColumns);
}

void print_stderr(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

ExitCode report_error(std::string_view message, ExitCode code, std::string_view name) {
  print_notice(message);
  if (!json_errors) return code;
  text::JsonWriter object;
  object.begin_object("error");
  object.field("code", name.empty() ? error_code_name(code) : name)
      .field("message", sanitize(message, Lines::Join))
      .end();
  print(object.take() + "\n");
  return code;
}

}  // namespace relay::cli
