#include "daemon/home_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;

struct HomeWatchTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  net::AsioLoop loop;
  std::string home = directory.file("home");
  int lost = 0;

  HomeWatchTest() {
    fs::create_directory(home);
    std::ofstream{home + "/daemon.sock"} << "";
    std::ofstream{home + "/daemon.lock"} << "";
  }
  HomeWatch watch() {
    return {loop, {home + "/daemon.sock", home + "/daemon.lock"}, [this] { ++lost; }};
  }
};

TEST_F(HomeWatchTest, ReportsARemovedHomeOnce) {
  const auto watching = watch();
  std::ofstream{home + "/other"} << "something else";
  fs::remove(home + "/other");
  fs::remove_all(home);
  ASSERT_TRUE(net::testing::run_until(loop, [&] { return lost > 0; }));
  bool later = false;
  loop.post([&] { later = true; });
  ASSERT_TRUE(net::testing::run_until(loop, [&] { return later; }));
  EXPECT_EQ(lost, 1);
}

TEST_F(HomeWatchTest, ReportsAMovedHome) {
  const auto watching = watch();
  fs::rename(home, directory.file("elsewhere"));
  EXPECT_TRUE(net::testing::run_until(loop, [&] { return lost == 1; }));
}

TEST_F(HomeWatchTest, ReportsARemovedSocket) {
  const auto watching = watch();
  fs::remove(home + "/daemon.sock");
  EXPECT_TRUE(net::testing::run_until(loop, [&] { return lost == 1; }));
}

}  // namespace
}  // namespace relay::daemon
