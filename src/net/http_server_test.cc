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
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = std::string(1'000'000, 'x')}); };
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
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.status = 204, .body = "no"}); };
  EXPECT_EQ(ask(get("/", "Connection: close\r\n")), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST_F(HttpServerTest, SendsLargeBodiesWhole) {
  const std::string large(3'000'000, 'y');
  respond = [&](ServerRequest&, ResponseWriter& reply) { reply.send({.body = large}); };
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
  respond = [](ServerRequest&, ResponseWriter& reply) { const ResponseWriter dropped = std::move(reply); };
  const auto heard = ask(get("/", "Connection: close\r\n"));
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 500 ")) << heard;
  EXPECT_TRUE(heard.contains(R"("code":"INTERNAL")")) << heard;
}

TEST_F(HttpServerTest, AnAnswerThatCannotBeWrittenIs500) {
  for (const HttpHeader& header :
       {HttpHeader{"X", "a\r\nSet-Cookie: b"}, {"X Y", "a"}, {"content-length", "3"}, {"", ""}}) {
    respond = [&](ServerRequest&, ResponseWriter& reply) { reply.send({.headers = {header}}); };
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

TEST_F(HttpServerTest, StrangersHaveAShareAndTheRestIsTheOwners) {
  limits.connections = 4;
  limits.untrusted = 1;
  limits.owner = ::geteuid() + 1;  // so that we are one
  auto one = client();
  one.say(get("/1"));
  ASSERT_TRUE(one.hears("/1"));
  EXPECT_TRUE(ask(get("/2")).contains("TOO_MANY_CONNECTIONS"));
  ASSERT_TRUE(run_until(loop, [&] { return server->connections() == 1; }));
  one.hang_up();
  ASSERT_TRUE(nobody_is_left());
  auto two = client();
  two.say(get("/3"));
  EXPECT_TRUE(two.hears("/3")) << "a share that was given back is there again";
}

TEST_F(HttpServerTest, TheOwnerIsNoStranger) {
  limits.connections = 2;
  limits.untrusted = 0;
  limits.owner = ::geteuid();
  auto one = client(), two = client();
  one.say(get("/1"));
  two.say(get("/2"));
  EXPECT_TRUE(one.hears("/1") && two.hears("/2"));
}

TEST_F(HttpServerTest, ALastAnswerEndsItsConnection) {
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.status = 403, .last = true}); };
  const auto heard = ask(get("/") + get("/again"));
  EXPECT_TRUE(heard.contains("Connection: close\r\n")) << heard;
  EXPECT_EQ(requests.size(), 1u);
}

// ---- time

TEST_F(HttpServerTest, AStrangerHasLittleTimeToSayWhatItWants) {
  limits.owner = ::geteuid() + 1;
  limits.untrusted_header = Millis{20};
  auto silent = client(), slow = client();
  slow.say("GET / HTTP/1.1\r\nHost:");
  EXPECT_TRUE(silent.sees_the_end());
  EXPECT_TRUE(slow.hears("HTTP/1.1 408 "));
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, HalvesOfEmptyLinesBuyNoTime) {
  limits.header = Millis{100};
  auto talking = client();
  const auto began = loop.now().steady;
  std::unique_ptr<Timer> timer;
  std::function<void(bool)> say = [&](bool first) {
    talking.say(first ? "\r" : "\n");
    timer = loop.after(Millis{10}, [&, first] { say(!first); });
  };
  say(true);
  EXPECT_TRUE(talking.sees_the_end());
  EXPECT_LT(loop.now().steady - began, Millis{2'000});
}

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
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = std::string(32U * 1024U * 1024U, 'x')}); };
  auto asking = client();
  asking.stop_reading();
  asking.say(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return requests.size() == 1; }));
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(HttpServerTest, WaitsForAClientThatReadsSlowly) {
  limits.write = Millis{100};
  const std::size_t size = 16U * 1024U * 1024U;
  respond = [&](ServerRequest&, ResponseWriter& reply) { reply.send({.body = std::string(size, 'x')}); };
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
