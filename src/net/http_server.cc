#include "net/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

#include "base/format.h"
#include "base/log.h"
#include "net/asio_loop.h"
#include "net/http_server_core.h"
#include "net/peer_uid.h"
#include "net/readable_watch.h"

namespace relay::net {
namespace {

constexpr int kBacklog = 512;           // in the kernel, not yet accepted
constexpr int kMaxAcceptsPerTurn = 64;  // bounds a burst of new clients, so that the connected ones do not starve
constexpr int kMaxUnsentInKernel = 128 * 1024;  // for a client that does not read; the kernel would take megabytes
constexpr Millis kAcceptRetry{100};             // until the next attempt to accept

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

std::optional<SocketAddress> read_address(const HttpAddress& address) {
  SocketAddress out;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, address.address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&out.storage, &v4, out.size = sizeof v4);
  } else if (::inet_pton(AF_INET6, address.address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    std::memcpy(&out.storage, &v6, out.size = sizeof v6);
  } else {
    return std::nullopt;
  }
  return out;
}

HttpAddress to_http_address(const SocketAddress& address) {
  HttpAddress out{.address = {}};
  char text[INET6_ADDRSTRLEN] = {};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof v4);
    if (::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) != nullptr) out.address = text;
    out.port = ntohs(v4.sin_port);
  } else if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address.storage, sizeof v6);
    if (::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) != nullptr) out.address = text;
    out.port = ntohs(v6.sin6_port);
  }
  return out;
}

Failure listen_failed(const HttpAddress& address, int number) {
  const auto code = number == EADDRINUSE      ? HttpServerErrc::PortTaken
                    : number == EADDRNOTAVAIL ? HttpServerErrc::BadAddress
                    : number == EACCES        ? HttpServerErrc::NotAllowed
                                              : HttpServerErrc::System;
  return fail(code, format("cannot listen at {} port {}: {}", address.address, address.port, std::strerror(number)));
}

}  // namespace

/// Accepts connections at one address.
class HttpServer::Acceptor {
 public:
  Acceptor(HttpServerCore& core, UniqueFd socket)
      : core_{core},
        socket_{std::move(socket)},
        watch_{std::make_unique<ReadableWatch>(core.loop(), socket_.get(), [this] { accept_some(); })} {}

 private:
  void accept_some() {
    for (int i = 0; i < kMaxAcceptsPerTurn; ++i) {
      SocketAddress from;
      from.size = sizeof from.storage;
      UniqueFd client{::accept4(socket_.get(), from.get(), &from.size, SOCK_CLOEXEC | SOCK_NONBLOCK)};
      if (!client) return failed(errno);
      out_of_descriptors_ = false;
      const int yes = 1;
      ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // without it responses are delayed
      ::setsockopt(client.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMaxUnsentInKernel, sizeof kMaxUnsentInKernel);
      auto [address, port] = to_http_address(from);
      const auto ends = ends_seen_by_peer(client.get());
      const auto owner = ends ? socket_owner(*ends) : std::nullopt;
      core_.add(std::move(client), {std::move(address), port, owner ? std::optional{owner->uid} : std::nullopt, ends});
    }
  }

  void failed(int number) {
    if (number == EAGAIN || number == EINTR || number == ECONNABORTED) return;
    // Nothing is lost: pending clients stay in the kernel's queue. Logged once per shortage, not per attempt.
    if (!std::exchange(out_of_descriptors_, true))
      log::warn("cannot accept HTTP connections", {{"reason", std::strerror(number)}});
    watch_->pause();
    retry_ = core_.loop().after(kAcceptRetry, [this] { watch_->resume(); });
  }

  HttpServerCore& core_;
  UniqueFd socket_;
  std::unique_ptr<ReadableWatch> watch_;  // after the descriptor it watches
  std::unique_ptr<Timer> retry_;
  bool out_of_descriptors_ = false;  // of descriptors
};

bool is_ip_address(const std::string& text) { return read_address({.address = text}).has_value(); }

std::string_view describe(HttpServerErrc code) {
  switch (code) {
    case HttpServerErrc::PortTaken: return "the port is taken";
    case HttpServerErrc::BadAddress: return "no address of this machine";
    case HttpServerErrc::NotAllowed: return "not allowed to listen there";
    case HttpServerErrc::System: return "cannot listen";
  }
  return "cannot listen";
}

namespace {

struct ListeningSocket {
  UniqueFd socket;
  std::uint16_t port = 0;
};

Result<ListeningSocket> open_listener(const HttpAddress& address) {
  auto bound = read_address(address);
  if (!bound)
    return fail(HttpServerErrc::BadAddress,
                format("'{}' is not a numeric IP address; use one such as 127.0.0.1", address.address));
  UniqueFd socket{::socket(bound->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return listen_failed(address, errno);
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // ignore connections of an earlier process
  if (bound->storage.ss_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (::bind(socket.get(), bound->get(), bound->size) != 0 || ::listen(socket.get(), kBacklog) != 0 ||
      ::getsockname(socket.get(), bound->get(), &bound->size) != 0)
    return listen_failed(address, errno);
  return ListeningSocket{std::move(socket), to_http_address(*bound).port};
}

}  // namespace

HttpServer::HttpServer(AsioLoop& loop, const HttpServerLimits& limits, Handler handler)
    : core_{std::make_shared<HttpServerCore>(loop, limits, std::move(handler))} {}

HttpServer::~HttpServer() { core_->abort_all(); }

Result<std::unique_ptr<HttpServer>> HttpServer::listen(AsioLoop& loop, const HttpAddress& address,
                                                       const HttpServerLimits& limits, Handler handler) {
  auto listening = RELAY_TRY(open_listener(address));
  std::unique_ptr<HttpServer> server{new HttpServer{loop, limits, std::move(handler)}};
  server->port_ = listening.port;
  server->acceptors_.push_back(std::make_unique<Acceptor>(*server->core_, std::move(listening.socket)));
  return server;
}

Result<void> HttpServer::add_listener(const HttpAddress& address) {
  auto listening = RELAY_TRY(open_listener(address));
  acceptors_.push_back(std::make_unique<Acceptor>(*core_, std::move(listening.socket)));
  return {};
}

std::size_t HttpServer::connections() const { return core_->connections(); }

void HttpServer::adopt(UniqueFd socket) { core_->add(std::move(socket), {}); }

void HttpServer::close(std::move_only_function<void()> done) {
  acceptors_.clear();
  core_->close(std::move(done));
}

}  // namespace relay::net
