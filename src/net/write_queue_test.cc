#include "net/write_queue.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/format.h"
#include "base/unique_fd.h"

namespace relay::net {
namespace {

struct WriteQueueTest : ::testing::Test {
  WriteQueueTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    socket.reset(ends[0]);
    peer.reset(ends[1]);
  }

  std::string read() {
    std::string all;
    char some[70'000];
    for (ssize_t count; (count = ::recv(peer.get(), some, sizeof some, 0)) > 0;)
      all.append(some, static_cast<std::size_t>(count));
    return all;
  }

  UniqueFd socket, peer;
  WriteQueue queue;
};

TEST_F(WriteQueueTest, WritesFrameBufferAndSuffixInOrder) {
  queue.push("HEAD");
  queue.push("5\r\n", make_shared_buffer("hello"), "\r\n");
  queue.push("0\r\n", nullptr, "\r\n");
  EXPECT_EQ(queue.bytes(), 4u + 10u + 5u);
  EXPECT_EQ(queue.flush(socket.get()), WriteQueue::State::Drained);
  EXPECT_EQ(queue.bytes(), 0u);
  EXPECT_EQ(read(), "HEAD5\r\nhello\r\n0\r\n\r\n");
}

TEST_F(WriteQueueTest, SharesOneBuffer) {
  const auto buffer = make_shared_buffer("shared");
  std::vector<WriteQueue> queues(10);
  for (auto& each : queues) each.push({}, buffer);
  EXPECT_EQ(buffer.use_count(), 11);
  for (auto& each : queues) EXPECT_EQ(each.flush(socket.get()), WriteQueue::State::Drained);
  EXPECT_EQ(buffer.use_count(), 1);
}

TEST_F(WriteQueueTest, ContinuesAfterAFullSocket) {
  std::string expected, received;
  for (int i = 0; i < 2'000; ++i) {
    const auto buffer = make_shared_buffer(std::string(static_cast<std::size_t>(i), 'x') + format("{}", i));
    const auto frame = format("[{}]", i);
    queue.push(frame, buffer, "\r\n");
    expected += frame + *buffer + "\r\n";
  }
  EXPECT_EQ(queue.bytes(), expected.size());
  int turns = 0;
  for (; queue.flush(socket.get()) == WriteQueue::State::Waiting; ++turns) {
    received += read();
    ASSERT_EQ(queue.bytes() + received.size(), expected.size());
  }
  received += read();
  EXPECT_GT(turns, 1);
  EXPECT_TRUE(received == expected);
}

TEST_F(WriteQueueTest, ReportsAClosedPeer) {
  peer.reset();
  queue.push("hello");
  EXPECT_EQ(queue.flush(socket.get()), WriteQueue::State::Broken);
}

}  // namespace
}  // namespace relay::net
