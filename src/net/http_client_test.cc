#include "net/http_client.h"

#include <gtest/gtest.h>

#include "net/asio_loop.h"
#include "net/testing/http_server.h"
#include "net/testing/loop_driver.h"

namespace relay::net {
namespace {

using testing::HttpServer;
using testing::run_until;

struct StreamRecorder final : HttpStreamListener {
  void on_header(int given, std::string_view) override { status = given; }
  void on_chunk(std::string_view bytes) override {
    body.append(bytes);
    ++chunks;
    if (when_chunk) when_chunk();
  }
  void on_end(Result<void> result) override {
    ended = true;
    if (!result) error = result.error().message();
  }
  int status = 0, chunks = 0;
  std::string body, error;
  bool ended = false;
  std::function<void()> when_chunk;
};

struct HttpClientTest : ::testing::Test {
  AsioLoop loop;
  std::function<void(HttpServer::Request&)> respond = [](HttpServer::Request&) {};
  HttpServer server{loop, [this](HttpServer::Request& request) { respond(request); }};
  HttpClient client{loop, {.port = server.port(), .user = "opencode", .password = "pass:word"}};
  HttpLimits limits;
  std::unique_ptr<HttpExchange> exchange;
  std::optional<Result<HttpResponse>> response;

  void start(const HttpRequest& request = {}) {
    response.reset();
    exchange = client.send(request, limits, [this](Result<HttpResponse> given) { response = std::move(given); });
    EXPECT_FALSE(response.has_value()) << "never inside the call";
  }
  bool wait_response() {
    return run_until(loop, [&] { return response.has_value(); });
  }
  void exchange_bytes(std::string bytes) {
    respond = [bytes = std::move(bytes)](HttpServer::Request& request) {
      request.send(bytes);
      request.close();
    };
    start();
    ASSERT_TRUE(wait_response());
  }
  void expect_failure(HttpErrc code, std::string_view message) {
    ASSERT_FALSE(response->has_value());
    EXPECT_TRUE(is(response->error(), code)) << response->error().message();
    EXPECT_TRUE(response->error().message().contains(message)) << response->error().message();
    EXPECT_FALSE(response->error().message().contains("pass:word"));
  }
};

TEST_F(HttpClientTest, SendsJsonWithAuthorizationAndReadsTheResponse) {
  std::string received;
  respond = [&](HttpServer::Request& request) {
    received = request.text();
    request.respond(200, R"({"ok":true})");
  };
  start({.method = "POST", .target = "/session/a/prompt?x=1", .json = R"({"text":"hé"})"});
  ASSERT_TRUE(wait_response());
  ASSERT_TRUE(response->has_value()) << response->error().message();
  EXPECT_EQ((*response)->status, 200);
  EXPECT_EQ((*response)->content_type, "application/json");
  EXPECT_EQ((*response)->body, R"({"ok":true})");
  EXPECT_TRUE(received.starts_with("POST /session/a/prompt?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")) << received;
  EXPECT_TRUE(received.contains("Authorization: Basic b3BlbmNvZGU6cGFzczp3b3Jk\r\n")) << received;
  EXPECT_TRUE(received.contains("Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"text\":\"hé\"}"))
      << received;
}

TEST_F(HttpClientTest, ReadsChunkedAndConnectionDelimitedBodies) {
  exchange_bytes(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n6;ext=1\r\npedia.\r\n0\r\nX-Trailer: "
      "1\r\n\r\n");
  ASSERT_TRUE(response->has_value()) << response->error().message();
  EXPECT_EQ((*response)->body, "Wikipedia.");
  exchange_bytes("HTTP/1.0 404 Not Found\r\n\r\ngone");
  ASSERT_TRUE(response->has_value()) << response->error().message();
  EXPECT_EQ((*response)->status, 404);
  EXPECT_EQ((*response)->body, "gone");
  exchange_bytes("HTTP/1.1 204 No Content\r\n\r\n");
  ASSERT_TRUE(response->has_value()) << response->error().message();
  EXPECT_EQ((*response)->status, 204);
}

TEST_F(HttpClientTest, ReadsTheSameResponseForAnySplit) {
  const std::string wire =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < wire.size(); ++cut) {
    std::unique_ptr<Timer> later;
    respond = [&](HttpServer::Request& request) {
      request.send(wire.substr(0, cut));
      later = loop.after(Millis{1}, [&] { request.send(wire.substr(cut)); });
    };
    start();
    ASSERT_TRUE(wait_response());
    ASSERT_TRUE(response->has_value()) << "cut at " << cut << ": " << response->error().message();
    EXPECT_EQ((*response)->body, "abc0123456789") << "cut at " << cut;
  }
}

TEST_F(HttpClientTest, ReportsWhyAResponseIsInvalid) {
  exchange_bytes("");
  expect_failure(HttpErrc::Interrupted, "closed the connection");
  exchange_bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  expect_failure(HttpErrc::Interrupted, "before the response was complete");
  exchange_bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWi");
  expect_failure(HttpErrc::Interrupted, "before the response was complete");
  exchange_bytes("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  expect_failure(HttpErrc::NotHttp, "does not send HTTP");
  exchange_bytes("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n");
  expect_failure(HttpErrc::NotHttp, "does not send HTTP");
  exchange_bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  expect_failure(HttpErrc::NotHttp, "does not send HTTP");
}

TEST_F(HttpClientTest, OversizedResponseEndsTheExchange) {
  limits.body_bytes = 100;
  limits.header_bytes = 512;
  exchange_bytes("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x'));
  expect_failure(HttpErrc::TooLarge, "sends too much");
  exchange_bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x') +
                 "\r\n0\r\n\r\n");
  expect_failure(HttpErrc::TooLarge, "sends too much");
  exchange_bytes("HTTP/1.1 200 OK\r\n\r\n" + std::string(5'000, 'x'));
  expect_failure(HttpErrc::TooLarge, "sends too much");
  exchange_bytes("HTTP/1.1 200 OK\r\nX: " + std::string(5'000, 'x') + "\r\n\r\n");
  expect_failure(HttpErrc::TooLarge, "sends too much");
  exchange_bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;" + std::string(5'000, 'x'));
  expect_failure(HttpErrc::TooLarge, "sends too much");
}

TEST_F(HttpClientTest, TimesOutWithoutResponse) {
  limits.response = Millis{20};
  start();
  ASSERT_TRUE(wait_response());
  expect_failure(HttpErrc::TimedOut, "no response in time");
}

TEST_F(HttpClientTest, ReportsNoConnectionWithoutListener) {
  server.stop();
  start();
  ASSERT_TRUE(wait_response());
  expect_failure(HttpErrc::NoConnection, "cannot be reached");
}

TEST_F(HttpClientTest, DestroyingTheHandleCancels) {
  start();
  ASSERT_TRUE(run_until(loop, [&] { return server.requests().size() == 1; }));
  exchange.reset();
  ASSERT_TRUE(run_until(loop, [&] { return server.requests()[0]->closed(); }));
  EXPECT_FALSE(response.has_value());
}

TEST_F(HttpClientTest, BoundsOpenExchanges) {
  std::vector<std::unique_ptr<HttpExchange>> open;
  for (std::size_t i = 0; i < HttpClient::kMaxOpen; ++i) open.push_back(client.send({}, limits, [](auto) { FAIL(); }));
  start();
  ASSERT_TRUE(wait_response());
  expect_failure(HttpErrc::TooMany, "too many");
  open.pop_back();
  respond = [](HttpServer::Request& request) { request.respond(200, "{}"); };
  open.clear();
  start();
  ASSERT_TRUE(wait_response());
  EXPECT_TRUE(response->has_value());
}

TEST_F(HttpClientTest, RefusesATargetWithLineEnds) {
  start({.target = "/a\r\nX: y"});
  ASSERT_TRUE(wait_response());
  expect_failure(HttpErrc::BadRequest, "cannot be written");
}

TEST_F(HttpClientTest, DeliversAStreamInChunks) {
  HttpServer::Request* request = nullptr;
  respond = [&](HttpServer::Request& given) {
    request = &given;
    request->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  };
  StreamRecorder recorder;
  exchange = client.stream({.target = "/event"}, limits, recorder);
  ASSERT_TRUE(run_until(loop, [&] { return recorder.status == 200; }));
  request->send("3\r\none\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return recorder.body == "one"; }));
  request->send("3\r\ntwo\r\n0\r\n\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return recorder.ended; }));
  EXPECT_EQ(recorder.body, "onetwo");
  EXPECT_EQ(recorder.error, "");
}

TEST_F(HttpClientTest, ReportsABrokenOrSilentStream) {
  limits.idle_timeout = Millis{30};
  respond = [](HttpServer::Request& request) {
    request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
  };
  StreamRecorder silent;
  exchange = client.stream({}, limits, silent);
  ASSERT_TRUE(run_until(loop, [&] { return silent.ended; }));
  EXPECT_EQ(silent.body, "one");
  EXPECT_TRUE(silent.error.contains("the stream was silent")) << silent.error;

  respond = [](HttpServer::Request& request) {
    request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    request.close();
  };
  StreamRecorder broken;
  exchange = client.stream({}, limits, broken);
  ASSERT_TRUE(run_until(loop, [&] { return broken.ended; }));
  EXPECT_EQ(broken.body, "one");
  EXPECT_TRUE(broken.error.contains("broke off")) << broken.error;
}

TEST_F(HttpClientTest, StreamCanBeDestroyedInItsCallback) {
  respond = [](HttpServer::Request& request) { request.send("HTTP/1.1 200 OK\r\n\r\nforever"); };
  StreamRecorder recorder;
  recorder.when_chunk = [&] { exchange.reset(); };
  exchange = client.stream({}, limits, recorder);
  ASSERT_TRUE(run_until(loop, [&] { return recorder.chunks == 1 && server.requests()[0]->closed(); }));
  EXPECT_FALSE(recorder.ended);
}

TEST(FreeLoopbackPort, CanBeBound) {
  const auto port = free_loopback_port();
  ASSERT_TRUE(port.has_value());
  EXPECT_GE(*port, 20'000);
  EXPECT_LT(*port, 32'768);
}

}  // namespace
}  // namespace relay::net
