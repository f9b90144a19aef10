#include "cli/wire/daemon_connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

#include "base/clock.h"
#include "base/format.h"
#include "base/json.h"
#include "base/random.h"
#include "config/paths.h"
#include "net/unix_address.h"
#include "protocol/send.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kIdBytes = 12;

std::string fresh_id() { return SystemRandom{}.hex(kIdBytes); }

/// A `*_RESULT` frame has its own id, and the id of the request in its payload.
bool replies_to(const protocol::Envelope& envelope, std::string_view id) {
  if (!name_of(envelope.type).ends_with("_RESULT")) return false;
  const auto payload = parse_json_object(envelope.payload);
  return payload && string_member(*payload, "replyTo") == id;
}

Failure lost(const std::string& path) {
  return fail(Errc::Lost,
              relay::format("lost the connection to the daemon at {}; find out why with: agent-relay doctor", path));
}

Failure no_daemon(const std::string& path, int number) {
  std::string reason = number == ENOENT ? "it is not running" : std::strerror(number);
  if (number == ECONNREFUSED) reason = "connection refused";
  if (number == EACCES || number == EPERM)
    return fail(Errc::Refused, relay::format("cannot reach the daemon at {}: {}; find out why with: agent-relay doctor",
                                             path, reason));
  return fail(Errc::NoDaemon,
              relay::format("cannot reach the daemon at {}: {}; start it with: agent-relay up", path, reason));
}

}  // namespace

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::NoDaemon: return "no daemon";
    case Errc::TimedOut: return "timed out";
    case Errc::Lost: return "lost the connection to the daemon";
    case Errc::Refused: return "refused";
    case Errc::TooLarge: return "too large";
    case Errc::NameInUse: return "the name is in use";
    case Errc::BadResponse: return "invalid response";
    case Errc::OutputClosed: return "the output is closed";
    case Errc::NoSuchAgent: return "no such agent";
    case Errc::HostGone: return "the host of the agent has exited";
    case Errc::Interrupted: return "interrupted";
  }
  return "";
}

Result<bool> wait_for(int fd, short events, Deadline deadline, int output, int interrupts) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watched[] = {{fd, events, 0}, {output, 0, 0}, {interrupts, POLLIN, 0}};
    const int ready =
        ::poll(watched, std::size(watched), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX)));
    if (ready > 0 && watched[2].revents != 0) return fail(Errc::Interrupted, "interrupted");
    if (ready > 0 && watched[0].revents == 0) return fail(Errc::OutputClosed, "the output is closed");
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return fail_errno("cannot wait for a response");
  }
}

Deadline in(std::chrono::milliseconds delay) { return std::chrono::steady_clock::now() + delay; }

Result<DaemonConnection> DaemonConnection::open(const std::string& socket_path) {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!fd) return fail_errno("cannot create a socket");
  if (socket_path.size() > config::kMaxSocketPathBytes)
    return fail(Errc::NoDaemon, relay::format("cannot reach the daemon at {}: the path is too long for a socket; "
                                              "choose a shorter one",
                                              socket_path));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    if (errno != EINTR) return no_daemon(socket_path, errno);
  if (const auto trusted = net::check_listener(fd.get(), socket_path); !trusted)
    return fail(Errc::Refused, trusted.error().message());
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return DaemonConnection{std::move(fd), socket_path};
}

Result<std::string> DaemonConnection::send(protocol::OutEnvelope envelope) {
  const auto id = envelope.id.empty() ? fresh_id() : std::string{envelope.id};
  envelope.id = id;
  if (envelope.ts == 0) envelope.ts = SystemClock{}.now().wall;
  const auto body = protocol::write_envelope(envelope);
  if (body.size() > protocol::kMaxFrameBytes)
    return fail(Errc::TooLarge,
                relay::format("the message is too large: {} bytes, at most {} fit; send it as a file with --attach",
                              body.size(), protocol::kMaxFrameBytes));
  std::string bytes;
  protocol::append_frame(bytes, reader_.style(), body);
  const auto deadline = in(kResponseTimeout);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!RELAY_TRY(wait_for(fd_.get(), POLLOUT, deadline, -1, interrupts_)))
        return fail(Errc::TimedOut,
                    relay::format("the daemon at {} does not read its socket; see: agent-relay doctor", path_));
    } else if (errno != EINTR) {
      return lost(path_);
    }
  }
  return id;
}

Result<void> DaemonConnection::read_some(Deadline deadline) {
  if (!RELAY_TRY(wait_for(fd_.get(), POLLIN, deadline, output_, interrupts_)))
    return fail(Errc::TimedOut,
                relay::format("the daemon at {} did not respond in time; see: agent-relay doctor", path_));
  std::array<char, kReadBytes> buffer;
  const auto count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (count > 0)
    reader_.push({buffer.data(), static_cast<std::size_t>(count)});
  else if (count == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
    return lost(path_);
  return {};
}

Result<Frame> DaemonConnection::receive(Deadline deadline) {
  for (;;) {
    const auto next = RELAY_TRY(reader_.next());
    if (!next) {
      RELAY_TRY(read_some(deadline));
      continue;
    }
    Frame frame{std::make_unique<std::string>(*next), {}};
    auto parsed = protocol::parse_envelope(*frame.bytes);
    if (!parsed) continue;  // a type of a later version
    frame.envelope = *std::move(parsed);
    if (frame.envelope.type != protocol::MessageType::Ping) return frame;
    RELAY_TRY(send({.type = protocol::MessageType::Pong, .id = {}, .payload = frame.envelope.payload}));
  }
}

Result<void> DaemonConnection::say_hello(std::string_view system_token, std::chrono::milliseconds timeout) {
  text::JsonWriter hello;
  hello.field("agent", "cli").field("_isSystemComponent", true);
  hello.begin_object("session").optional("system_token", system_token).end();
  hello.begin_object("capabilities").field("ack", false).field("send_ack", true).end();
  const auto payload = hello.take();
  RELAY_TRY(send({.type = protocol::MessageType::Hello, .id = {}, .payload = payload}));
  const auto deadline = in(timeout);
  for (;;) {
    const auto frame = RELAY_TRY(receive(deadline));
    if (frame.envelope.type == protocol::MessageType::Welcome) return {};
    if (frame.envelope.type != protocol::MessageType::Error) continue;
    const auto error = RELAY_TRY(protocol::parse_error(frame.envelope.payload));
    if (error.fatal) return fail(Errc::Refused, "the daemon refused the connection: " + error.message);
  }
}

Result<std::string> DaemonConnection::request(protocol::MessageType type, std::string_view payload,
                                              std::chrono::milliseconds timeout, std::string_view claim_token) {
  const auto id = RELAY_TRY(send({.type = type, .id = {}, .claim_token = claim_token, .payload = payload}));
  const auto deadline = in(timeout);
  for (;;) {
    const auto frame = RELAY_TRY(receive(deadline));
    if (frame.envelope.type == protocol::MessageType::Error) {
      const auto error = RELAY_TRY(protocol::parse_error(frame.envelope.payload));
      return fail(Errc::Refused, "the daemon refused: " + error.message);
    }
    if (frame.envelope.id == id || replies_to(frame.envelope, id)) return std::string{frame.envelope.payload};
  }
}

}  // namespace relay::cli
