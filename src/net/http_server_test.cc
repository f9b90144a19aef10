#include "net/http_server.h"

#include <gtest/gtest.h>

#include <list>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/listener_owner.h"
#include "net/testing/http_server_fixture.h"

namespace relay::net {
namespace {

// ---- listening

TEST_F(HttpServerTest, ReportsItsPortAndATakenPort) {
  start();
  EXPECT_GT(server->port(), 0);
  const auto second = net::HttpServer::listen(loop, {.port = server->port()}, limits, [](auto, auto) {});
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(is(second.error(), HttpServerErrc::PortTaken)) << second.error().message();
  EXPECT_TRUE(second.error().message().contains(format("port {}", server->port()))) << second.error().message();
}

TEST_F(HttpServerTest, RefusesAnInvalidAddress) {
  for (const auto* address : {"localhost", "", "300.1.1.1", "203.0.113.7"}) {
    const auto made = net::HttpServer::listen(loop, {.address = address}, limits, [](auto, auto) {});
    ASSERT_FALSE(made.has_value()) << address;
    EXPECT_TRUE(is(made.error(), HttpServerErrc::BadAddress)) << made.error().message();
  }
}

TEST_F(HttpServerTest, PassesThePeerToTheHandler) {
  auto client = connect();
  client.send(get("/who?a=b", "X-A: 1\r\n"));
  ASSERT_TRUE(client.wait_for("GET /who"));
  const auto& request = requests.front();
  EXPECT_EQ(request.query, "a=b");
  EXPECT_EQ(request.headers.find("x-a"), "1");
  EXPECT_EQ(request.peer.address, "127.0.0.1");
  EXPECT_GT(request.peer.port, 0);
  EXPECT_EQ(request.peer.uid, ::geteuid());
}

// ---- whole responses

TEST_F(HttpServerTest, RespondsAndKeepsTheConnection) {
  auto client = connect();
  client.send(get("/one"));
  ASSERT_TRUE(client.wait_for("GET /one"));
  EXPECT_EQ(client.output(), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nGET /one");
  client.send(get("/two"));
  ASSERT_TRUE(client.wait_for("GET /two"));
  EXPECT_EQ(server->connections(), 1u);
}

TEST_F(HttpServerTest, ClosesOnRequestOfTheClient) {
  EXPECT_TRUE(exchange(get("/", "Connection: close\r\n")).contains("Connection: close\r\n"));
  const auto old = exchange("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.ends_with("GET /old")) << old;
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, KeepsAnHttp10ConnectionOnRequest) {
  auto client = connect();
  client.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(client.wait_for("GET /1"));
  EXPECT_TRUE(client.output().contains("Connection: keep-alive\r\n")) << client.output();
  client.send("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.wait_closed());
}

TEST_F(HttpServerTest, RespondsToPipelinedRequestsInOrder) {
  defer_responses();
  auto client = connect();
  client.send(get("/1") + get("/2") + get("/3", "Connection: close\r\n"));
  for (const auto* body : {"one", "two", "three"}) {
    ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
    deferred.front().send({.body = body});
    deferred.clear();
  }
  ASSERT_TRUE(client.wait_closed());
  EXPECT_EQ(requests.size(), 3u) << "one at a time";
  const auto& output = client.output();
  EXPECT_LT(output.find("one"), output.find("two"));
  EXPECT_LT(output.find("two"), output.find("three"));
}

TEST_F(HttpServerTest, BoundsReadAhead) {
  defer_responses();
  auto client = connect();
  std::string many;
  while (many.size() < 32U * 1024U * 1024U) many += get("/again", "X: " + std::string(8'000, 'x') + "\r\n");
  client.send(get("/first"));
  ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
  client.send(many);
  EXPECT_GT(wait_stalled(client), 8U * 1024U * 1024U);
  EXPECT_EQ(requests.size(), 1u);
}

TEST_F(HttpServerTest, BoundsReadAheadWhileResponsesArePending) {
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = std::string(1'000'000, 'x')}); };
  auto client = connect();
  client.pause_reading();
  std::string many;
  while (many.size() < 32U * 1024U * 1024U) many += get("/again", "X: " + std::string(8'000, 'x') + "\r\n");
  client.send(many);
  EXPECT_GT(wait_stalled(client), 8U * 1024U * 1024U);
  EXPECT_LT(requests.size(), 100u);
}

TEST_F(HttpServerTest, SendsOnlyTheHeadForHead) {
  const auto output = exchange("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(output.contains("Content-Length: 7\r\n")) << output;
  EXPECT_TRUE(output.ends_with("\r\n\r\n")) << output;
}

TEST_F(HttpServerTest, SendsNoBodyWithBodilessStatus) {
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.status = 204, .body = "no"}); };
  EXPECT_EQ(exchange(get("/", "Connection: close\r\n")), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST_F(HttpServerTest, SendsLargeBodiesWhole) {
  const std::string large(3'000'000, 'y');
  respond = [&](ServerRequest&, ResponseWriter& reply) { reply.send({.body = large}); };
  const auto output = exchange(get("/", "Connection: close\r\n"));
  EXPECT_TRUE(output.substr(output.find("\r\n\r\n") + 4) == large);
}

TEST_F(HttpServerTest, ReadsBodiesByLengthAndInChunks) {
  auto client = connect();
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  client.send("POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_TRUE(client.wait_for("POST /b"));
  EXPECT_EQ(requests.front().body, "hello");
  EXPECT_EQ(requests.back().body, "abcde");
}

TEST_F(HttpServerTest, SendsContinueOnExpectation) {
  auto client = connect();
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(client.wait_for("HTTP/1.1 100 Continue\r\n\r\n"));
  EXPECT_TRUE(requests.empty());
  client.send("hello");
  ASSERT_TRUE(client.wait_for("POST /a"));
}

TEST_F(HttpServerTest, RespondsToAHalfClosedClient) {
  defer_responses();
  auto client = connect();
  client.send(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
  client.shutdown_write();
  const auto tick = loop.after(Millis{1}, [&] { deferred.front().send({.body = "late"}); });
  ASSERT_TRUE(client.wait_for("late"));
  EXPECT_TRUE(client.wait_closed());
}

TEST_F(HttpServerTest, IgnoresAResponseAfterTheClientDisconnected) {
  defer_responses();
  {
    auto client = connect();
    client.send(get("/"));
    ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
  }
  deferred.front().send({.body = std::string(1'000'000, 'x')});
  EXPECT_TRUE(deferred.front().is_done());
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, IgnoresAResponseAfterTheServerIsDestroyed) {
  defer_responses();
  auto client = connect();
  client.send(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
  server.reset();
  EXPECT_TRUE(deferred.front().is_done());
  BodyRecorder listener;
  EXPECT_FALSE(deferred.front().stream({}, listener).has_value());
  deferred.clear();
  EXPECT_TRUE(client.wait_closed());
}

TEST_F(HttpServerTest, SendsErrorForADroppedWriter) {
  respond = [](ServerRequest&, ResponseWriter& reply) { const ResponseWriter dropped = std::move(reply); };
  const auto output = exchange(get("/", "Connection: close\r\n"));
  EXPECT_TRUE(output.starts_with("HTTP/1.1 500 ")) << output;
  EXPECT_TRUE(output.contains(R"("code":"INTERNAL")")) << output;
}

TEST_F(HttpServerTest, SendsErrorForAnInvalidResponse) {
  for (const HttpHeader& header :
       {HttpHeader{"X", "a\r\nSet-Cookie: b"}, {"X Y", "a"}, {"content-length", "3"}, {"", ""}}) {
    respond = [&](ServerRequest&, ResponseWriter& reply) { reply.send({.headers = {header}}); };
    const auto output = exchange(get("/", "Connection: close\r\n"));
    EXPECT_TRUE(output.starts_with("HTTP/1.1 500 ")) << output;
    EXPECT_FALSE(output.contains("Set-Cookie")) << output;
  }
}

// ---- bad requests

TEST_F(HttpServerTest, RefusesMalformedInputAndCloses) {
  for (const std::string_view bytes : {
           "\x16\x03\x01\x00\xa5",
           "GET / HTTP/9.9\r\n\r\n",
           "GET / HTTP/1.1\r\nX: a\r\n b\r\nHost: a\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\nabc",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc",
           "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
       }) {
    const auto output = exchange(bytes);
    EXPECT_TRUE(output.starts_with("HTTP/1.1 400 Bad Request\r\n")) << bytes << "\n" << output;
    EXPECT_TRUE(output.contains("Connection: close\r\n")) << output;
    EXPECT_TRUE(output.contains(R"({"error":{"code":"BAD_REQUEST","message":")")) << output;
  }
  EXPECT_TRUE(requests.empty());
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, RespondsToRequestsBeforeMalformedInput) {
  const auto output = exchange("HEAD /good HTTP/1.1\r\nHost: a\r\n\r\n\x01\x02");
  EXPECT_TRUE(output.starts_with("HTTP/1.1 200 OK")) << output;
  EXPECT_TRUE(output.contains("HTTP/1.1 400 ")) << output;
  EXPECT_TRUE(output.ends_with("}}")) << "the body belongs to the second: " << output;
}

TEST_F(HttpServerTest, RefusesOversizedRequests) {
  limits.body_bytes = 100;
  const std::string large(8U * 1024U * 1024U, 'x');
  EXPECT_TRUE(exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + large.substr(0, 200'000))
                  .starts_with("HTTP/1.1 413 "))
      << "the response arrives while the client still sends";
  EXPECT_TRUE(exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n")
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nX: " + large.substr(0, 20'000)).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n").starts_with("HTTP/1.1 417 "));
  EXPECT_TRUE(requests.empty());
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, RefusesConnectionsOverTheLimit) {
  limits.connections = 2;
  auto one = connect(), two = connect();
  one.send(get("/1"));
  two.send(get("/2"));
  ASSERT_TRUE(one.wait_for("/1") && two.wait_for("/2"));
  const auto output = exchange(get("/3"));
  EXPECT_TRUE(output.starts_with("HTTP/1.1 503 ")) << output;
  EXPECT_TRUE(output.contains("TOO_MANY_CONNECTIONS")) << output;
  one.disconnect();
  ASSERT_TRUE(run_until(loop, [&] { return server->connections() == 1; }));
  auto again = connect();
  again.send(get("/4"));
  EXPECT_TRUE(again.wait_for("/4"));
}

TEST_F(HttpServerTest, BoundsUntrustedConnections) {
  limits.connections = 4;
  limits.untrusted = 1;
  limits.owner = ::geteuid() + 1;  // so that the test is untrusted
  auto one = connect();
  one.send(get("/1"));
  ASSERT_TRUE(one.wait_for("/1"));
  EXPECT_TRUE(exchange(get("/2")).contains("TOO_MANY_CONNECTIONS"));
  ASSERT_TRUE(run_until(loop, [&] { return server->connections() == 1; }));
  one.disconnect();
  ASSERT_TRUE(wait_no_connections());
  auto two = connect();
  two.send(get("/3"));
  EXPECT_TRUE(two.wait_for("/3")) << "a released share is available again";
}

TEST_F(HttpServerTest, TrustsTheOwner) {
  limits.connections = 2;
  limits.untrusted = 0;
  limits.owner = ::geteuid();
  auto one = connect(), two = connect();
  one.send(get("/1"));
  two.send(get("/2"));
  EXPECT_TRUE(one.wait_for("/1") && two.wait_for("/2"));
}

TEST_F(HttpServerTest, ClosesAfterALastResponse) {
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.status = 403, .last = true}); };
  const auto output = exchange(get("/") + get("/again"));
  EXPECT_TRUE(output.contains("Connection: close\r\n")) << output;
  EXPECT_EQ(requests.size(), 1u);
}

// ---- time

TEST_F(HttpServerTest, GivesUntrustedClientsAShortHeaderTimeout) {
  limits.owner = ::geteuid() + 1;
  limits.untrusted_header = Millis{20};
  auto silent = connect(), slow = connect();
  slow.send("GET / HTTP/1.1\r\nHost:");
  EXPECT_TRUE(silent.wait_closed());
  EXPECT_TRUE(slow.wait_for("HTTP/1.1 408 "));
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, PartialEmptyLinesDoNotExtendTheTimeout) {
  limits.header = Millis{100};
  auto client = connect();
  const auto start_time = loop.now().steady;
  std::unique_ptr<Timer> timer;
  std::function<void(bool)> send_alternately = [&](bool first) {
    client.send(first ? "\r" : "\n");
    timer = loop.after(Millis{10}, [&, first] { send_alternately(!first); });
  };
  send_alternately(true);
  EXPECT_TRUE(client.wait_closed());
  EXPECT_LT(loop.now().steady - start_time, Millis{2'000});
}

TEST_F(HttpServerTest, TimesOutAnIncompleteHeader) {
  limits.header = Millis{30};
  limits.body = limits.idle = Millis{60'000};
  start();
  auto client = connect();
  std::unique_ptr<Timer> drip;
  std::function<void()> again = [&] {
    client.send("X");
    drip = loop.after(Millis{5}, [&] { again(); });
  };
  client.send("GET / HTTP/1.1\r\nHost: a\r\nX");
  again();
  ASSERT_TRUE(client.wait_for("REQUEST_TIMEOUT")) << client.output();
  EXPECT_TRUE(client.output().starts_with("HTTP/1.1 408 ")) << client.output();
  drip.reset();
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, TimesOutAnIncompleteBody) {
  limits.body = Millis{20};
  EXPECT_TRUE(exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc").starts_with("HTTP/1.1 408 "));
}

TEST_F(HttpServerTest, TimesOutASilentClient) {
  limits.header = Millis{20};
  EXPECT_EQ(exchange(""), "");
  limits.header = Millis{60'000};
  limits.idle = Millis{20};
  server.reset();
  EXPECT_TRUE(exchange(get("/last")).ends_with("GET /last"));
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, TimesOutAClientThatDoesNotRead) {
  limits.write = Millis{30};
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = std::string(32U * 1024U * 1024U, 'x')}); };
  auto client = connect();
  client.pause_reading();
  client.send(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return requests.size() == 1; }));
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpServerTest, KeepsAClientThatReadsSlowly) {
  limits.write = Millis{100};
  const std::size_t size = 16U * 1024U * 1024U;
  respond = [&](ServerRequest&, ResponseWriter& reply) { reply.send({.body = std::string(size, 'x')}); };
  auto client = connect();
  client.send(get("/", "Connection: close\r\n"));
  const auto start_time = loop.now().steady;
  std::unique_ptr<Timer> pause;
  std::function<void()> sip = [&] {
    client.pause_reading();
    pause = loop.after(Millis{20}, [&] {
      client.resume_reading();
      pause = loop.after(Millis{1}, [&] { sip(); });
    });
  };
  sip();
  ASSERT_TRUE(client.wait_closed());
  EXPECT_GT(client.output().size(), size);
  EXPECT_GT(loop.now().steady - start_time, limits.write) << "longer than the limit, but never without progress";
}

// ---- closing

TEST_F(HttpServerTest, ClosesIdleConnectionsAtOnce) {
  auto client = connect();
  client.send(get("/"));
  ASSERT_TRUE(client.wait_for("GET /"));
  ASSERT_TRUE(listener_owner(server->port()).has_value());
  bool closed = false;
  server->close([&] { closed = true; });
  EXPECT_FALSE(listener_owner(server->port()).has_value()) << "the port has no listener";
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_TRUE(client.wait_closed());
}

TEST_F(HttpServerTest, FinishesTheCurrentResponseBeforeClosing) {
  limits.linger = Millis{5'000};
  defer_responses();
  auto client = connect();
  client.send(get("/1") + get("/2"));
  ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
  bool closed = false;
  server->close([&] {
    closed = true;
    server.reset();
  });
  const auto tick = loop.after(Millis{2}, [&] { deferred.front().send({.body = "last words"}); });
  ASSERT_TRUE(client.wait_closed());
  EXPECT_TRUE(client.output().ends_with("last words")) << client.output();
  EXPECT_TRUE(client.output().contains("Connection: close")) << client.output();
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_EQ(requests.size(), 1u);
}

TEST_F(HttpServerTest, ReleasesItsPort) {
  start();
  const auto port = server->port();
  auto client = connect();
  client.send(get("/"));
  ASSERT_TRUE(client.wait_for("GET /"));
  server.reset();
  const auto again = net::HttpServer::listen(loop, {.port = port}, limits, [](auto, auto) {});
  EXPECT_TRUE(again.has_value()) << again.error().message();
}

TEST_F(HttpServerTest, ServesAnAdoptedSocket) {
  start();
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  RawClient client{loop, UniqueFd{ends[0]}};
  server->adopt(UniqueFd{ends[1]});
  client.send(get("/pair"));
  EXPECT_TRUE(client.wait_for("GET /pair"));
  EXPECT_EQ(requests.front().peer.uid, std::nullopt);
}

}  // namespace
}  // namespace relay::net
