/// The HTTP server inside the daemon, on a thread with its own event loop, so that HTTP never delays routing.
///
/// It connects to the daemon's sockets like any other client. Exceptions on its thread are logged and do not leave it.
/// Ownership: owns thread, loop and everything on it; `stop` (or the destructor) ends and joins it.
/// Threading: created and destroyed on one thread; `begin_stop` may be called on any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "api/api.h"
#include "api/http/security.h"
#include "net/http_server.h"

namespace relay::api {

inline constexpr int kPortsTried = 100;  // the configured port and those after it

struct ServerOptions {
  AccessPolicy policy = {};  // `port` is the first one tried; 0: any
  std::string control_socket = {};
  std::function<std::string(const std::string& root)> hosts_of = {};  // the directory of a project's host records
  ApiFacts facts = {};
  net::HttpServerLimits limits = {};
};

class Server {
 public:
  /// Listens, then starts the thread. Fails when no port is free.
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:3888"
  [[nodiscard]] std::string url() const;

  /// Stops accepting, finishes responses in progress and ends streams. Returns at once.
  void begin_stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::thread thread_;
};

}  // namespace relay::api
