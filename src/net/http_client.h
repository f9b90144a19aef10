/// An HTTP/1.1 client for servers on this machine: whole responses, and streams.
///
/// Why one connection per exchange: exchanges are rare, a loopback connection costs 0.1 ms, and responses cannot get
///   out of step.
/// Invariants: every exchange ends exactly once, by its callback or by the destruction of its handle, and never inside
///   the call that started it. Header, body, time and the number of open exchanges are bounded. `NoConnection` means
///   that no byte of the request was sent; after any other failure the server may have acted on it.
/// Secrets: user and password are part of the request only, never of an error or a log line.
/// Ownership: borrows the loop. Destroying a handle cancels, also inside its own callback.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace relay::net {

class AsioLoop;

enum class HttpErrc { NoConnection, Interrupted, TimedOut, TooLarge, NotHttp, TooMany, BadRequest };
std::string_view describe(HttpErrc code);

struct HttpEndpoint {
  std::uint16_t port = 0;  // of 127.0.0.1
  std::string user = {};
  std::string password = {};  // empty: no authorization is sent
};

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // already escaped
  std::string json = {};     // the body; empty: none
};

struct HttpLimits {
  std::uint32_t header_bytes = 64 * 1024;
  std::uint64_t body_bytes = 8U << 20U;  // of a whole response; a stream has no limit
  Millis connect{5'000};
  Millis response{30'000};      // until the whole response, or the header of a stream, has arrived
  Millis idle_timeout{30'000};  // maximum time without a byte of a stream
};

struct HttpResponse {
  int status = 0;
  std::string content_type = {};
  std::string body = {};
};

class HttpStreamListener {
 public:
  virtual ~HttpStreamListener() = default;
  /// The header has arrived; the chunks that follow are the body of this status.
  virtual void on_header(int status, std::string_view content_type) = 0;
  virtual void on_chunk(std::string_view bytes) = 0;
  /// Last call: success when the server ended the body, else the error.
  virtual void on_end(Result<void> result) = 0;
};

class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
};

class HttpClient {
 public:
  static constexpr std::size_t kMaxOpen = 16;

  using OnResponse = std::move_only_function<void(Result<HttpResponse>)>;

  struct Shared;

  HttpClient(AsioLoop& loop, HttpEndpoint endpoint);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] std::unique_ptr<HttpExchange> send(const HttpRequest& request, const HttpLimits& limits,
                                                   OnResponse done);
  /// The listener outlives the handle.
  [[nodiscard]] std::unique_ptr<HttpExchange> stream(const HttpRequest& request, const HttpLimits& limits,
                                                     HttpStreamListener& listener);

 private:
  std::shared_ptr<Shared> shared_;
};

/// A port of 127.0.0.1 without a listener, outside the range the kernel uses for outgoing connections: only a program
/// that requests this very number could take it before the caller does.
Result<std::uint16_t> free_loopback_port();

}  // namespace relay::net
