#include "net/descriptor_watch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "base/unique_fd.h"
#include "net/testing/loop_driver.h"

namespace relay::net {
namespace {

using testing::run_until;

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    RELAY_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    here.reset(ends[0]);
    there.reset(ends[1]);
  }
  UniqueFd here;
  UniqueFd there;
};

TEST(DescriptorWatch, CallsBackOncePerRequest) {
  AsioLoop loop;
  Pair pair;
  int readable = 0;
  DescriptorWatch watch{loop, pair.here.get(), [&] { ++readable; }, [] {}};
  ASSERT_EQ(::write(pair.there.get(), "x", 1), 1);
  watch.want_readable();
  watch.want_readable();
  EXPECT_TRUE(run_until(loop, [&] { return readable == 1; }));
  bool later = false;
  const auto timer = loop.after(Millis{2}, [&] { later = true; });
  EXPECT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(readable, 1) << "the byte is pending, but there was no second request";
  watch.want_readable();
  EXPECT_TRUE(run_until(loop, [&] { return readable == 2; }));
}

TEST(DescriptorWatch, ReportsThatAFullDescriptorIsWritableAgain) {
  AsioLoop loop;
  Pair pair;
  int readable = 0, writable = 0;
  DescriptorWatch watch{loop, pair.here.get(), [&] { ++readable; }, [&] { ++writable; }};
  watch.want_readable();
  watch.want_writable();
  EXPECT_TRUE(run_until(loop, [&] { return writable == 1; }));
  const std::string block(64 * 1024, 'x');
  std::size_t written = 0;
  for (ssize_t count; (count = ::write(pair.here.get(), block.data(), block.size())) > 0;)
    written += static_cast<std::size_t>(count);
  watch.want_writable();
  std::string taken(written, ' ');
  loop.post([&] {
    EXPECT_EQ(writable, 1);
    EXPECT_EQ(::recv(pair.there.get(), taken.data(), taken.size(), MSG_WAITALL), static_cast<ssize_t>(written));
  });
  EXPECT_TRUE(run_until(loop, [&] { return writable == 2; }));
  EXPECT_EQ(readable, 0);
}

TEST(DescriptorWatch, CanBeDestroyedInItsCallback) {
  AsioLoop loop;
  Pair pair;
  std::unique_ptr<DescriptorWatch> watch;
  bool called = false;
  watch = std::make_unique<DescriptorWatch>(
      loop, pair.here.get(),
      [&] {
        watch.reset();
        called = true;
      },
      [] {});
  watch->want_readable();
  ASSERT_EQ(::write(pair.there.get(), "x", 1), 1);
  EXPECT_TRUE(run_until(loop, [&] { return called; }));
}

}  // namespace
}  // namespace relay::net
