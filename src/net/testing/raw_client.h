/// A client that sends any bytes to a TCP port of this machine and records the output, on the test's own loop.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "net/asio_loop.h"
#include "net/testing/loop_driver.h"
#include "net/unix_stream.h"

namespace relay::net::testing {

inline UniqueFd connected_to(std::uint16_t port) {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  RELAY_ASSERT(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

class RawClient {
 public:
  RawClient(AsioLoop& loop, std::uint16_t port) : RawClient{loop, connected_to(port)} {}
  RawClient(AsioLoop& loop, UniqueFd socket)
      : loop_{loop},
        fd_{socket.get()},
        recorder_{make_unix_stream(make_stream_hub(loop, Millis{50}), std::move(socket), Peer{})} {}

  void send(std::string_view bytes) { recorder_.stream->write(bytes); }
  [[nodiscard]] std::string& output() { return recorder_.received; }
  [[nodiscard]] bool closed() const { return !recorder_.closed.empty(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return recorder_.stream->bytes_waiting(); }
  void pause_reading() { recorder_.stream->pause_reading(); }
  void resume_reading() { recorder_.stream->resume_reading(); }
  /// Ends our half; the client still reads.
  void shutdown_write() { ::shutdown(fd_, SHUT_WR); }
  void disconnect() { recorder_.stream->close(Drain::No); }

  bool wait_for(std::string_view text) {
    return run_until(loop_, [&] { return output().contains(text); });
  }
  bool wait_closed() {
    return run_until(loop_, [&] { return closed(); });
  }

 private:
  AsioLoop& loop_;
  int fd_;
  Recorder recorder_;
};

}  // namespace relay::net::testing
