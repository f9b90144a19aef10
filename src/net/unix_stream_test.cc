#include "net/unix_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "net/asio_loop.h"
#include "net/testing/loop_driver.h"

namespace relay::net {
namespace {

using testing::Recorder;
using testing::run_until;

constexpr Millis kShortDrain{50};

/// A stream and the plain socket of its peer.
struct StreamTest : ::testing::Test {
  AsioLoop loop;
  UniqueFd peer;
  std::unique_ptr<Recorder> stream;

  /// A drain time that a busy machine does not reach; the tests of the limit set their own.
  void SetUp() override { connect(Millis{60'000}); }
  void connect(Millis drain_time) {
    const auto hub = make_stream_hub(loop, drain_time);
    int pair[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    peer.reset(pair[1]);
    stream = std::make_unique<Recorder>(make_unix_stream(hub, UniqueFd{pair[0]}, Peer{}));
  }

  void send(std::string_view bytes) {
    ASSERT_EQ(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  /// Reads all that the peer can read now; sets `ended` at the end of the stream.
  std::string receive(bool* ended = nullptr) {
    std::string all;
    char buffer[65536];
    for (;;) {
      const ssize_t count = ::recv(peer.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (count == 0 && ended != nullptr) *ended = true;
      if (count <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(count));
    }
  }
};

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

TEST_F(StreamTest, ReadsTheSameBytesForAnySplit) {
  const std::string text = pattern(20'000);
  std::size_t at = 0;
  std::size_t step = 1;
  EXPECT_TRUE(run_until(loop, [&] {
    if (at < text.size()) {
      send(std::string_view{text}.substr(at, step));
      at += step;
      step = step * 2 + 1;
    }
    return stream->received.size() == text.size();
  }));
  EXPECT_EQ(stream->received, text);
}

TEST_F(StreamTest, SendsWritesOfOneTurnTogether) {
  for (int i = 0; i < 100; ++i) stream->stream->write("0123456789");
  EXPECT_EQ(stream->stream->bytes_waiting(), 1000U);
  std::string output;
  EXPECT_TRUE(run_until(loop, [&] { return (output += receive()).size() == 1000; }));
  EXPECT_EQ(stream->progress, 1);
  EXPECT_EQ(stream->stream->bytes_waiting(), 0U);
}

TEST_F(StreamTest, LosesNothingForASlowReader) {
  const std::string text = pattern(3 << 20);
  stream->stream->write(text);
  ASSERT_TRUE(run_until(loop, [&] { return stream->progress > 0; }));
  EXPECT_GT(stream->stream->bytes_waiting(), 0U);
  const auto stuck_at = stream->stream->bytes_waiting();
  stream->stream->write("the end");
  EXPECT_EQ(stream->stream->bytes_waiting(), stuck_at + 7);

  std::string output;
  EXPECT_TRUE(run_until(loop, [&] { return (output += receive()).size() == text.size() + 7; }));
  EXPECT_TRUE(output == text + "the end");
  EXPECT_TRUE(run_until(loop, [&] { return stream->left == 0; }));
}

TEST_F(StreamTest, DeliversPausedInputAfterResume) {
  stream->when_read = [&] { stream->stream->pause_reading(); };
  const std::string text = pattern(100'000);
  send(text);
  ASSERT_TRUE(run_until(loop, [&] { return stream->reads == 1; }));
  bool later = false;
  const auto timer = loop.after(Millis{5}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(stream->reads, 1);

  stream->when_read = nullptr;
  stream->stream->resume_reading();
  EXPECT_TRUE(run_until(loop, [&] { return stream->received.size() == text.size(); }));
  EXPECT_EQ(stream->received, text);
}

TEST_F(StreamTest, KeepsAReadThatCompletesWhilePaused) {
  stream->stream->pause_reading();  // the first read is under way already
  send("kept");
  bool later = false;
  const auto timer = loop.after(Millis{5}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(stream->received, "");
  stream->stream->resume_reading();
  send(" and more");
  EXPECT_TRUE(run_until(loop, [&] { return stream->received == "kept and more"; }));
}

TEST_F(StreamTest, ReadsBytesSentBeforeTheEnd) {
  send("last words");
  stream->stream->write("never read");
  peer.reset();
  EXPECT_TRUE(run_until(loop, [&] { return !stream->closed.empty(); }));
  EXPECT_EQ(stream->received, "last words");
}

TEST_F(StreamTest, DrainsBeforeItCloses) {
  const std::string text = pattern(1 << 20);
  stream->stream->write(text);
  stream->stream->close(Drain::Yes);
  stream->stream.reset();  // draining continues without the handle
  std::string output;
  bool ended = false;
  EXPECT_TRUE(run_until(loop, [&] {
    output += receive(&ended);
    return ended;
  }));
  EXPECT_TRUE(output == text);
  EXPECT_EQ(stream->closed, "");
}

TEST_F(StreamTest, SendsTheLastBytesToAWritingPeer) {
  stream->stream->write("goodbye");
  stream->stream->close(Drain::Yes);
  std::string output;
  bool ended = false;
  EXPECT_TRUE(run_until(loop, [&] {
    send("still writing");  // a reset would fail this write
    output += receive(&ended);
    return ended;
  }));
  EXPECT_EQ(output, "goodbye");
}

TEST_F(StreamTest, BoundsDrainingOfAPeerThatNeverReads) {
  connect(kShortDrain);
  stream->stream->write(pattern(4 << 20));
  stream->stream->close(Drain::Yes);
  const auto begin = loop.now().steady;
  loop.finish();
  loop.run();
  const auto took = loop.now().steady - begin;
  EXPECT_GE(took, kShortDrain);
  EXPECT_LT(took, Millis{5'000});
}

TEST_F(StreamTest, ClosesAtOnceWithoutDrain) {
  stream->stream->write("dropped");
  stream->stream->close(Drain::No);
  bool ended = false;
  std::string output;
  EXPECT_TRUE(run_until(loop, [&] {
    output += receive(&ended);
    return ended;
  }));
  EXPECT_EQ(output, "");
}

TEST(StreamHub, IsDestroyedWithItsLoopDespiteAPendingWrite) {
  std::weak_ptr<StreamHub> hub;
  {
    AsioLoop loop;
    const auto made = make_stream_hub(loop, kShortDrain);
    hub = made;
    int pair[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    const UniqueFd peer{pair[1]};
    const Recorder stream{make_unix_stream(made, UniqueFd{pair[0]}, Peer{})};
    stream.stream->write("the loop has stopped");
  }
  EXPECT_TRUE(hub.expired());
}

TEST_F(StreamTest, CanBeDestroyedInItsCallbacks) {
  stream->when_read = [&] { stream->stream.reset(); };
  send(pattern(10'000));
  bool ended = false;
  EXPECT_TRUE(run_until(loop, [&] {
    receive(&ended);
    return ended || stream->reads > 0;
  }));
  EXPECT_EQ(stream->reads, 1);
  EXPECT_EQ(stream->closed, "");
}

TEST_F(StreamTest, CanBeDestroyedInOnClosed) {
  stream->when_closed = [&] { stream->stream.reset(); };
  peer.reset();
  EXPECT_TRUE(run_until(loop, [&] { return !stream->closed.empty(); }));
  EXPECT_EQ(stream->closed, "the peer closed the connection");
}

}  // namespace
}  // namespace relay::net
