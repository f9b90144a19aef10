/// HTTP/1.1 to a server on this machine: whole answers, and answers that come in pieces for as long as they last.
///
/// Why one connection per exchange: they are rare, loopback connections cost 0.1 ms, and nothing can come out of step.
/// Invariants: every exchange ends exactly once, by its callback or by the death of its handle, and never inside the
///   call that began it. Everything is bounded: header, body, time, exchanges at once. `NoConnection` means that not a
///   byte of the request was sent; after any other failure the server may have acted on it.
/// Secrets: user and password go into the request only, never into an error or a log.
/// Ownership: borrows the loop. Destroying a handle cancels, also from inside its own callback.
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
  std::string target = "/";  // escaped already
  std::string json = {};     // the body; empty: none
};

struct HttpLimits {
  std::uint32_t header_bytes = 64 * 1024;
  std::uint64_t body_bytes = 8U << 20U;  // of a whole answer; a stream has no end
  Millis connect{5'000};
  Millis answer{30'000};        // until the whole answer, or the header of a stream, is there
  Millis idle_timeout{30'000};  // longest time without a byte within a stream
};

struct HttpResponse {
  int status = 0;
  std::string content_type = {};
  std::string body = {};
};

class HttpStreamListener {
 public:
  virtual ~HttpStreamListener() = default;
  /// The header is there; the pieces that follow are the body of this status.
  virtual void on_header(int status, std::string_view content_type) = 0;
  virtual void on_chunk(std::string_view bytes) = 0;
  /// Last call: the server ended the answer, or why it broke.
  virtual void on_end(Result<void> how) = 0;
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

  HttpClient(AsioLoop& loop, HttpEndpoint place);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] std::unique_ptr<HttpExchange> ask(const HttpRequest& request, const HttpLimits& limits,
                                                  OnResponse done);
  /// The listener outlives the handle.
  [[nodiscard]] std::unique_ptr<HttpExchange> stream(const HttpRequest& request, const HttpLimits& limits,
                                                     HttpStreamListener& listener);

 private:
  std::shared_ptr<Shared> shared_;
};

/// A port of 127.0.0.1 nobody listens on now, outside the range the kernel gives to outgoing connections, so that only
/// somebody who asks for this very number could take it before its user does.
Result<std::uint16_t> free_loopback_port();

}  // namespace relay::net
