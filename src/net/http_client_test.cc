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
    ++pieces;
    if (when_piece) when_piece();
  }
  void on_end(Result<void> how) override {
    ended = true;
    if (!how) error = how.error().message();
  }
  int status = 0, pieces = 0;
  std::string body, error;
  bool ended = false;
  std::function<void()> when_piece;
};

struct HttpClientTest : ::testing::Test {
  AsioLoop loop;
  std::function<void(HttpServer::Visit&)> respond = [](HttpServer::Visit&) {};
  HttpServer server{loop, [this](HttpServer::Visit& visit) { respond(visit); }};
  HttpClient client{loop, {.port = server.port(), .user = "opencode", .password = "pass:word"}};
  HttpLimits limits;
  std::unique_ptr<HttpExchange> exchange;
  std::optional<Result<HttpResponse>> answer;

  void begin(const HttpRequest& request = {}) {
    answer.reset();
    exchange = client.ask(request, limits, [this](Result<HttpResponse> given) { answer = std::move(given); });
    EXPECT_FALSE(answer.has_value()) << "never inside the call";
  }
  bool answered() {
    return run_until(loop, [&] { return answer.has_value(); });
  }
  void ask(std::string bytes) {
    respond = [bytes = std::move(bytes)](HttpServer::Visit& visit) {
      visit.say(bytes);
      visit.close();
    };
    begin();
    ASSERT_TRUE(answered());
  }
  void expect_failure(HttpErrc code, std::string_view sentence) {
    ASSERT_FALSE(answer->has_value());
    EXPECT_TRUE(is(answer->error(), code)) << answer->error().message();
    EXPECT_TRUE(answer->error().message().contains(sentence)) << answer->error().message();
    EXPECT_FALSE(answer->error().message().contains("pass:word"));
  }
};

TEST_F(HttpClientTest, SendsJsonWithAuthorizationAndReadsTheAnswer) {
  std::string asked;
  respond = [&](HttpServer::Visit& visit) {
    asked = visit.text();
    visit.answer(200, R"({"ok":true})");
  };
  begin({.method = "POST", .target = "/session/a/prompt?x=1", .json = R"({"text":"hé"})"});
  ASSERT_TRUE(answered());
  ASSERT_TRUE(answer->has_value()) << answer->error().message();
  EXPECT_EQ((*answer)->status, 200);
  EXPECT_EQ((*answer)->content_type, "application/json");
  EXPECT_EQ((*answer)->body, R"({"ok":true})");
  EXPECT_TRUE(asked.starts_with("POST /session/a/prompt?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")) << asked;
  EXPECT_TRUE(asked.contains("Authorization: Basic b3BlbmNvZGU6cGFzczp3b3Jk\r\n")) << asked;
  EXPECT_TRUE(asked.contains("Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"text\":\"hé\"}")) << asked;
}

TEST_F(HttpClientTest, ReadsChunksAndAnswersThatEndWithTheConnection) {
  ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n6;ext=1\r\npedia.\r\n0\r\nX-Trailer: "
      "1\r\n\r\n");
  ASSERT_TRUE(answer->has_value()) << answer->error().message();
  EXPECT_EQ((*answer)->body, "Wikipedia.");
  ask("HTTP/1.0 404 Not Found\r\n\r\ngone");
  ASSERT_TRUE(answer->has_value()) << answer->error().message();
  EXPECT_EQ((*answer)->status, 404);
  EXPECT_EQ((*answer)->body, "gone");
  ask("HTTP/1.1 204 No Content\r\n\r\n");
  ASSERT_TRUE(answer->has_value()) << answer->error().message();
  EXPECT_EQ((*answer)->status, 204);
}

TEST_F(HttpClientTest, ReadsTheSameAnswerHoweverItIsCut) {
  const std::string wire =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < wire.size(); ++cut) {
    std::unique_ptr<Timer> later;
    respond = [&](HttpServer::Visit& visit) {
      visit.say(wire.substr(0, cut));
      later = loop.after(Millis{1}, [&] { visit.say(wire.substr(cut)); });
    };
    begin();
    ASSERT_TRUE(answered());
    ASSERT_TRUE(answer->has_value()) << "cut at " << cut << ": " << answer->error().message();
    EXPECT_EQ((*answer)->body, "abc0123456789") << "cut at " << cut;
  }
}

