// Streams; the server itself is in http_server_test.cc.
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
    auto reading = connect();
    reading.send(get("/events", more));
    EXPECT_TRUE(reading.wait_for("\r\n\r\n"));
    EXPECT_TRUE(stream && stream->open());
    return reading;
  }
};

TEST_F(HttpStreamTest, SendsChunksUntilFinished) {
  auto reading = reader();
  EXPECT_EQ(reading.output(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            "Cache-Control: no-store\r\n\r\n");
  reading.output().clear();
  stream->write(make_shared_buffer("data: one\n\n"));
  EXPECT_EQ(stream->waiting_bytes(), 3u + 11u + 2u);
  ASSERT_TRUE(reading.wait_for("one\n\n\r\n"));
  EXPECT_EQ(stream->waiting_bytes(), 0u);
  stream->write(make_shared_buffer("data: two\n\n"));
  stream->write(make_shared_buffer(""));
  stream->write(nullptr);
  stream->write(make_shared_buffer("data: three\n\n"));
  stream->finish();
  EXPECT_FALSE(stream->open());
  ASSERT_TRUE(reading.wait_for("0\r\n\r\n"));
  EXPECT_EQ(reading.output(), "b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\nd\r\ndata: three\n\n\r\n0\r\n\r\n");
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = "next"}); };
  reading.send(get("/more"));
  EXPECT_TRUE(reading.wait_for("next")) << "the connection stays open";
  EXPECT_EQ(listener.closed, "");
}

TEST_F(HttpStreamTest, SharesBuffersAmongReaders) {
  std::list<BodyRecorder> listeners;
  std::list<BodyStream> streams;
  respond = [&](ServerRequest&, ResponseWriter& reply) {
    streams.push_back(*reply.stream({}, listeners.emplace_back()));
  };
  std::list<RawClient> readers;
  start();
  for (int i = 0; i < 20; ++i) {
    auto& reading = readers.emplace_back(loop, server->port());
    reading.send(get("/"));
  }
  ASSERT_TRUE(run_until(loop, [&] { return streams.size() == 20; }));
  const auto shared = make_shared_buffer("once for all");
  for (auto& each : streams) each.write(shared);
  EXPECT_EQ(shared.use_count(), 21);
  for (auto& reading : readers) EXPECT_TRUE(reading.wait_for("once for all"));
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(HttpStreamTest, EndsWithTheConnectionForHttp10) {
  auto reading = connect();
  reading.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return stream.has_value(); }));
  stream->write(make_shared_buffer("plain"));
  stream->finish();
  ASSERT_TRUE(reading.wait_closed());
  EXPECT_TRUE(reading.output().ends_with("Connection: close\r\nCache-Control: no-store\r\n\r\nplain"))
      << reading.output();
}

TEST_F(HttpStreamTest, EndsAtOnceForHead) {
  auto reading = connect();
  reading.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(run_until(loop, [&] { return !listener.closed.empty(); }));
  EXPECT_FALSE(stream->open());
  stream->write(make_shared_buffer("dropped"));
  respond = [](ServerRequest&, ResponseWriter& reply) { reply.send({.body = "next"}); };
  reading.send(get("/more"));
  ASSERT_TRUE(reading.wait_for("next"));
  EXPECT_FALSE(reading.output().contains("dropped")) << reading.output();
}

