/// A server on the test's own loop, with clients of raw bytes.
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
  void on_gone(const std::string& why) override {
    gone = why;
    if (when_gone) when_gone();
  }
  int drained = 0;
  std::string gone;
  std::function<void()> when_drained, when_gone;
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
  std::list<ResponseWriter> later;  // replies that `respond` left alone
  std::unique_ptr<net::HttpServer> server;

  void start() {
    auto made = net::HttpServer::listen(loop, {}, limits, [this](ServerRequest request, ResponseWriter reply) {
      requests.push_back(std::move(request));
      respond(requests.back(), reply);
      if (!reply.over()) later.push_back(std::move(reply));
    });
    ASSERT_TRUE(made.has_value()) << made.error().message();
    server = *std::move(made);
  }
  RawClient client() {
    if (!server) start();
    return {loop, server->port()};
  }
  void answer_later() {
    respond = [](ServerRequest&, ResponseWriter&) {};
  }
  /// One connection, all it hears until it is closed.
  std::string ask(std::string_view bytes) {
    auto asking = client();
    asking.say(bytes);
    EXPECT_TRUE(asking.sees_the_end()) << bytes << "\nheard " << asking.heard();
    return asking.heard();
  }
  /// The kernel's buffers fill and then nothing moves any more; what is left then waits at the client.
  std::size_t stuck_at(const RawClient& talking) {
    std::size_t waits = 0;
    int still = 0;
    EXPECT_TRUE(run_until(loop, [&] {
      still = std::exchange(waits, talking.waiting_bytes()) == waits ? still + 1 : 0;
      return still == 20;
    }));
    return waits;
  }
  bool nobody_is_left() {
    return run_until(loop, [&] { return server->connections() == 0; });
  }
};

}  // namespace relay::net
