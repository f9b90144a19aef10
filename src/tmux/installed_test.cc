#include "tmux/installed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pty/errors.h"
#include "tmux/testing/pane_recorder.h"

namespace relay::tmux {
namespace {

using testing::PaneRecorder;
using testing::shell;

/// Searches a PATH with one program named tmux that prints this version.
Result<std::string> find_tmux_of(const std::string& version) {
  const net::testing::TemporaryDirectory directory;
  const auto path = directory.file("tmux");
  std::ofstream{path} << "#!/bin/sh\necho '" << version << "'\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return find_tmux({"PATH=" + directory.path()}, SystemClock{}.now().steady + net::testing::kDeadline);
}

TEST(Installed, FindsARecentVersion) {
  EXPECT_TRUE(find_tmux_of("tmux 3.2"));
  EXPECT_TRUE(find_tmux_of("tmux next-3.7"));
  EXPECT_TRUE(find_tmux(pty::inherited_environment(), SystemClock{}.now().steady + net::testing::kDeadline))
      << "these tests need the package tmux";
}

TEST(Installed, ReportsWhyTmuxIsUnusable) {
  const auto none = find_tmux({"PATH=/nowhere"}, SystemClock{}.now().steady);
  ASSERT_FALSE(none);
  EXPECT_TRUE(is(none.error(), Errc::NotInstalled));
  EXPECT_TRUE(none.error().message().contains("install the package tmux")) << none.error().message();
  const auto old = find_tmux_of("tmux 3.1c");
  ASSERT_FALSE(old);
  EXPECT_TRUE(is(old.error(), Errc::TooOld));
  EXPECT_TRUE(old.error().message().contains("is tmux 3.1c, and 3.2 is needed")) << old.error().message();
  EXPECT_FALSE(find_tmux_of("hello"));
}

TEST(Installed, ReportsAMissingProgramAsWithoutTmux) {
  PaneRecorder recorder;
  const auto missing =
      recorder.try_spawn({.argv = {"no-such-program"}, .environment = pty::inherited_environment(), .directory = {}});
  ASSERT_FALSE(missing);
  EXPECT_TRUE(is(missing.error(), pty::Errc::CommandNotFound)) << missing.error().message();
  auto command = shell("true");
  command.directory = "/no/such/place";
  const auto nowhere = recorder.try_spawn(command);
  ASSERT_FALSE(nowhere);
  EXPECT_TRUE(is(nowhere.error(), pty::Errc::BadDirectory)) << nowhere.error().message();
  EXPECT_TRUE(recorder.until([&] { return !recorder.sessions().contains("relay-Alice"); })) << "nothing is left";
}

}  // namespace
}  // namespace relay::tmux
