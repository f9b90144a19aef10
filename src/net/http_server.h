/// An HTTP/1.1 server for the programs of this machine: whole answers, answers in pieces, WebSocket. It knows no routes.
///
/// A connection's requests are handled one after the other, in order, however many it sends ahead. A request reaches the
///   handler whole and well-formed, or not at all: whatever else comes is told why in one sentence of JSON (400, 408, 413,
///   417, 431) and the connection ends.
/// Invariants: everything a client can make grow has a bound, everything it can delay has a time (HttpServerLimits); all
///   times share one timer, so an idle server with open streams never wakes.
/// Ownership: borrows the loop. The handler is not called inside `listen`, and must not destroy the server; handles it was
///   given may outlive it.
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
  std::string address = "127.0.0.1";  // of either version of IP, in numbers
  std::uint16_t port = 0;             // 0: the kernel chooses
};

/// Strangers are the programs that are not the owner's, where one is named. They may look for a moment and no more: they
/// have a share of the connections, the rest is the owner's, and little time to say what they want.
struct HttpServerLimits {
  std::size_t header_bytes = 16U * 1024U;
  std::size_t body_bytes = 1024U * 1024U;           // of a request, and of a WebSocket's message
  std::size_t connections = 2'048;                  // one more is told 503
  std::optional<uid_t> owner = {};                  // none: all are alike
  std::size_t untrusted = 1'024;                    // of the connections
  std::size_t waiting_bytes = 16U * 1024U * 1024U;  // of a stream, when more is written: the client is cut
  Millis header{10'000};           // from a request's first byte (or the connection) to its last header
  Millis untrusted_header{2'000};  // the same for them
  Millis body{30'000};             // from there to its last byte
  Millis idle{60'000};             // between requests
  Millis write{30'000};            // without a byte taken of those that wait
  Millis ping{30'000};             // a WebSocket's silence until it is asked, and again until it is given up
  Millis linger{1'000};            // for a client to hear our last words
  Millis tick{250};                // times are kept this late, so that many end in one wake
};

/// In numbers, of either version of IP: what a server can listen at.
bool is_ip_address(const std::string& text);

class HttpServer {
 public:
  using Handler = std::move_only_function<void(ServerRequest request, ResponseWriter reply)>;

  /// PortTaken: somebody else listens there; try another.
  static Result<std::unique_ptr<HttpServer>> listen(AsioLoop& loop, const HttpAddress& address,
                                                    const HttpServerLimits& limits, Handler handler);

  /// One more address for the same server. Errors as in `listen`.
  Result<void> listen_also(const HttpAddress& address);

  /// Cuts what is open; no listener is told.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t connections() const;

  /// Serves a stream socket that came some other way (one of a pair, one passed on).
  void adopt(UniqueFd socket);

  /// No new connections, no further requests. Answers under way are finished; after `linger` what is left is cut and its
  /// listeners told. Then `done`, in which the server may be destroyed.
  void close(std::move_only_function<void()> done);

 private:
  class Acceptor;

  HttpServer(AsioLoop& loop, const HttpServerLimits& limits, Handler handler);

  std::shared_ptr<HttpServerCore> core_;
  std::vector<std::unique_ptr<Acceptor>> doors_;
  std::uint16_t port_ = 0;
};

}  // namespace relay::net
