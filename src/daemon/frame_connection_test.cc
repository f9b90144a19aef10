#include "daemon/frame_connection.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "daemon/testing/fake_stream.h"

namespace relay::daemon {
namespace {

using protocol::HeaderStyle;

struct RecordingOwner final : ConnectionOwner {
  void on_frame(ConnectionId, std::string_view body) override {
    frames.emplace_back(body);
    if (when_frame) when_frame();
  }
  void on_bad_stream(ConnectionId, std::string_view reason) override { bad = reason; }
  void on_written(ConnectionId, std::size_t) override {}
  void on_closed(ConnectionId, const std::string& reason) override { closed = reason; }

  std::vector<std::string> frames;
  std::string bad;
  std::string closed;
  std::function<void()> when_frame;
};

struct FrameConnectionTest : ::testing::Test {
  std::shared_ptr<testing::FakePeer> peer = std::make_shared<testing::FakePeer>();
  RecordingOwner owner;
  FrameConnection connection{ConnectionId{1}, std::make_unique<testing::FakeStream>(peer), owner};

  void SetUp() override { connection.start(); }
};

std::string framed(HeaderStyle style, std::initializer_list<std::string_view> bodies) {
  std::string wire;
  for (const auto body : bodies) protocol::append_frame(wire, style, body);
  return wire;
}

TEST_F(FrameConnectionTest, ReportsFramesForAnySplit) {
  const std::string wire = framed(HeaderStyle::Four, {R"({"a":1})", R"({"b":2})"});
  for (const char byte : wire) peer->send({&byte, 1});
  EXPECT_EQ(owner.frames, (std::vector<std::string>{R"({"a":1})", R"({"b":2})"}));
}

TEST_F(FrameConnectionTest, RespondsWithTheHeaderStyleOfThePeer) {
  peer->send(framed(HeaderStyle::Five, {R"({"a":1})"}));
  connection.send("{}");
  EXPECT_EQ(peer->received, framed(HeaderStyle::Five, {"{}"}));
}

TEST_F(FrameConnectionTest, StopsParsingInTheMiddleOfAReadWhenPaused) {
  owner.when_frame = [&] { connection.pause(); };
  peer->send(framed(HeaderStyle::Four, {R"({"n":1})", R"({"n":2})", R"({"n":3})"}));
  EXPECT_EQ(owner.frames.size(), 1U);
  EXPECT_TRUE(peer->paused);

  connection.resume();
  EXPECT_FALSE(peer->paused);
  connection.parse_buffered();
  EXPECT_EQ(owner.frames.size(), 2U);
  owner.when_frame = nullptr;
  connection.resume();
  connection.parse_buffered();
  EXPECT_EQ(owner.frames.back(), R"({"n":3})");
}

TEST_F(FrameConnectionTest, ContinuesInOneLoopWhenResumedInsideOnFrame) {
  owner.when_frame = [&] {
    connection.pause();
    connection.resume();
    connection.parse_buffered();
  };
  peer->send(framed(HeaderStyle::Four, {R"({"n":1})", R"({"n":2})"}));
  EXPECT_EQ(owner.frames, (std::vector<std::string>{R"({"n":1})", R"({"n":2})"}));
}

TEST_F(FrameConnectionTest, ReportsABrokenStreamOnceAndIgnoresTheRest) {
  peer->send(std::string{"\x7f\xff\xff\xff{}", 6});
  EXPECT_FALSE(owner.bad.empty());
  owner.bad.clear();
  peer->send(framed(HeaderStyle::Four, {"{}"}));
  EXPECT_TRUE(owner.bad.empty());
  EXPECT_TRUE(owner.frames.empty());
}

TEST_F(FrameConnectionTest, ReportsNothingAfterACloseInsideOnFrame) {
  owner.when_frame = [&] { connection.close(net::Drain::Yes); };
  peer->send(framed(HeaderStyle::Four, {R"({"n":1})", R"({"n":2})"}));
  EXPECT_EQ(owner.frames.size(), 1U);
  EXPECT_EQ(peer->closed, net::Drain::Yes);
  peer->disconnect();
  EXPECT_TRUE(owner.closed.empty());
}

}  // namespace
}  // namespace relay::daemon
