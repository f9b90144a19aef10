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
  explicit Parts(ServerOptions server_options)
      : options{std::move(server_options)},
        api{workspaces, gateway, loop, random, options.facts},
        gateway{loop, network},
        workspaces{loop, network, random, options.control_socket, options.hosts_of} {}

  Result<void> listen() {
    auto& policy = options.policy;
    const auto first = policy.port;
    options.limits.owner = policy.owner;
    for (int attempts = 0;; ++attempts) {
      auto made = net::HttpServer::listen(loop, {.address = policy.address, .port = policy.port}, options.limits,
                                          [this](net::ServerRequest request, net::ResponseWriter reply) {
                                            serve(std::move(request), std::move(reply));
                                          });
      auto listening = made ? listen_at_other_loopback(**made) : Result<void>{Failure{made.error()}};
      if (listening) {
        server = *std::move(made);
        policy.port = server->port();
        return {};
      }
      const bool can_retry = attempts + 1 < kPortsTried && policy.port < kLastPort;
      if (!is(listening.error(), net::HttpServerErrc::PortTaken) || !can_retry) return listening;
      if (first != 0) ++policy.port;
    }
  }

  /// The port counts as taken when another program has it at the other loopback address. A machine without that version
  /// of IP has no such address.
  Result<void> listen_at_other_loopback(net::HttpServer& made) {
    auto& policy = options.policy;
    const auto other = other_loopback(policy.address);
    if (other.empty()) return {};
    auto second = made.add_listener({.address = std::string{other}, .port = made.port()});
    if (second) policy.second_address = other;
    if (!second && is(second.error(), net::HttpServerErrc::PortTaken)) return second;
    return {};
  }

  void serve(net::ServerRequest request, net::ResponseWriter reply) {
    auto paths = Call::reply_paths_of(std::move(reply));
    dispatch(api, options.policy, std::move(request), std::move(paths.send), std::move(paths.yield));
  }

  void run() {
    for (bool running = true; running;) {
      running = false;
      try {
        loop.run();
      } catch (const std::exception& error) {
        log::error("exception in the HTTP API thread", {{"error", error.what()}});
        running = true;
      }
    }
    server.reset();
  }

  void begin_stop() {
    if (std::exchange(stopping, true)) return;
    workspaces.end_streams("the daemon is stopping; reconnect when it is running again");
    server->close([this] { loop.stop(); });
  }

  ServerOptions options;
  SystemRandom random;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  Api api;  // outlives the members below: they may hold requests, and dropped requests are counted too
  SocketHostGateway gateway;
  DaemonWorkspaces workspaces;
  std::unique_ptr<net::HttpServer> server;  // destroyed first: it holds open responses
  bool stopping = false;
};

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  RELAY_TRY(check_access_policy(options.policy));
  auto parts = std::make_unique<Parts>(std::move(options));
  RELAY_TRY(parts->listen());
  return std::unique_ptr<Server>{new Server{std::move(parts)}};
}

Server::Server(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {
  const ScopedSignalBlock block_signals;  // the daemon's main thread handles signals
  thread_ = std::thread{[this] { parts_->run(); }};
}

Server::~Server() {
  begin_stop();
  thread_.join();
}

std::uint16_t Server::port() const { return parts_->options.policy.port; }

std::string Server::url() const {
  const auto& address = parts_->options.policy.address;
  const bool is_ipv6 = address.find(':') != std::string::npos;
  return is_ipv6 ? format("http://[{}]:{}", address, port()) : format("http://{}:{}", address, port());
}

void Server::begin_stop() {
  parts_->loop.post([parts = parts_.get()] { parts->begin_stop(); });
}

}  // namespace relay::api
