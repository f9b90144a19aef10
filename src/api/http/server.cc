#include "api/http/server.h"

#include <exception>

#include "api/client/daemon_workspaces.h"
#include "base/format.h"
#include "base/log.h"
#include "base/scoped_signal_block.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"

namespace relay::api {
namespace {

constexpr std::uint16_t kLastPort = 65'535;

}  // namespace

struct Server::Parts {
  explicit Parts(ServerOptions made)
      : options{std::move(made)},
        api{workspaces, doors, loop, random, options.facts},
        doors{loop, network},
        workspaces{loop, network, random, options.control_socket, options.hosts_of} {}

  Result<void> listen() {
    auto& guard = options.guard;
    const auto first = guard.port;
    options.limits.owner = guard.owner;
    for (int tried = 0;; ++tried) {
      auto made = net::HttpServer::listen(loop, {.address = guard.address, .port = guard.port}, options.limits,
                                          [this](net::ServerRequest request, net::ResponseWriter reply) {
                                            serve(std::move(request), std::move(reply));
                                          });
      auto listening = made ? listen_at_other_loopback(**made) : Result<void>{Failure{made.error()}};
      if (listening) {
        server = *std::move(made);
        guard.port = server->port();
        return {};
      }
      const bool more = tried + 1 < kPortsTried && guard.port < kLastPort;
      if (!is(listening.error(), net::HttpServerErrc::PortTaken) || !more) return listening;
      if (first != 0) ++guard.port;
    }
  }

  /// The port counts as taken when another program has it there. A machine without that version of IP has nobody there.
  Result<void> listen_at_other_loopback(net::HttpServer& made) {
    auto& guard = options.guard;
    const auto other = other_loopback(guard.address);
    if (other.empty()) return {};
    auto also = made.listen_also({.address = std::string{other}, .port = made.port()});
    if (also) guard.second_address = other;
    if (!also && is(also.error(), net::HttpServerErrc::PortTaken)) return also;
    return {};
  }

  void serve(net::ServerRequest request, net::ResponseWriter reply) {
    auto ways = Call::reply_paths_of(std::move(reply));
    dispatch(api, options.guard, std::move(request), std::move(ways.send), std::move(ways.yield));
  }

  void run() {
    for (bool again = true; again;) {
      again = false;
      try {
        loop.run();
      } catch (const std::exception& problem) {
        log::error("something went wrong in the HTTP API; it goes on", {{"reason", problem.what()}});
        again = true;
      }
    }
    server.reset();
  }

  void begin_stop() {
    if (std::exchange(stopping, true)) return;
    workspaces.end_streams("the daemon ends; come back when it is there again");
    server->close([this] { loop.stop(); });
  }

  ServerOptions options;
  SystemRandom random;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  Api api;  // outlives those below, which may hold requests: even one that nobody answers is counted
  SocketHostGateway doors;
  DaemonWorkspaces workspaces;
  std::unique_ptr<net::HttpServer> server;  // ends first: it holds replies that nobody answers any more
  bool stopping = false;
};

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  RELAY_TRY(check_guard(options.guard));
  auto parts = std::make_unique<Parts>(std::move(options));
  RELAY_TRY(parts->listen());
  return std::unique_ptr<Server>{new Server{std::move(parts)}};
}

Server::Server(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {
  const ScopedSignalBlock while_it_begins;  // they are for the thread that waits for them
  thread_ = std::thread{[this] { parts_->run(); }};
}

Server::~Server() {
  begin_stop();
  thread_.join();
}

std::uint16_t Server::port() const { return parts_->options.guard.port; }

std::string Server::url() const {
  const auto& address = parts_->options.guard.address;
  const bool six = address.find(':') != std::string::npos;
  return six ? format("http://[{}]:{}", address, port()) : format("http://{}:{}", address, port());
}

void Server::begin_stop() {
  parts_->loop.post([parts = parts_.get()] { parts->begin_stop(); });
}

}  // namespace relay::api
