#include "tmux/shim.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/unix_address.h"
#include "pty/errors.h"
#include "pty/exit_status.h"
#include "pty/spawn.h"

namespace relay::tmux {
namespace {

constexpr int kNoHostExitCode = 1;  // exit code of a shim without a host

/// Variables that describe tmux's terminal; the rest of the environment is the host's.
constexpr std::array<std::string_view, 5> kTerminalVariables = {"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX",
                                                                "TMUX_PANE"};

/// The connection to the host, with blocking calls: this process has no other work.
class Host {
 public:
  static std::optional<Host> connect(const std::string& path) {
    auto fd = net::connect_now(path);
    if (!fd || !*fd || ::fcntl(fd->get(), F_SETFL, 0) != 0) return std::nullopt;  // blocking from now on
    return Host{std::move(*fd)};
  }

  [[nodiscard]] int fd() const { return fd_.get(); }

  bool read_exactly(char* into, std::size_t size) {
    while (size > 0) {
      const auto count = ::recv(fd_.get(), into, size, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      into += count;
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }

  /// A line without its line feed; empty at the end of the connection.
  std::optional<std::string> read_line() {
    std::string line;
    for (char c = 0; read_exactly(&c, 1);) {
      if (c == '\n') return line;
      line.push_back(c);
    }
    return std::nullopt;
  }

  void send(const std::string& line) {
    std::string_view rest = line;
    while (!rest.empty()) {
      const auto count = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // the host has disconnected
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  explicit Host(UniqueFd fd) : fd_{std::move(fd)} {}
  UniqueFd fd_;
};

std::optional<pty::Command> receive_command(Host& host) {
  std::uint32_t length = 0;
  if (!host.read_exactly(reinterpret_cast<char*>(&length), sizeof length)) return std::nullopt;
  length = ntohl(length);
  if (length > kMaxCommandBytes) return std::nullopt;
  std::string body(length, '\0');
  if (!host.read_exactly(body.data(), body.size())) return std::nullopt;
  return decode_command(body);
}

void set_terminal_variables(std::vector<std::string>& environment) {
  const auto own = pty::inherited_environment();
  for (const auto name : kTerminalVariables) {
    const auto value = pty::variable(own, name);
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(format("{}=", name)); });
    if (!value.empty()) pty::set_variable(environment, name, value);
  }
}

void resume_output() { ::tcflow(STDIN_FILENO, TCOON); }

/// Waits until the program ended. If the host dies meanwhile, the program must not stay blocked.
pty::ExitStatus wait_for(const pty::Spawned& program, int host) {
  std::array<pollfd, 2> wait{
      {{.fd = program.pidfd.get(), .events = POLLIN, .revents = 0}, {.fd = host, .events = POLLRDHUP, .revents = 0}}};
  while (wait[0].revents == 0) {
    if (::poll(wait.data(), wait.size(), -1) <= 0 || wait[1].revents == 0) continue;
    wait[1].fd = -1;
    wait[1].revents = 0;
    resume_output();
  }
  int status = 0;
  pid_t reaped = 0;
  do reaped = ::waitpid(program.pid, &status, 0);
  while (reaped < 0 && errno == EINTR);
  return reaped == program.pid ? pty::ExitStatus::from_wait(status) : pty::ExitStatus{};
}

void write_to_terminal(std::string_view text) {
  resume_output();
  while (!text.empty()) {
    const auto count = ::write(STDIN_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // hung up
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

int run_shim(const std::string& socket_path) {
  // Signals to the processes at this terminal are intended for the program.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE})
    std::signal(number, SIG_IGN);
  auto host = Host::connect(socket_path);
  if (!host) return kNoHostExitCode;
  auto command = receive_command(*host);
  if (!command) return kNoHostExitCode;
  set_terminal_variables(command->environment);
  ::ioctl(STDIN_FILENO, TIOCNOTTY);  // the program gets the terminal, with its own session
  const auto spawned = pty::spawn(STDIN_FILENO, *command);
  if (!spawned) {
    const auto& error = spawned.error();
    const bool known = error.code().category() == ErrcCategory<pty::Errc>::instance();
    host->send(format("failed {} {}\n", known ? error.code().value() : 0, error.message()));
    return kNoHostExitCode;
  }
  host->send(format("started {}\n", spawned->pid));
  const auto status = wait_for(*spawned, host->fd());
  host->send(format("{} {}\n", status.kind == pty::ExitStatus::Kind::Signalled ? "signalled" : "exited",
                    status.kind == pty::ExitStatus::Kind::Signalled ? status.value : status.shell_code()));
  constexpr std::string_view kSayPrefix = "say ";
  while (const auto line = host->read_line())
    if (line->starts_with(kSayPrefix)) write_to_terminal(std::string_view{*line}.substr(kSayPrefix.size()));
  return status.shell_code();
}

std::string encode_command(const pty::Command& command) {
  std::string body;
  const auto add = [&](std::string_view part) { body.append(part).push_back('\0'); };
  add(command.directory);
  add(format("{}", command.argv.size()));
  for (const auto& word : command.argv) add(word);
  for (const auto& entry : command.environment) add(entry);
  return body;
}

std::optional<pty::Command> decode_command(std::string_view body) {
  if (!body.ends_with('\0')) return std::nullopt;
  const auto next = [&] {
    const auto part = body.substr(0, body.find('\0'));
    body.remove_prefix(part.size() + 1);
    return std::string{part};
  };
  pty::Command command;
  command.directory = next();
  if (body.empty()) return std::nullopt;
  const auto number = next();
  std::size_t words = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), words);
  if (parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size()) return std::nullopt;
  for (; words > 0; --words) {
    if (body.empty()) return std::nullopt;
    command.argv.push_back(next());
  }
  while (!body.empty()) command.environment.push_back(next());
  return command;
}

}  // namespace relay::tmux
