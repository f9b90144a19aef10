/// The HTTP API inside the daemon: a thread of its own with its own loop, so that HTTP never delays routing.
///
/// It reaches the daemon as every other program does, over its sockets. Whatever goes wrong in its thread is logged and
///   stays there.
/// Ownership: owns thread, loop and everything on it; `stop` (or the destructor) ends and joins it.
/// Threading: made and destroyed by one thread; `begin_stop` from any.
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

inline constexpr int kPortsTried = 100;  // the one that was asked for and those behind it

struct ServerOptions {
  AccessPolicy policy = {};  // its port is the first that is tried; 0: any
  std::string control_socket = {};
  std::function<std::string(const std::string& root)> hosts_of = {};  // where a project's hosts have their records
  ApiFacts facts = {};
  net::HttpServerLimits limits = {};
};

class Server {
 public:
  /// Listens, then starts the thread. An error when no port can be had.
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:3888"
  [[nodiscard]] std::string url() const;

  /// No new requests; answers under way are finished, streams are ended. Returns at once.
  void begin_stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  std::thread thread_;
};

}  // namespace relay::api
