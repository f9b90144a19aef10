#include "peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

namespace relay::bench {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kReadBytes = 256 * 1024;

std::size_t length_at(const char* header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) length = length << 8 | static_cast<unsigned char>(header[i]);
  return length;
}

}  // namespace

std::string frame_of(std::string_view body) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(body.size() >> shift & 0xff);
  frame += body;
  return frame;
}

Result<Peer> Peer::connect(const std::string& path) {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!fd) return fail_errno("cannot make a socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return fail("the socket path is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return fail_errno("cannot connect to " + path);
  return Peer{std::move(fd)};
}

Result<void> Peer::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (wrote < 0) return fail_errno("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<std::string> Peer::read_frame() {
  std::string_view body;
  while (!take(body)) {
    pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, -1) < 0) return fail_errno("cannot wait");
    RELAY_TRY(read_some());
  }
  return std::string{body};
}

Result<void> Peer::write_some() {
  const auto wrote = ::send(fd_.get(), out_.data() + out_done_, out_.size() - out_done_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (wrote < 0) return errno == EAGAIN ? Result<void>{} : fail_errno("cannot write");
  out_done_ += static_cast<std::size_t>(wrote);
  if (out_done_ == out_.size()) {
    out_.clear();
    out_done_ = 0;
  }
  return {};
}

Result<void> Peer::read_some() {
  if (in_done_ > 0) {
    in_.erase(0, in_done_);
    in_done_ = 0;
  }
  const auto before = in_.size();
  in_.resize(before + kReadBytes);
  const auto got = ::recv(fd_.get(), in_.data() + before, kReadBytes, MSG_DONTWAIT);
  in_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got == 0) return fail("the other end closed");
  if (got < 0 && errno != EAGAIN) return fail_errno("cannot read");
  return {};
}

bool Peer::take(std::string_view& body) {
  if (in_.size() - in_done_ < kHeaderBytes) return false;
  const auto length = length_at(in_.data() + in_done_);
  if (in_.size() - in_done_ < kHeaderBytes + length) return false;
  body = std::string_view{in_}.substr(in_done_ + kHeaderBytes, length);
  in_done_ += kHeaderBytes + length;
  return true;
}

}  // namespace relay::bench
