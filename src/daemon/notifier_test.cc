#include "daemon/notifier.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::daemon {
namespace {

struct NotifierTest : ::testing::Test {
  net::testing::TemporaryDirectory place;
  net::AsioLoop loop;
  Notifier notifier{loop};
  const broker::NotifyUser wanted{
      .agent = "Bob", .request = "r1", .kind = "permission", .text = "make \"it\"; $HOME", .risk = "high"};

  /// A program of that name that is run from the place's directory.
  std::string program(const std::string& name, const std::string& script) const {
    const auto path = place.file(name);
    std::ofstream{path} << "#!/bin/sh\n" << script;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  void use(config::Setting setting, const std::string& value) {
    config::Settings settings;
    ASSERT_TRUE(settings.apply_flag(setting, value));
    notifier.use_settings(settings);
  }
  std::string text(const std::string& name) const {
    std::ifstream file{place.file(name)};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  bool writes(const std::string& name, std::size_t lines) {
    return net::testing::run_until(loop, [&] {
      const auto all = text(name);
      return static_cast<std::size_t>(std::ranges::count(all, '\n')) >= lines;
    });
  }
};

TEST_F(NotifierTest, AProgramIsRunWithoutAShellAndHasTheFactsInItsEnvironment) {
  use(config::Setting::NotifyCommand,
      program("tell",
              "printf '%s|' \"$@\" \"$AGENT_RELAY_NOTIFY_AGENT\" \"$AGENT_RELAY_NOTIFY_KIND\" "
              "\"$AGENT_RELAY_NOTIFY_REQUEST\" \"$AGENT_RELAY_NOTIFY_TEXT\" \"$AGENT_RELAY_NOTIFY_RISK\" "
              "\"$AGENT_RELAY_NOTIFY_PROJECT\" \"$PWD\" \"${AGENT_RELAY_API_TOKEN-no token}\" > told.new; echo >> "
              "told.new; mv told.new told\n") +
          " --to $HOME;ls");
  ::setenv("AGENT_RELAY_API_TOKEN", "secret", 1);
  notifier.notify(wanted, place.path());
  ::unsetenv("AGENT_RELAY_API_TOKEN");
  ASSERT_TRUE(writes("told", 1));
  EXPECT_EQ(text("told"), "--to|$HOME;ls|Bob|permission|r1|make \"it\"; $HOME|high|" + place.path() + "|" +
                              place.path() + "|no token|\n");
}

TEST_F(NotifierTest, ManyAtOnceAreNotAllTold) {
  use(config::Setting::NotifyCommand, program("tell", "echo x >> told\n"));
  for (int i = 0; i < 100; ++i) notifier.notify(wanted, place.path());
  ASSERT_TRUE(writes("told", Notifier::kMaxRunning));
  EXPECT_EQ(text("told").size(), 2 * Notifier::kMaxRunning);
}

TEST_F(NotifierTest, OneThatIsNotThereHurtsNobodyAndOneThatHangsDiesWithTheDaemon) {
  use(config::Setting::NotifyCommand, "/nowhere/at/all");
  notifier.notify(wanted, place.path());
  {
    Notifier other{loop};
    config::Settings settings;
    ASSERT_TRUE(settings.apply_flag(config::Setting::NotifyCommand, program("hang", "echo x > begun\nsleep 100\n")));
    other.use_settings(settings);
    other.notify(wanted, place.path());
    EXPECT_TRUE(writes("begun", 1));
  }
}

TEST_F(NotifierTest, NothingIsSaidUnlessItIsWanted) { notifier.notify(wanted, place.path()); }

}  // namespace
}  // namespace relay::daemon
