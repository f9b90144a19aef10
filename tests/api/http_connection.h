/// A connection to the HTTP API that stays open, for streams. Reads have a deadline.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::api_tests {

class HttpConnection {
 public:
  explicit HttpConnection(int port) : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, port_{port} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    RELAY_ASSERT(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }

  void get(std::string_view target, std::string_view more = {}) {
    send(format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", target, port_, more));
  }
  void open_websocket(std::string_view target) {
    get(target,
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  }
  /// A short WebSocket message of a client, with a mask of zeros.
  void send_text(std::string_view text) {
    RELAY_ASSERT(text.size() < 126);
    const char head[] = {'\x81', static_cast<char>(0x80 | text.size()), 0, 0, 0, 0};
    send(std::string{head, sizeof head}.append(text));
  }
  void send(std::string_view bytes) {
    RELAY_ASSERT(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }

  bool wait_for(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!output.contains(text)) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
      char bytes[64 * 1024];
      const auto count = ::recv(fd_.get(), bytes, sizeof bytes, 0);
      if (count <= 0) return false;
      output.append(bytes, static_cast<std::size_t>(count));
    }
    return true;
  }

  std::string output;

 private:
  UniqueFd fd_;
  int port_;
};

}  // namespace relay::api_tests
