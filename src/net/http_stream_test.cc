// Answers that come in pieces; the server itself is in http_server_test.cc.
#include <gtest/gtest.h>

#include "net/testing/http_server_fixture.h"

namespace relay::net {
namespace {

struct HttpStreamTest : HttpServerTest {
  BodyRecorder listener;
  std::optional<BodyStream> stream;

  HttpStreamTest() {
    respond = [this](ServerRequest&, ResponseWriter& reply) {
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
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = "next"}); };
  reading.say(get("/more"));
  EXPECT_TRUE(reading.hears("next")) << "the connection is kept";
  EXPECT_EQ(listener.gone, "");
}

TEST_F(HttpStreamTest, SharesItsPiecesAmongManyReaders) {
  std::list<BodyRecorder> listeners;
  std::list<BodyStream> streams;
  respond = [&](ServerRequest&, ResponseWriter& reply) {
    streams.push_back(*reply.stream({}, listeners.emplace_back()));
  };
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
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = "next"}); };
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

TEST_F(HttpStreamTest, IsToldThatTheServerCloses) {
  limits.linger = Millis{5};
  auto reading = reader();
  bool closed = false;
  server->close([&] { closed = true; });
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_EQ(listener.gone, "the server is closing");
  EXPECT_TRUE(reading.sees_the_end());
}

}  // namespace
}  // namespace relay::net