TEST_F(HttpStreamTest, ReportsThatTheClientDisconnected) {
  auto reading = reader();
  reading.disconnect();
  ASSERT_TRUE(run_until(loop, [&] { return !listener.closed.empty(); }));
  EXPECT_EQ(listener.closed, "the client closed the connection");
  EXPECT_FALSE(stream->open());
  stream->write(make_shared_buffer("dropped"));
  EXPECT_EQ(stream->waiting_bytes(), 0u);
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(HttpStreamTest, ReportsAClientThatHalfClosedEarlier) {
  defer_responses();
  auto reading = connect();
  reading.send(get("/"));
  ASSERT_TRUE(run_until(loop, [&] { return deferred.size() == 1; }));
  reading.shutdown_write();
  const auto tick = loop.after(Millis{5}, [&] { stream = deferred.front().stream({}, listener); });
  ASSERT_TRUE(run_until(loop, [&] { return !listener.closed.empty(); }));
}

TEST_F(HttpStreamTest, ReportsPendingBytesAndDrain) {
  auto reading = reader();
  reading.pause_reading();
  const auto large = make_shared_buffer(std::string(1'000'000, 'x'));
  for (int i = 0; i < 12; ++i) stream->write(large);
  const auto drained = listener.drained;
  const auto all = stream->waiting_bytes();
  ASSERT_TRUE(run_until(loop, [&] { return stream->waiting_bytes() < all; }));
  EXPECT_GT(stream->waiting_bytes(), 0u);
  EXPECT_EQ(listener.drained, drained);
  reading.resume_reading();
  ASSERT_TRUE(run_until(loop, [&] { return listener.drained > drained; }));
  EXPECT_EQ(stream->waiting_bytes(), 0u);
}

TEST_F(HttpStreamTest, LosesNothingForASlowReader) {
  auto reading = reader();
  reading.output().clear();
  std::string expected;
  std::unique_ptr<Timer> pause;
  listener.when_drained = [&] {
    if (expected.size() > 8'000'000) return stream->finish();
    reading.pause_reading();
    for (int i = 0; i < 300; ++i) {
      const auto text = format("event {} {}\n", expected.size(), std::string(static_cast<std::size_t>(i * 17), '.'));
      expected += format("{:x}\r\n{}\r\n", text.size(), text);
      stream->write(make_shared_buffer(text));
    }
    pause = loop.after(Millis{1}, [&] { reading.resume_reading(); });
  };
  stream->write(make_shared_buffer("begin"));
  ASSERT_TRUE(reading.wait_for("\r\n0\r\n\r\n"));
  EXPECT_TRUE(reading.output() == "5\r\nbegin\r\n" + expected + "0\r\n\r\n");
}

TEST_F(HttpStreamTest, CutsAReaderAboveTheByteLimit) {
  limits.waiting_bytes = 1'000'000;
  auto reading = reader();
  reading.pause_reading();
  const auto large = make_shared_buffer(std::string(200'000, 'x'));
  std::unique_ptr<Timer> again;
  std::function<void()> pour = [&] {
    stream->write(large);
    EXPECT_LE(stream->waiting_bytes(), 1'300'000u);
    again = loop.after(Millis{0}, [&] { pour(); });
  };
  pour();
  ASSERT_TRUE(run_until(loop, [&] { return !listener.closed.empty(); }));
  EXPECT_TRUE(listener.closed.contains("too slowly")) << listener.closed;
  EXPECT_EQ(large.use_count(), 1);
}

TEST_F(HttpStreamTest, CutsAReaderThatStopsReading) {
  limits.write = Millis{30};
  auto reading = reader();
  reading.pause_reading();
  stream->write(make_shared_buffer(std::string(14'000'000, 'x')));
  ASSERT_TRUE(run_until(loop, [&] { return !listener.closed.empty(); }));
  EXPECT_EQ(listener.closed, "the client does not read");
}

TEST_F(HttpStreamTest, CutsTheConnectionWhenDestroyed) {
  auto reading = reader();
  stream->write(make_shared_buffer("the beginning"));
  ASSERT_TRUE(reading.wait_for("the beginning"));
  stream.reset();
  ASSERT_TRUE(reading.wait_closed());
  EXPECT_FALSE(reading.output().contains("0\r\n\r\n")) << "so the client detects the incomplete body";
  EXPECT_EQ(listener.closed, "");
}

TEST_F(HttpStreamTest, CanBeDestroyedInItsCallbacks) {
  {
    auto reading = reader();
    listener.when_drained = [&] { stream.reset(); };
    stream->write(make_shared_buffer("last"));
    ASSERT_TRUE(reading.wait_closed());
  }
  listener.when_drained = nullptr;
  {
    auto reading = reader();
    listener.when_closed = [&] { stream.reset(); };
    reading.disconnect();
    ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
  }
  EXPECT_TRUE(wait_no_connections());
}

TEST_F(HttpStreamTest, IdleStreamUsesNoTimer) {
  limits.header = limits.idle = limits.write = Millis{1};
  auto reading = reader();
  const auto timer = loop.after(Millis{10}, [] {});
  bool timer_fired = false;
  const auto end = loop.after(Millis{10}, [&] { timer_fired = true; });
  ASSERT_TRUE(run_until(loop, [&] { return timer_fired; }));
  EXPECT_TRUE(stream->open()) << "no timeout ends an idle stream";
}

TEST_F(HttpStreamTest, ReportsThatTheServerCloses) {
  limits.linger = Millis{5};
  auto reading = reader();
  bool closed = false;
  server->close([&] { closed = true; });
  ASSERT_TRUE(run_until(loop, [&] { return closed; }));
  EXPECT_EQ(listener.closed, "the server is closing");
  EXPECT_TRUE(reading.wait_closed());
}

}  // namespace
}  // namespace relay::net
