/// An HTTP/1.1 server for programs of this machine: whole responses, streams, WebSockets. It has no routes.
///
/// Requests of a connection are handled one after the other, in order, even if the client pipelines. A request reaches
/// the handler whole and well-formed, or not at all: any other input gets a JSON error (400, 408, 413, 417, 431) and
/// the connection closes.
/// Invariants: everything that a client can make grow is bounded, everything that it can delay has a timeout
///   (HttpServerLimits). All timeouts share one timer, so an idle server with open streams never wakes.
/// Ownership: borrows the loop. The handler is not called inside `listen` and must not destroy the server; its handles
///   may outlive the server.
/// Threading: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/http_response.h"
#include "net/server_request.h"

namespace relay::net {

class AsioLoop;
class HttpServerCore;

enum class HttpServerErrc { PortTaken, BadAddress, NotAllowed, System };
std::string_view describe(HttpServerErrc code);

struct HttpAddress {
  std::string address = "127.0.0.1";  // numeric, IPv4 or IPv6
  std::uint16_t port = 0;             // 0: the kernel chooses
};

/// Untrusted clients are programs of other users than the owner, if an owner is set. They get a share of the
/// connections (the rest is reserved for the owner) and a short header timeout.
struct HttpServerLimits {
  std::size_t header_bytes = 16U * 1024U;
  std::size_t body_bytes = 1024U * 1024U;           // of a request, and of a WebSocket message
  std::size_t connections = 2'048;                  // one more gets 503
  std::optional<uid_t> owner = {};                  // none: all clients are trusted
  std::size_t untrusted = 1'024;                    // of the connections
  std::size_t waiting_bytes = 16U * 1024U * 1024U;  // pending bytes of a stream above this end the client
  Millis header{10'000};           // from a request's first byte (or the connection) to its last header
  Millis untrusted_header{2'000};  // the same for untrusted clients
  Millis body{30'000};             // from there to the last byte of the body
  Millis idle{60'000};             // between requests
  Millis write{30'000};            // without progress while bytes are pending
  Millis ping{30'000};             // without input of a WebSocket before a ping, and again before it is closed
  Millis linger{1'000};            // for a client to read the last bytes
  Millis tick{250};                // timeouts may be this late, so that many end in one wake
};

/// A numeric IPv4 or IPv6 address: what a server can listen at.
bool is_ip_address(const std::string& text);

class HttpServer {
 public:
  using Handler = std::move_only_function<void(ServerRequest request, ResponseWriter reply)>;

  /// PortTaken: another program listens there; try another port.
  static Result<std::unique_ptr<HttpServer>> listen(AsioLoop& loop, const HttpAddress& address,
                                                    const HttpServerLimits& limits, Handler handler);

  /// One more address for the same server. Errors as in `listen`.
  Result<void> add_listener(const HttpAddress& address);

  /// Cuts all connections without calling their listeners.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t connections() const;

  /// Serves a connected stream socket from elsewhere (one of a pair, an inherited one).
  void adopt(UniqueFd socket);

  /// Accepts no new connections and no more requests. Responses in progress are finished; after `linger` the
  /// remaining connections are cut and their listeners called. Then calls `done`, which may destroy the server.
  void close(std::move_only_function<void()> done);

 private:
  class Acceptor;

  HttpServer(AsioLoop& loop, const HttpServerLimits& limits, Handler handler);

  std::shared_ptr<HttpServerCore> core_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::uint16_t port_ = 0;
};

}  // namespace relay::net
