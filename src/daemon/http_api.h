/// The HTTP API of a running daemon: started as configured, its address written down for others, gone with it.
///
/// Invariants: a daemon that can have no port goes on without one; one that would listen to other machines without a token
///   does not start. The file with the address (0600) is there only while somebody listens, or after a kill -9.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/daemon.h"

namespace relay::api {
class Server;
}

namespace relay::daemon {

class HttpApi {
 public:
  /// May it be served as it is configured?
  static Result<void> check(const DaemonOptions& options);
  static std::unique_ptr<HttpApi> start(const DaemonOptions& options);
  ~HttpApi();
  HttpApi(const HttpApi&) = delete;
  HttpApi& operator=(const HttpApi&) = delete;

  /// Where it is served; empty when it is not.
  [[nodiscard]] std::string url() const;
  /// Why it is not served although it should be; empty when it is served or switched off.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Streams are ended, no new requests are taken. Returns at once.
  void begin_stop();

 private:
  HttpApi() = default;

  std::string file_;
  std::string error_;
  std::unique_ptr<api::Server> server_;  // null: switched off, or no port
};

}  // namespace relay::daemon
