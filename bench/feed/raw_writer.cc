#include "feed/raw_writer.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "base/unique_fd.h"
#include "feed/ticks.h"

namespace relay::bench {
namespace {

constexpr int kListenBacklog = 4'096;
constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

UniqueFd listen_on_loopback(std::uint16_t& port) {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(fd.get(), kListenBacklog) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    ::_exit(1);
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

void write_raw_events(int events_per_second, int port_pipe) {
  std::uint16_t port = 0;
  const auto listener = listen_on_loopback(port);
  if (::write(port_pipe, &port, sizeof port) != sizeof port) ::_exit(1);
  std::vector<UniqueFd> readers;
  std::uint64_t sent = 0;
  std::string text;
  for (const auto started = std::chrono::steady_clock::now();;) {
    pollfd acceptable{.fd = listener.get(), .events = POLLIN, .revents = 0};
    if (::poll(&acceptable, 1, 1) > 0) {
      UniqueFd reader{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      std::array<char, 4'096> request;
      if (!reader || ::recv(reader.get(), request.data(), request.size(), 0) <= 0) continue;
      (void)!::send(reader.get(), kHead.data(), kHead.size(), MSG_NOSIGNAL);
      readers.push_back(std::move(reader));
      continue;
    }
    text.clear();
    for (const auto newest = ticks_after(std::chrono::steady_clock::now() - started, events_per_second);
         sent < newest;) {
      ++sent;
      text += format("event: item.delta\nid: {}\ndata: {}\n\n", sent, tick_event(sent));
    }
    for (const auto& reader : readers) (void)!::send(reader.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
}

}  // namespace relay::bench
