#include "tmux/shim_connection.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "net/unix_address.h"
#include "pty/errors.h"
#include "tmux/control_parser.h"
#include "tmux/shim.h"

namespace relay::tmux {
namespace {

constexpr std::size_t kMaxReceivedBytes = 16 * 1024;  // a shim sends two lines in total

int parse_int(std::string_view word) {
  int number = -1;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

std::optional<std::string> take_line(std::string& received) {
  const auto end = received.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto line = received.substr(0, end);
  received.erase(0, end + 1);
  return line;
}

/// False once the peer has closed.
bool receive(int fd, std::string& received) {
  std::array<char, 4096> block;
  while (received.size() < kMaxReceivedBytes) {
    const auto count = ::recv(fd, block.data(), block.size(), MSG_DONTWAIT);
    if (count > 0)
      received.append(block.data(), static_cast<std::size_t>(count));
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      return false;
    else if (errno == EAGAIN)
      return true;
  }
  return true;
}

int milliseconds_until(SteadyTime deadline) {
  const auto left = std::chrono::ceil<Millis>(deadline - SystemClock{}.now().steady).count();
  return static_cast<int>(std::max<Millis::rep>(left, 0));
}

Result<void> send_all(int fd, std::string_view bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    const auto count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
      if (::poll(&wait, 1, milliseconds_until(deadline)) == 0) return fail_errno("cannot send to the shim", ETIMEDOUT);
    } else if (count < 0 && errno != EINTR) {
      return fail_errno("cannot send the command to the shim");
    }
  }
  return {};
}

}  // namespace

bool wait_readable(int fd, SteadyTime deadline) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  int ready = 0;
  do ready = ::poll(&wait, 1, milliseconds_until(deadline));
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

Result<pid_t> ShimConnection::start(const pty::Command& command, SteadyTime deadline) {
  const auto body = encode_command(command);
  if (body.size() > kMaxCommandBytes) return fail("the command and its environment are too long");
  const auto length = htonl(static_cast<std::uint32_t>(body.size()));
  RELAY_TRY(send_all(fd(), {reinterpret_cast<const char*>(&length), sizeof length}, deadline));
  RELAY_TRY(send_all(fd(), body, deadline));
  while (true) {
    const bool open = receive(fd(), received_);
    if (const auto line = take_line(received_)) {
      std::string_view rest = *line;
      const auto word = take_word(rest);
      if (word == "started" && parse_int(rest) > 0) return parse_int(rest);
      const int code = parse_int(take_word(rest));
      if (word == "failed" && code > 0) return fail(static_cast<pty::Errc>(code), std::string{rest});
      return fail(std::string{word == "failed" ? rest : "the shim sent an invalid line"});
    }
    if (!open) return fail("the pane ended before the program was started");
    if (!wait_readable(fd(), deadline)) return fail("the pane did not start the program in time");
  }
}

ShimConnection::ShimStatus ShimConnection::read() {
  ShimStatus status{.ended = {}, .closed = !receive(fd(), received_)};
  while (const auto line = take_line(received_)) {
    std::string_view rest = *line;
    const auto word = take_word(rest);
    if (word == "exited") status.ended = pty::ExitStatus{pty::ExitStatus::Kind::Exited, parse_int(rest)};
    if (word == "signalled") status.ended = pty::ExitStatus{pty::ExitStatus::Kind::Signalled, parse_int(rest)};
  }
  return status;
}

void ShimConnection::write_to_terminal(std::string_view text) {
  const auto line = format("say {}\n", text);
  // A few bytes into an empty buffer: they fit, or the shim has ended, which `read` reports.
  [[maybe_unused]] const auto ignored = ::send(fd(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Result<ShimListener> ShimListener::open(const std::string& directory) {
  std::error_code error;
  auto place = directory.empty() ? std::filesystem::temp_directory_path(error).string() : directory;
  if (error) return fail(format("cannot find the directory for temporary files: {}", error.message()));
  auto pattern = place + "/relay-tmux-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return fail_errno(format("cannot create a directory in {}", place));
  auto path = pattern + "/shim.sock";
  auto bound = net::bind_and_listen(path);
  if (!bound) {
    std::filesystem::remove_all(pattern, error);
    return Failure{bound.error()};
  }
  return ShimListener{std::move(pattern), std::move(path), std::move(bound->fd)};
}

ShimListener::ShimListener(ShimListener&& other) noexcept
    : directory_{std::exchange(other.directory_, {})},
      path_{std::exchange(other.path_, {})},
      listener_{std::move(other.listener_)} {}

ShimListener::~ShimListener() {
  if (directory_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(directory_.c_str());
}

std::optional<ShimConnection> ShimListener::accept() const {
  UniqueFd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!fd) return std::nullopt;
  return ShimConnection{std::move(fd)};
}

}  // namespace relay::tmux
