/// The HTTP API of a running daemon: started as configured, with its address in a file for other programs.
///
/// Invariants: a daemon that gets no port runs without HTTP; one that would listen to other machines without a token
///   does not start. The file with the address (0600) exists only while the API is served, or after a kill -9.
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
  /// Fails when the configuration does not allow the API to be served.
  static Result<void> check(const DaemonOptions& options);
  static std::unique_ptr<HttpApi> start(const DaemonOptions& options);
  ~HttpApi();
  HttpApi(const HttpApi&) = delete;
  HttpApi& operator=(const HttpApi&) = delete;

  /// The address of the API; empty when it is not served.
  [[nodiscard]] std::string url() const;
  /// Why the API is not served although it is configured; empty when it is served or switched off.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Ends streams and accepts no new requests. Returns at once.
  void begin_stop();

 private:
  HttpApi() = default;

  std::string file_;
  std::string error_;
  std::unique_ptr<api::Server> server_;  // null: switched off, or no port
};

}  // namespace relay::daemon
