/// A server on the test's own loop, with clients that send raw bytes.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/http_server.h"
#include "net/testing/loop_driver.h"
#include "net/testing/raw_client.h"

namespace relay::net {

using testing::RawClient;
using testing::run_until;

struct BodyRecorder final : BodyListener {
  void on_drained() override {
    ++drained;
    if (when_drained) when_drained();
  }
  void on_closed(const std::string& reason) override {
    closed = reason;
    if (when_closed) when_closed();
  }
  int drained = 0;
  std::string closed;
  std::function<void()> when_drained, when_closed;
};

inline std::string get(std::string_view path, std::string_view more = {}) {
  return format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, more);
}

struct HttpServerTest : ::testing::Test {
  AsioLoop loop;
  HttpServerLimits limits{.linger = Millis{50}, .tick = Millis{1}};
  std::function<void(ServerRequest&, ResponseWriter&)> respond = [](ServerRequest& request, ResponseWriter& reply) {
    reply.send({.content_type = "text/plain", .body = request.method + " " + request.path});
  };
  std::list<ServerRequest> requests;
  std::list<ResponseWriter> deferred;  // writers that `respond` left unused
  std::unique_ptr<net::HttpServer> server;

  void start() {
    auto made = net::HttpServer::listen(loop, {}, limits, [this](ServerRequest request, ResponseWriter reply) {
      requests.push_back(std::move(request));
      respond(requests.back(), reply);
      if (!reply.is_done()) deferred.push_back(std::move(reply));
    });
    ASSERT_TRUE(made.has_value()) << made.error().message();
    server = *std::move(made);
  }
  RawClient connect() {
    if (!server) start();
    return {loop, server->port()};
  }
  void defer_responses() {
    respond = [](ServerRequest&, ResponseWriter&) {};
  }
  /// Sends the bytes on one connection and returns all output until the server closes it.
  std::string exchange(std::string_view bytes) {
    auto client = connect();
    client.send(bytes);
    EXPECT_TRUE(client.wait_closed()) << bytes << "\noutput: " << client.output();
    return client.output();
  }
  /// Waits until the kernel's buffers are full; returns the bytes still pending at the client.
  std::size_t wait_stalled(const RawClient& client) {
    std::size_t pending = 0;
    int unchanged = 0;
    EXPECT_TRUE(run_until(loop, [&] {
      unchanged = std::exchange(pending, client.waiting_bytes()) == pending ? unchanged + 1 : 0;
      return unchanged == 20;
    }));
    return pending;
  }
  bool wait_no_connections() {
    return run_until(loop, [&] { return server->connections() == 0; });
  }
};

}  // namespace relay::net