TEST_F(HttpClientTest, SaysWhyAnAnswerIsNone) {
  ask("");
  expect_failure(HttpErrc::Interrupted, "closed the connection");
  ask("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  expect_failure(HttpErrc::Interrupted, "before its answer was complete");
  ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWi");
  expect_failure(HttpErrc::Interrupted, "before its answer was complete");
  ask("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  expect_failure(HttpErrc::NotHttp, "does not speak HTTP");
  ask("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n");
  expect_failure(HttpErrc::NotHttp, "does not speak HTTP");
  ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  expect_failure(HttpErrc::NotHttp, "does not speak HTTP");
}

TEST_F(HttpClientTest, WhatIsTooLargeEndsTheExchange) {
  limits.body_bytes = 100;
  limits.header_bytes = 512;
  ask("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x'));
  expect_failure(HttpErrc::TooLarge, "says too much");
  ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x') + "\r\n0\r\n\r\n");
  expect_failure(HttpErrc::TooLarge, "says too much");
  ask("HTTP/1.1 200 OK\r\n\r\n" + std::string(5'000, 'x'));
  expect_failure(HttpErrc::TooLarge, "says too much");
  ask("HTTP/1.1 200 OK\r\nX: " + std::string(5'000, 'x') + "\r\n\r\n");
  expect_failure(HttpErrc::TooLarge, "says too much");
  ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;" + std::string(5'000, 'x'));
  expect_failure(HttpErrc::TooLarge, "says too much");
}

TEST_F(HttpClientTest, AServerThatDoesNotAnswerIsGivenUp) {
  limits.answer = Millis{20};
  begin();
  ASSERT_TRUE(answered());
  expect_failure(HttpErrc::TimedOut, "no answer in time");
}

TEST_F(HttpClientTest, NobodyListensMeansNothingWasSent) {
  server.stop();
  begin();
  ASSERT_TRUE(answered());
  expect_failure(HttpErrc::NoConnection, "cannot be reached");
}

TEST_F(HttpClientTest, DestroyingTheHandleCancels) {
  begin();
  ASSERT_TRUE(run_until(loop, [&] { return server.visits().size() == 1; }));
  exchange.reset();
  ASSERT_TRUE(run_until(loop, [&] { return server.visits()[0]->left(); }));
  EXPECT_FALSE(answer.has_value());
}

TEST_F(HttpClientTest, OnlySoManyAtOnce) {
  std::vector<std::unique_ptr<HttpExchange>> open;
  for (std::size_t i = 0; i < HttpClient::kMaxOpen; ++i) open.push_back(client.ask({}, limits, [](auto) { FAIL(); }));
  begin();
  ASSERT_TRUE(answered());
  expect_failure(HttpErrc::TooMany, "too much");
  open.pop_back();
  respond = [](HttpServer::Visit& visit) { visit.answer(200, "{}"); };
  open.clear();
  begin();
  ASSERT_TRUE(answered());
  EXPECT_TRUE(answer->has_value());
}

TEST_F(HttpClientTest, ARequestThatWouldBreakItsLinesIsNotSent) {
  begin({.target = "/a\r\nX: y"});
  ASSERT_TRUE(answered());
  expect_failure(HttpErrc::BadRequest, "cannot be written");
}

TEST_F(HttpClientTest, AStreamComesInPiecesUntilItEnds) {
  HttpServer::Visit* visit = nullptr;
  respond = [&](HttpServer::Visit& given) {
    visit = &given;
    visit->say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  };
  StreamRecorder heard;
  exchange = client.stream({.target = "/event"}, limits, heard);
  ASSERT_TRUE(run_until(loop, [&] { return heard.status == 200; }));
  visit->say("3\r\none\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return heard.body == "one"; }));
  visit->say("3\r\ntwo\r\n0\r\n\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return heard.ended; }));
  EXPECT_EQ(heard.body, "onetwo");
  EXPECT_EQ(heard.error, "");
}

TEST_F(HttpClientTest, AStreamThatBreaksOrFallsSilentSaysSo) {
  limits.idle_timeout = Millis{30};
  respond = [](HttpServer::Visit& visit) {
    visit.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
  };
  StreamRecorder silent;
  exchange = client.stream({}, limits, silent);
  ASSERT_TRUE(run_until(loop, [&] { return silent.ended; }));
  EXPECT_EQ(silent.body, "one");
  EXPECT_TRUE(silent.error.contains("it fell silent")) << silent.error;

  respond = [](HttpServer::Visit& visit) {
    visit.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    visit.close();
  };
  StreamRecorder broken;
  exchange = client.stream({}, limits, broken);
  ASSERT_TRUE(run_until(loop, [&] { return broken.ended; }));
  EXPECT_EQ(broken.body, "one");
  EXPECT_TRUE(broken.error.contains("broke off")) << broken.error;
}

TEST_F(HttpClientTest, AStreamMayBeDroppedFromInsideItsOwnCallback) {
  respond = [](HttpServer::Visit& visit) { visit.say("HTTP/1.1 200 OK\r\n\r\nforever"); };
  StreamRecorder heard;
  heard.when_piece = [&] { exchange.reset(); };
  exchange = client.stream({}, limits, heard);
  ASSERT_TRUE(run_until(loop, [&] { return heard.pieces == 1 && server.visits()[0]->left(); }));
  EXPECT_FALSE(heard.ended);
}

TEST(FreeLoopbackPort, IsOneThatCanBeBound) {
  const auto port = free_loopback_port();
  ASSERT_TRUE(port.has_value());
  EXPECT_GE(*port, 20'000);
  EXPECT_LT(*port, 32'768);
}

}  // namespace
}  // namespace relay::net
