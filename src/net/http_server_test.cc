#include "net/http_server.h"

#include <gtest/gtest.h>

#include <list>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/listener_owner.h"
#include "net/testing/loop_driver.h"
#include "net/testing/raw_client.h"

namespace relay::net {
namespace {

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

std::string get(std::string_view path, std::string_view more = {}) {
  return format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, more);
}

struct HttpServerTest : ::testing::Test {
  AsioLoop loop;
  HttpServerLimits limits{.linger = Millis{50}, .tick = Millis{1}};
  std::function<void(ServerRequest&, HttpReply&)> respond = [](ServerRequest& request, HttpReply& reply) {
    reply.send({.content_type = "text/plain", .body = request.method + " " + request.path});
  };
  std::list<ServerRequest> requests;
  std::list<HttpReply> later;  // replies that `respond` left alone
  std::unique_ptr<net::HttpServer> server;

  void start() {
    auto made = net::HttpServer::listen(loop, {}, limits, [this](ServerRequest request, HttpReply reply) {
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
    respond = [](ServerRequest&, HttpReply&) {};
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

// ---- listening

TEST_F(HttpServerTest, SaysWhichPortItGotAndWhichIsTaken) {
  start();
  EXPECT_GT(server->port(), 0);
  const auto second = net::HttpServer::listen(loop, {.port = server->port()}, limits, [](auto, auto) {});
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(is(second.error(), HttpServerErrc::PortTaken)) << second.error().message();
  EXPECT_TRUE(second.error().message().contains(format("port {}", server->port()))) << second.error().message();
}

TEST_F(HttpServerTest, RefusesAnAddressThatIsNone) {
  for (const auto* address : {"localhost", "", "300.1.1.1", "203.0.113.7"}) {
    const auto made = net::HttpServer::listen(loop, {.address = address}, limits, [](auto, auto) {});
    ASSERT_FALSE(made.has_value()) << address;
    EXPECT_TRUE(is(made.error(), HttpServerErrc::BadAddress)) << made.error().message();
  }
}

TEST_F(HttpServerTest, TellsTheHandlerWhoAsks) {
  auto asking = client();
  asking.say(get("/who?a=b", "X-A: 1\r\n"));
  ASSERT_TRUE(asking.hears("GET /who"));
  const auto& request = requests.front();
  EXPECT_EQ(request.query, "a=b");
  EXPECT_EQ(request.headers.find("x-a"), "1");
  EXPECT_EQ(request.peer.address, "127.0.0.1");
  EXPECT_GT(request.peer.port, 0);
  EXPECT_EQ(request.peer.uid, ::geteuid());
}

// ---- whole answers

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  auto asking = client();
  asking.say(get("/one"));
  ASSERT_TRUE(asking.hears("GET /one"));
  EXPECT_EQ(asking.heard(), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nGET /one");
  asking.say(get("/two"));
  ASSERT_TRUE(asking.hears("GET /two"));
  EXPECT_EQ(server->connections(), 1u);
}

TEST_F(HttpServerTest, ClosesWhenTheClientWishesIt) {
  EXPECT_TRUE(ask(get("/", "Connection: close\r\n")).contains("Connection: close\r\n"));
  const auto old = ask("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.ends_with("GET /old")) << old;
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, KeepsAnOldClientThatAsksForIt) {
  auto asking = client();
  asking.say("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(asking.hears("GET /1"));
  EXPECT_TRUE(asking.heard().contains("Connection: keep-alive\r\n")) << asking.heard();
  asking.say("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(asking.sees_the_end());
}

TEST_F(HttpServerTest, AnswersRequestsSentAheadInTheirOrder) {
  answer_later();
  auto asking = client();
  asking.say(get("/1") + get("/2") + get("/3", "Connection: close\r\n"));
  for (const auto* body : {"one", "two", "three"}) {
    ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
    later.front().send({.body = body});
    later.clear();
  }
  ASSERT_TRUE(asking.sees_the_end());
  EXPECT_EQ(requests.size(), 3u) << "one at a time";
  const auto& heard = asking.heard();
  EXPECT_LT(heard.find("one"), heard.find("two"));
  EXPECT_LT(heard.find("two"), heard.find("three"));
}

TEST_F(HttpServerTest, ReadsOnlySoMuchAhead) {
  answer_later();
  auto asking = client();
  std::string many;
  while (many.size() < 32U * 1024U * 1024U) many += get("/again", "X: " + std::string(8'000, 'x') + "\r\n");
  asking.say(get("/first"));
  ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
  asking.say(many);
  EXPECT_GT(stuck_at(asking), 8U * 1024U * 1024U);
  EXPECT_EQ(requests.size(), 1u);
}

TEST_F(HttpServerTest, ReadsOnlySoMuchWhileItsAnswersWait) {
  respond = [](ServerRequest&, HttpReply& reply) { reply.send({.body = std::string(1'000'000, 'x')}); };
  auto asking = client();
  asking.stop_reading();
  std::string many;
  while (many.size() < 32U * 1024U * 1024U) many += get("/again", "X: " + std::string(8'000, 'x') + "\r\n");
  asking.say(many);
  EXPECT_GT(stuck_at(asking), 8U * 1024U * 1024U);
  EXPECT_LT(requests.size(), 100u);
}

TEST_F(HttpServerTest, SendsTheHeadAloneWhenThatIsAsked) {
  const auto heard = ask("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(heard.contains("Content-Length: 7\r\n")) << heard;
  EXPECT_TRUE(heard.ends_with("\r\n\r\n")) << heard;
}

TEST_F(HttpServerTest, SendsNoBodyWhereNoneBelongs) {
  respond = [](ServerRequest&, HttpReply& reply) { reply.send({.status = 204, .body = "no"}); };
  EXPECT_EQ(ask(get("/", "Connection: close\r\n")), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST_F(HttpServerTest, SendsLargeBodiesWhole) {
  const std::string large(3'000'000, 'y');
  respond = [&](ServerRequest&, HttpReply& reply) { reply.send({.body = large}); };
  const auto heard = ask(get("/", "Connection: close\r\n"));
  EXPECT_TRUE(heard.substr(heard.find("\r\n\r\n") + 4) == large);
}

TEST_F(HttpServerTest, ReadsBodiesByLengthAndInChunks) {
  auto asking = client();
  asking.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  asking.say("POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_TRUE(asking.hears("POST /b"));
  EXPECT_EQ(requests.front().body, "hello");
  EXPECT_EQ(requests.back().body, "abcde");
}

TEST_F(HttpServerTest, WelcomesABodyThatWaitsToBeAsked) {
  auto asking = client();
  asking.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(asking.hears("HTTP/1.1 100 Continue\r\n\r\n"));
  EXPECT_TRUE(requests.empty());
  asking.say("hello");
  ASSERT_TRUE(asking.hears("POST /a"));
}

TEST_F(HttpServerTest, AnswersAClientThatEndedItsHalf) {
  answer_later();
  auto asking = client();
  asking.say(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
  asking.end_saying();
  const auto tick = loop.after(Millis{1}, [&] { later.front().send({.body = "late"}); });
  ASSERT_TRUE(asking.hears("late"));
  EXPECT_TRUE(asking.sees_the_end());
}

TEST_F(HttpServerTest, AnAnswerAfterTheClientHasGoneIsHarmless) {
  answer_later();
  {
    auto asking = client();
    asking.say(get("/"));
    ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
  }
  later.front().send({.body = std::string(1'000'000, 'x')});
  EXPECT_TRUE(later.front().over());
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, AnAnswerAfterTheServerHasGoneIsHarmless) {
  answer_later();
  auto asking = client();
  asking.say(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
  server.reset();
  EXPECT_TRUE(later.front().over());
  BodyRecorder listener;
  EXPECT_FALSE(later.front().stream({}, listener).has_value());
  later.clear();
  EXPECT_TRUE(asking.sees_the_end());
}

TEST_F(HttpServerTest, ARequestNobodyAnsweredIs500) {
  respond = [](ServerRequest&, HttpReply& reply) { const HttpReply dropped = std::move(reply); };
  const auto heard = ask(get("/", "Connection: close\r\n"));
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 500 ")) << heard;
  EXPECT_TRUE(heard.contains(R"("code":"INTERNAL")")) << heard;
}

TEST_F(HttpServerTest, AnAnswerThatCannotBeWrittenIs500) {
  for (const HttpHeader& header :
       {HttpHeader{"X", "a\r\nSet-Cookie: b"}, {"X Y", "a"}, {"content-length", "3"}, {"", ""}}) {
    respond = [&](ServerRequest&, HttpReply& reply) { reply.send({.headers = {header}}); };
    const auto heard = ask(get("/", "Connection: close\r\n"));
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 500 ")) << heard;
    EXPECT_FALSE(heard.contains("Set-Cookie")) << heard;
  }
}

// ---- bad requests

TEST_F(HttpServerTest, TellsAClientThatSpeaksNonsenseAndHangsUp) {
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
    const auto heard = ask(bytes);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 400 Bad Request\r\n")) << bytes << "\n" << heard;
    EXPECT_TRUE(heard.contains("Connection: close\r\n")) << heard;
    EXPECT_TRUE(heard.contains(R"({"error":{"code":"BAD_REQUEST","message":")")) << heard;
  }
  EXPECT_TRUE(requests.empty());
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, AnswersWhatCameBeforeTheNonsense) {
  const auto heard = ask("HEAD /good HTTP/1.1\r\nHost: a\r\n\r\n\x01\x02");
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 200 OK")) << heard;
  EXPECT_TRUE(heard.contains("HTTP/1.1 400 ")) << heard;
  EXPECT_TRUE(heard.ends_with("}}")) << "the body belongs to the second: " << heard;
}

TEST_F(HttpServerTest, TellsAClientThatSaysTooMuch) {
  limits.body_bytes = 100;
  const std::string large(8U * 1024U * 1024U, 'x');
  EXPECT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + large.substr(0, 200'000))
                  .starts_with("HTTP/1.1 413 "))
      << "it hears the answer although it is still talking";
  EXPECT_TRUE(
      ask("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nX: " + large.substr(0, 20'000)).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n").starts_with("HTTP/1.1 417 "));
  EXPECT_TRUE(requests.empty());
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, TellsOneClientTooManyAndHangsUp) {
  limits.connections = 2;
  auto one = client(), two = client();
  one.say(get("/1"));
  two.say(get("/2"));
  ASSERT_TRUE(one.hears("/1") && two.hears("/2"));
  const auto heard = ask(get("/3"));
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 503 ")) << heard;
  EXPECT_TRUE(heard.contains("TOO_MANY_CONNECTIONS")) << heard;
  one.hang_up();
  ASSERT_TRUE(run_until(loop, [&] { return server->connections() == 1; }));
  auto again = client();
  again.say(get("/4"));
  EXPECT_TRUE(again.hears("/4"));
}

// ---- time

TEST_F(HttpServerTest, GivesUpAClientThatNeverEndsItsHeader) {
  limits.header = Millis{30};
  limits.body = limits.idle = Millis{60'000};
  start();
  auto asking = client();
  std::unique_ptr<Timer> drip;
  std::function<void()> again = [&] {
    asking.say("X");
    drip = loop.after(Millis{5}, [&] { again(); });
  };
  asking.say("GET / HTTP/1.1\r\nHost: a\r\nX");
  again();
  ASSERT_TRUE(asking.hears("REQUEST_TIMEOUT")) << asking.heard();
  EXPECT_TRUE(asking.heard().starts_with("HTTP/1.1 408 ")) << asking.heard();
  drip.reset();
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, GivesUpAClientThatNeverEndsItsBody) {
  limits.body = Millis{20};
  EXPECT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc").starts_with("HTTP/1.1 408 "));
}

TEST_F(HttpServerTest, GivesUpAClientThatSaysNothing) {
  limits.header = Millis{20};
  EXPECT_EQ(ask(""), "");
  limits.header = Millis{60'000};
  limits.idle = Millis{20};
  server.reset();
  EXPECT_TRUE(ask(get("/last")).ends_with("GET /last"));
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, GivesUpAClientThatDoesNotRead) {
  limits.write = Millis{30};
  respond = [](ServerRequest&, HttpReply& reply) { reply.send({.body = std::string(32U * 1024U * 1024U, 'x')}); };
  auto asking = client();
  asking.stop_reading();
  asking.say(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return requests.size() == 1; }));
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, WaitsForAClientThatReadsSlowly) {
  limits.write = Millis{100};
  const std::size_t size = 16U * 1024U * 1024U;
  respond = [&](ServerRequest&, HttpReply& reply) { reply.send({.body = std::string(size, 'x')}); };
  auto asking = client();
  asking.say(get("/", "Connection: close\r\n"));
  const auto began = loop.now().steady;
  std::unique_ptr<Timer> pause;
  std::function<void()> sip = [&] {
    asking.stop_reading();
    pause = loop.after(Millis{20}, [&] {
      asking.read_on();
      pause = loop.after(Millis{1}, [&] { sip(); });
    });
  };
  sip();
  ASSERT_TRUE(asking.sees_the_end());
  EXPECT_GT(asking.heard().size(), size);
  EXPECT_GT(loop.now().steady - began, limits.write) << "longer than the limit, but never without progress";
}

// ---- streams

struct HttpStreamTest : HttpServerTest {
  BodyRecorder listener;
  std::optional<BodyStream> stream;

  HttpStreamTest() {
    respond = [this](ServerRequest&, HttpReply& reply) {
      stream =
          reply.stream({.content_type = "text/event-stream", .headers = {{"Cache-Control", "no-store"}}}, listener);
    };
  }
  /// A client whose stream is open.
  RawClient reader(std::string_view more = {}) {
    auto reading = client();
    reading.say(get("/events", more));
    EXPECT_TRUE(reading.hears("\r\n\r\n"));
    EXPECT_TRUE(stream && stream->open());
    return reading;
  }
};

TEST_F(HttpStreamTest, ComesInChunksUntilItIsFinished) {
  auto reading = reader();
  EXPECT_EQ(reading.heard(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            "Cache-Control: no-store\r\n\r\n");
  reading.heard().clear();
  stream->write(make_piece("data: one\n\n"));
  EXPECT_EQ(stream->waiting_bytes(), 3u + 11u + 2u);
  ASSERT_TRUE(reading.hears("one\n\n\r\n"));
  EXPECT_EQ(stream->waiting_bytes(), 0u);
  stream->write(make_piece("data: two\n\n"));
  stream->write(make_piece(""));
  stream->write(nullptr);
  stream->write(make_piece("data: three\n\n"));
  stream->finish();
  EXPECT_FALSE(stream->open());
  ASSERT_TRUE(reading.hears("0\r\n\r\n"));
  EXPECT_EQ(reading.heard(), "b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\nd\r\ndata: three\n\n\r\n0\r\n\r\n");
  respond = [](ServerRequest&, HttpReply& reply) { reply.send({.body = "next"}); };
  reading.say(get("/more"));
  EXPECT_TRUE(reading.hears("next")) << "the connection is kept";
  EXPECT_EQ(listener.gone, "");
}

TEST_F(HttpStreamTest, SharesItsPiecesAmongManyReaders) {
  std::list<BodyRecorder> listeners;
  std::list<BodyStream> streams;
  respond = [&](ServerRequest&, HttpReply& reply) { streams.push_back(*reply.stream({}, listeners.emplace_back())); };
  std::list<RawClient> readers;
  start();
  for (int i = 0; i < 20; ++i) {
    auto& reading = readers.emplace_back(loop, server->port());
    reading.say(get("/"));
  }
  ASSERT_TRUE(run_until(loop, [&] { return streams.size() == 20; }));
  const auto shared = make_piece("once for all");
  for (auto& each : streams) each.write(shared);
  EXPECT_EQ(shared.use_count(), 21);
  for (auto& reading : readers) EXPECT_TRUE(reading.hears("once for all"));
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(HttpStreamTest, EndsWithTheConnectionForAnOldClient) {
  auto reading = client();
  reading.say("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return stream.has_value(); }));
  stream->write(make_piece("plain"));
  stream->finish();
  ASSERT_TRUE(reading.sees_the_end());
  EXPECT_TRUE(reading.heard().ends_with("Connection: close\r\nCache-Control: no-store\r\n\r\nplain"))
      << reading.heard();
}

TEST_F(HttpStreamTest, IsOverForWhoAskedForTheHeadOnly) {
  auto reading = client();
  reading.say("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return !listener.gone.empty(); }));
  EXPECT_FALSE(stream->open());
  stream->write(make_piece("nobody hears this"));
  respond = [](ServerRequest&, HttpReply& reply) { reply.send({.body = "next"}); };
  reading.say(get("/more"));
  ASSERT_TRUE(reading.hears("next"));
  EXPECT_FALSE(reading.heard().contains("nobody")) << reading.heard();
}

TEST_F(HttpStreamTest, TellsWhenTheClientHasGone) {
  auto reading = reader();
  reading.hang_up();
  ASSERT_TRUE(run_until(loop, [&] { return !listener.gone.empty(); }));
  EXPECT_EQ(listener.gone, "the client closed the connection");
  EXPECT_FALSE(stream->open());
  stream->write(make_piece("to nobody"));
  EXPECT_EQ(stream->waiting_bytes(), 0u);
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(HttpStreamTest, TellsWhenAClientHadEndedItsHalfBefore) {
  answer_later();
  auto reading = client();
  reading.say(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
  reading.end_saying();
  const auto tick = loop.after(Millis{5}, [&] { stream = later.front().stream({}, listener); });
  ASSERT_TRUE(run_until(loop, [&] { return !listener.gone.empty(); }));
}

TEST_F(HttpStreamTest, SaysWhatWaitsAndWhenItHasDrained) {
  auto reading = reader();
  reading.stop_reading();
  const auto large = make_piece(std::string(1'000'000, 'x'));
  for (int i = 0; i < 12; ++i) stream->write(large);
  const auto drained = listener.drained;
  const auto all = stream->waiting_bytes();
  ASSERT_TRUE(run_until(loop, [&] { return stream->waiting_bytes() < all; }));
  EXPECT_GT(stream->waiting_bytes(), 0u);
  EXPECT_EQ(listener.drained, drained);
  reading.read_on();
  ASSERT_TRUE(run_until(loop, [&] { return listener.drained > drained; }));
  EXPECT_EQ(stream->waiting_bytes(), 0u);
}

TEST_F(HttpStreamTest, LosesNothingWhenAReaderIsSlow) {
  auto reading = reader();
  reading.heard().clear();
  std::string expected;
  std::unique_ptr<Timer> pause;
  listener.when_drained = [&] {
    if (expected.size() > 8'000'000) return stream->finish();
    reading.stop_reading();
    for (int i = 0; i < 300; ++i) {
      const auto text = format("event {} {}\n", expected.size(), std::string(static_cast<std::size_t>(i * 17), '.'));
      expected += format("{:x}\r\n{}\r\n", text.size(), text);
      stream->write(make_piece(text));
    }
    pause = loop.after(Millis{1}, [&] { reading.read_on(); });
  };
  stream->write(make_piece("begin"));
  ASSERT_TRUE(reading.hears("\r\n0\r\n\r\n"));
  EXPECT_TRUE(reading.heard() == "5\r\nbegin\r\n" + expected + "0\r\n\r\n");
}

TEST_F(HttpStreamTest, CutsAReaderForWhomTooMuchWaits) {
  limits.waiting_bytes = 1'000'000;
  auto reading = reader();
  reading.stop_reading();
  const auto large = make_piece(std::string(200'000, 'x'));
  std::unique_ptr<Timer> again;
  std::function<void()> pour = [&] {
    stream->write(large);
    EXPECT_LE(stream->waiting_bytes(), 1'300'000u);
    again = loop.after(Millis{0}, [&] { pour(); });
  };
  pour();
  ASSERT_TRUE(run_until(loop, [&] { return !listener.gone.empty(); }));
  EXPECT_TRUE(listener.gone.contains("too slowly")) << listener.gone;
  EXPECT_EQ(large.use_count(), 1);
}

TEST_F(HttpStreamTest, CutsAReaderThatStopsReading) {
  limits.write = Millis{30};
  auto reading = reader();
  reading.stop_reading();
  stream->write(make_piece(std::string(14'000'000, 'x')));
  ASSERT_TRUE(run_until(loop, [&] { return !listener.gone.empty(); }));
  EXPECT_EQ(listener.gone, "the client does not read");
}

TEST_F(HttpStreamTest, IsCutWhenItsHandleDies) {
  auto reading = reader();
  stream->write(make_piece("the beginning"));
  ASSERT_TRUE(reading.hears("the beginning"));
  stream.reset();
  ASSERT_TRUE(reading.sees_the_end());
  EXPECT_FALSE(reading.heard().contains("0\r\n\r\n")) << "so the client knows that something is missing";
  EXPECT_EQ(listener.gone, "");
}

TEST_F(HttpStreamTest, MayBeDestroyedInsideItsOwnCallbacks) {
  {
    auto reading = reader();
    listener.when_drained = [&] { stream.reset(); };
    stream->write(make_piece("last"));
    ASSERT_TRUE(reading.sees_the_end());
  }
  listener.when_drained = nullptr;
  {
    auto reading = reader();
    listener.when_gone = [&] { stream.reset(); };
    reading.hang_up();
    ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
  }
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpStreamTest, AQuietStreamCostsNoTimer) {
  limits.header = limits.idle = limits.write = Millis{1};
  auto reading = reader();
  const auto quiet = loop.after(Millis{10}, [] {});
  bool waited = false;
  const auto end = loop.after(Millis{10}, [&] { waited = true; });
  ASSERT_TRUE(run_until(loop, [&] { return waited; }));
  EXPECT_TRUE(stream->open()) << "no time ends a stream that has nothing to say";
}

// ---- closing

TEST_F(HttpServerTest, ClosesIdleConnectionsAtOnce) {
  auto asking = client();
  asking.say(get("/"));
  ASSERT_TRUE(asking.hears("GET /"));
  ASSERT_TRUE(listener_owner(server->port()).has_value());
  bool closed = false;
  server->close([&] { closed = true; });
  EXPECT_FALSE(listener_owner(server->port()).has_value()) << "nobody listens there any more";
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_TRUE(asking.sees_the_end());
}

TEST_F(HttpServerTest, FinishesTheAnswerUnderWayBeforeItCloses) {
  limits.linger = Millis{5'000};
  answer_later();
  auto asking = client();
  asking.say(get("/1") + get("/2"));
  ASSERT_TRUE(run_until(loop, [&] { return later.size() == 1; }));
  bool closed = false;
  server->close([&] {
    closed = true;
    server.reset();
  });
  const auto tick = loop.after(Millis{2}, [&] { later.front().send({.body = "last words"}); });
  ASSERT_TRUE(asking.sees_the_end());
  EXPECT_TRUE(asking.heard().ends_with("last words")) << asking.heard();
  EXPECT_TRUE(asking.heard().contains("Connection: close")) << asking.heard();
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_EQ(requests.size(), 1u);
}

TEST_F(HttpStreamTest, IsToldThatTheServerCloses) {
  limits.linger = Millis{5};
  auto reading = reader();
  bool closed = false;
  server->close([&] { closed = true; });
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_EQ(listener.gone, "the server is closing");
  EXPECT_TRUE(reading.sees_the_end());
}

TEST_F(HttpServerTest, GivesItsPortBack) {
  start();
  const auto port = server->port();
  auto asking = client();
  asking.say(get("/"));
  ASSERT_TRUE(asking.hears("GET /"));
  server.reset();
  const auto again = net::HttpServer::listen(loop, {.port = port}, limits, [](auto, auto) {});
  EXPECT_TRUE(again.has_value()) << again.error().message();
}

TEST_F(HttpServerTest, ServesOneEndOfAPair) {
  start();
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  RawClient asking{loop, UniqueFd{ends[0]}};
  server->adopt(UniqueFd{ends[1]});
  asking.say(get("/pair"));
  EXPECT_TRUE(asking.hears("GET /pair"));
  EXPECT_EQ(requests.front().peer.uid, std::nullopt);
}

}  // namespace
}  // namespace relay::net
