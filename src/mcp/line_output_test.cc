#include "mcp/line_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "net/signals.h"
#include "net/testing/loop_driver.h"

namespace relay::mcp {
namespace {

struct LineOutputTest : ::testing::Test {
  LineOutputTest() {
    int ends[2];
    RELAY_ASSERT(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    reader = UniqueFd{ends[0]};
    writer = UniqueFd{ends[1]};
    ::fcntl(writer.get(), F_SETFL, 0);
    output = std::make_unique<LineOutput>(loop, writer.get(), [this] { ++written; }, [this] { broken = true; });
  }
  /// The bytes that can be read now.
  std::string read_some() {
    std::string all(1 << 20, '\0');
    const auto count = ::read(reader.get(), all.data(), all.size());
    all.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return all;
  }
  net::AsioLoop loop;
  UniqueFd reader, writer;
  int written = 0;
  bool broken = false;
  std::unique_ptr<LineOutput> output;
};

TEST_F(LineOutputTest, WritesAtOnceAndRestoresTheDescriptor) {
  output->write("one");
  output->write("two");
  EXPECT_EQ(read_some(), "one\ntwo\n");
  EXPECT_EQ(output->pending_bytes(), 0U);
  EXPECT_TRUE(::fcntl(writer.get(), F_GETFL) & O_NONBLOCK);
  output.reset();
  EXPECT_FALSE(::fcntl(writer.get(), F_GETFL) & O_NONBLOCK);
}

TEST_F(LineOutputTest, SlowReaderGetsLinesWholeAndInOrder) {
  std::string expected, read;
  for (int i = 0; i < 300; ++i) {
    const auto line = std::to_string(i) + std::string(1'000, 'x');
    expected += line + "\n";
    output->write(line);
  }
  EXPECT_GT(output->pending_bytes(), 0U);
  EXPECT_TRUE(net::testing::run_until(loop, [&] {
    read += read_some();
    return read.size() == expected.size();
  }));
  EXPECT_TRUE(read == expected);
  EXPECT_EQ(output->pending_bytes(), 0U);
  EXPECT_GT(written, 0);
}

TEST_F(LineOutputTest, CallbackRunsAfterTheLastByteOfItsLine) {
  net::ignore_sigpipe();
  std::string written_lines;
  output->write("one", [&] {
    written_lines += "1";
    output->write("separate", [&] { written_lines += "2"; });
  });
  EXPECT_EQ(written_lines, "12");
  output->write(std::string(1 << 20, 'x'), [&] { written_lines += "3"; });
  output->write("behind it", [&] { written_lines += "4"; });
  EXPECT_EQ(written_lines, "12");
  EXPECT_TRUE(net::testing::run_until(loop, [&] { return !read_some().empty() && written_lines.size() > 3; }));
  EXPECT_EQ(written_lines, "1234");
  reader.reset();
  output->write("no reader", [&] { written_lines += "5"; });
  EXPECT_EQ(written_lines, "1234");
}

TEST_F(LineOutputTest, BrokenReaderIsReportedOnce) {
  net::ignore_sigpipe();
  reader.reset();
  output->write("one");
  EXPECT_TRUE(broken);
  output->write("two");
  EXPECT_EQ(output->pending_bytes(), 0U);
}

}  // namespace
}  // namespace relay::mcp
