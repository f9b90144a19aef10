#include "cli/bench/raw_forwarder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/scoped_signal_block.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {
namespace {

constexpr std::size_t kCopyBytes = 256 * 1024;
constexpr std::chrono::milliseconds kForwarderTimeout{10'000};

struct RawLine {
  UniqueFd local, remote;
};

Result<RawLine> make_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno("cannot create sockets for the raw forwarder");
  RawLine line{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
  ::fcntl(line.local.get(), F_SETFL, O_NONBLOCK);
  return line;
}

/// Copies until either socket is closed.
void copy_bytes(const UniqueFd& from, const UniqueFd& to) {
  std::string buffer(kCopyBytes, '\0');
  for (;;) {
    const auto got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    for (ssize_t done = 0; done < got;) {
      const auto wrote = ::send(to.get(), buffer.data() + done, static_cast<std::size_t>(got - done), MSG_NOSIGNAL);
      if (wrote <= 0) return;
      done += wrote;
    }
  }
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Result<RawForwarder> RawForwarder::start() {
  auto in = RELAY_TRY(make_line());
  auto out = RELAY_TRY(make_line());
  const ScopedSignalBlock block;
  std::thread copying{[from = std::move(in.remote), to = std::move(out.remote)] { copy_bytes(from, to); }};
  return RawForwarder{std::move(in.local), std::move(out.local), std::move(copying)};
}

RawForwarder::~RawForwarder() {
  in_.reset();
  out_.reset();
  if (copying_.joinable()) copying_.join();
}

Result<Measurement> RawForwarder::measure(const std::string& body, std::size_t window, const BenchLimit& limit) {
  Measurement measured;
  std::string burst;  // one call writes all that the window allows
  for (std::size_t i = 0; i < window; ++i) burst += body;
  std::string buffer(kCopyBytes, '\0');
  std::size_t messages = 0, written = 0, read = 0;  // messages started; bytes
  const auto started = std::chrono::steady_clock::now();
  auto sent = started;
  const auto since = [](Deadline then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
  };
  for (;;) {
    while (messages < limit.messages && messages - read / body.size() < window &&
           std::chrono::steady_clock::now() - started < limit.time) {
      sent = std::chrono::steady_clock::now();
      ++messages;
    }
    while (written < messages * body.size()) {
      const auto at = written % body.size();
      const auto due = std::min(messages * body.size() - written, burst.size() - at);
      const auto count = ::send(in_.get(), burst.data() + at, due, MSG_NOSIGNAL);
      if (count < 0 && !would_block()) return fail_errno("cannot write to the raw forwarder");
      if (count <= 0) break;  // reading makes room
      written += static_cast<std::size_t>(count);
    }
    if (read == messages * body.size()) break;
    if (!RELAY_TRY(wait_for(out_.get(), POLLIN, in(kForwarderTimeout)))) return fail("the raw forwarder does not copy");
    const auto count = ::recv(out_.get(), buffer.data(), buffer.size(), 0);
    if (count == 0 || (count < 0 && !would_block())) return fail_errno("cannot read from the raw forwarder");
    if (count > 0) read += static_cast<std::size_t>(count);
    if (window == 1 && read == messages * body.size()) measured.delivered_us.push_back(since(sent) * 1e6);
  }
  measured.messages = messages;
  measured.seconds = since(started);
  return measured;
}

}  // namespace relay::cli
