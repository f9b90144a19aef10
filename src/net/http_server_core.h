/// State that the connections of one HTTP server share: limits, handler, one read buffer, one flush per loop turn, one
/// timer. Private to the server.
///
/// Why one timer: it fires at the earliest deadline of any connection, checks all connections and sleeps again. Moving
///   a deadline later costs one store.
/// Ownership: the HttpServer owns it; connections point to it until they are shut, and its destruction shuts them all.
/// Threading: loop thread only.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/event_loop.h"
#include "net/http_server.h"

namespace relay::net {

class HttpServerCore : public std::enable_shared_from_this<HttpServerCore> {
 public:
  HttpServerCore(AsioLoop& loop, const HttpServerLimits& limits, HttpServer::Handler handler);

  [[nodiscard]] AsioLoop& loop() const { return loop_; }
  [[nodiscard]] const HttpServerLimits& limits() const { return limits_; }
  [[nodiscard]] SteadyTime now() const;
  [[nodiscard]] bool closing() const { return closing_; }
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  [[nodiscard]] bool is_untrusted(const HttpPeer& peer) const { return limits_.owner && peer.uid != limits_.owner; }
  [[nodiscard]] std::array<char, 64 * 1024>& read_buffer() { return read_buffer_; }

  void add(UniqueFd socket, HttpPeer peer);
  void forget(const HttpConnection& connection);
  void handle(ServerRequest request, ResponseWriter reply) { handler_(std::move(request), std::move(reply)); }

  /// Flushes the connection with all others that have pending bytes, after the running task.
  void mark_dirty(std::shared_ptr<HttpConnection> connection);
  /// Ensures that the timer fires at `deadline`.
  void wait_until(SteadyTime deadline);

  void close(std::move_only_function<void()> done);
  void abort_all();

 private:
  void flush_all();
  void arm(SteadyTime when);
  void on_timer();
  [[nodiscard]] std::vector<std::shared_ptr<HttpConnection>> all() const;
  void notify_when_empty();

  AsioLoop& loop_;
  HttpServerLimits limits_;
  HttpServer::Handler handler_;
  std::unordered_map<const HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::size_t untrusted_ = 0;  // of connections_
  std::vector<std::shared_ptr<HttpConnection>> dirty_;
  std::unique_ptr<Timer> timer_;
  SteadyTime armed_ = SteadyTime::max();
  bool closing_ = false;
  std::unique_ptr<Timer> abort_timer_;
  std::move_only_function<void()> done_;
  std::array<char, 64 * 1024> read_buffer_;
};

}  // namespace relay::net
