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

/// A stream of ours and the bare socket of its peer.
struct StreamTest : ::testing::Test {
  AsioLoop loop;
  UniqueFd peer;
  std::unique_ptr<Recorder> ours;

  /// No time limit that a busy machine could reach, unless the test is about it.
  void SetUp() override { connect(Millis{60'000}); }
  void connect(Millis drain_time) {
    const auto hub = make_stream_hub(loop, drain_time);
    int pair[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    peer.reset(pair[1]);
    ours = std::make_unique<Recorder>(make_unix_stream(hub, UniqueFd{pair[0]}, Peer{}));
  }

  void say(std::string_view bytes) {
    ASSERT_EQ(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  /// Whatever the peer can read now; `ended` tells whether the end was seen.
  std::string hear(bool* ended = nullptr) {
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

TEST_F(StreamTest, ReadsTheSameBytesHoweverTheyAreCut) {
  const std::string text = pattern(20'000);
  std::size_t at = 0;
  std::size_t step = 1;
  EXPECT_TRUE(run_until(loop, [&] {
    if (at < text.size()) {
      say(std::string_view{text}.substr(at, step));
      at += step;
      step = step * 2 + 1;
    }
    return ours->received.size() == text.size();
  }));
  EXPECT_EQ(ours->received, text);
}

TEST_F(StreamTest, SendsTheWritesOfOneTurnTogether) {
  for (int i = 0; i < 100; ++i) ours->stream->write("0123456789");
  EXPECT_EQ(ours->stream->bytes_waiting(), 1000U);
  std::string heard;
  EXPECT_TRUE(run_until(loop, [&] { return (heard += hear()).size() == 1000; }));
  EXPECT_EQ(ours->progress, 1);
  EXPECT_EQ(ours->stream->bytes_waiting(), 0U);
}

TEST_F(StreamTest, WaitsForASlowReaderAndLosesNothing) {
  const std::string text = pattern(3 << 20);
  ours->stream->write(text);
  ASSERT_TRUE(run_until(loop, [&] { return ours->progress > 0; }));
  EXPECT_GT(ours->stream->bytes_waiting(), 0U);
  const auto stuck_at = ours->stream->bytes_waiting();
  ours->stream->write("the end");
  EXPECT_EQ(ours->stream->bytes_waiting(), stuck_at + 7);

  std::string heard;
  EXPECT_TRUE(run_until(loop, [&] { return (heard += hear()).size() == text.size() + 7; }));
  EXPECT_TRUE(heard == text + "the end");
  EXPECT_TRUE(run_until(loop, [&] { return ours->left == 0; }));
}

TEST_F(StreamTest, DeliversNothingWhilePausedAndEverythingAfterwards) {
  ours->when_read = [&] { ours->stream->pause_reading(); };
  const std::string text = pattern(100'000);
  say(text);
  ASSERT_TRUE(run_until(loop, [&] { return ours->reads == 1; }));
  bool later = false;
  const auto timer = loop.after(Millis{5}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(ours->reads, 1);

  ours->when_read = nullptr;
  ours->stream->resume_reading();
  EXPECT_TRUE(run_until(loop, [&] { return ours->received.size() == text.size(); }));
  EXPECT_EQ(ours->received, text);
}

TEST_F(StreamTest, KeepsWhatARunningReadBroughtWhenPausedMeanwhile) {
  ours->stream->pause_reading();  // the first read is under way already
  say("kept");
  bool later = false;
  const auto timer = loop.after(Millis{5}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(ours->received, "");
  ours->stream->resume_reading();
  say(" and more");
  EXPECT_TRUE(run_until(loop, [&] { return ours->received == "kept and more"; }));
}

TEST_F(StreamTest, ReadsWhatAPeerSaidBeforeItLeft) {
  say("last words");
  ours->stream->write("never read");
  peer.reset();
  EXPECT_TRUE(run_until(loop, [&] { return !ours->closed.empty(); }));
  EXPECT_EQ(ours->received, "last words");
}

TEST_F(StreamTest, DrainsBeforeItCloses) {
  const std::string text = pattern(1 << 20);
  ours->stream->write(text);
  ours->stream->close(Drain::Yes);
  ours->stream.reset();  // draining goes on without the handle
  std::string heard;
  bool ended = false;
  EXPECT_TRUE(run_until(loop, [&] {
    heard += hear(&ended);
    return ended;
  }));
  EXPECT_TRUE(heard == text);
  EXPECT_EQ(ours->closed, "");
}

TEST_F(StreamTest, LetsATalkingPeerHearTheLastWordBeforeTheEnd) {
  ours->stream->write("goodbye");
  ours->stream->close(Drain::Yes);
  std::string heard;
  bool ended = false;
  EXPECT_TRUE(run_until(loop, [&] {
    say("still talking");  // a reset would fail this write
    heard += hear(&ended);
    return ended;
  }));
  EXPECT_EQ(heard, "goodbye");
}

TEST_F(StreamTest, GivesUpDrainingAPeerThatNeverReads) {
  connect(kShortDrain);
  ours->stream->write(pattern(4 << 20));
  ours->stream->close(Drain::Yes);
  const auto begin = loop.now().steady;
  loop.finish();
  loop.run();
  const auto took = loop.now().steady - begin;
  EXPECT_GE(took, kShortDrain);
  EXPECT_LT(took, Millis{5'000});
}

TEST_F(StreamTest, ClosesAtOnceWithoutDrain) {
  ours->stream->write("dropped");
  ours->stream->close(Drain::No);
  bool ended = false;
  std::string heard;
  EXPECT_TRUE(run_until(loop, [&] {
    heard += hear(&ended);
    return ended;
  }));
  EXPECT_EQ(heard, "");
}

TEST(StreamHub, GoesWithItsLoopThoughAWriteStillWaits) {
  std::weak_ptr<StreamHub> hub;
  {
    AsioLoop loop;
    const auto made = make_stream_hub(loop, kShortDrain);
    hub = made;
    int pair[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    const UniqueFd peer{pair[1]};
    const Recorder ours{make_unix_stream(made, UniqueFd{pair[0]}, Peer{})};
    ours.stream->write("nobody runs the loop any more");
  }
  EXPECT_TRUE(hub.expired());
}

TEST_F(StreamTest, MayBeDestroyedInsideItsOwnCallbacks) {
  ours->when_read = [&] { ours->stream.reset(); };
  say(pattern(10'000));
  bool ended = false;
  EXPECT_TRUE(run_until(loop, [&] {
    hear(&ended);
    return ended || ours->reads > 0;
  }));
  EXPECT_EQ(ours->reads, 1);
  EXPECT_EQ(ours->closed, "");
}

TEST_F(StreamTest, MayBeDestroyedWhenItsEndIsReported) {
  ours->when_closed = [&] { ours->stream.reset(); };
  peer.reset();
  EXPECT_TRUE(run_until(loop, [&] { return !ours->closed.empty(); }));
  EXPECT_EQ(ours->closed, "the peer closed the connection");
}

}  // namespace
}  // namespace relay::net
