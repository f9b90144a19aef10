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
  const broker::NotifyUser request{
      .agent = "Bob", .request = "r1", .kind = "permission", .text = "make \"it\"; $HOME", .risk = "high"};

  /// Writes a shell script of that name; returns its path.
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

TEST_F(NotifierTest, RunsTheProgramWithoutAShellAndWithTheFactsInItsEnvironment) {
  use(config::Setting::NotifyCommand,
      program("notify",
              "printf '%s|' \"$@\" \"$AGENT_RELAY_NOTIFY_AGENT\" \"$AGENT_RELAY_NOTIFY_KIND\" "
              "\"$AGENT_RELAY_NOTIFY_REQUEST\" \"$AGENT_RELAY_NOTIFY_TEXT\" \"$AGENT_RELAY_NOTIFY_RISK\" "
              "\"$AGENT_RELAY_NOTIFY_PROJECT\" \"$PWD\" \"${AGENT_RELAY_API_TOKEN-no token}\" > facts.new; echo >> "
              "facts.new; mv facts.new facts\n") +
          " --to $HOME;ls");
  ::setenv("AGENT_RELAY_API_TOKEN", "secret", 1);
  notifier.notify(request, place.path());
  ::unsetenv("AGENT_RELAY_API_TOKEN");
  ASSERT_TRUE(writes("facts", 1));
  EXPECT_EQ(text("facts"), "--to|$HOME;ls|Bob|permission|r1|make \"it\"; $HOME|high|" + place.path() + "|" +
                               place.path() + "|no token|\n");
}

TEST_F(NotifierTest, DropsNotificationsBeyondTheLimit) {
  use(config::Setting::NotifyCommand, program("notify", "echo x >> facts\n"));
  for (int i = 0; i < 100; ++i) notifier.notify(request, place.path());
  ASSERT_TRUE(writes("facts", Notifier::kMaxRunning));
  EXPECT_EQ(text("facts").size(), 2 * Notifier::kMaxRunning);
}

TEST_F(NotifierTest, AMissingProgramIsIgnoredAndAHangingOneIsEnded) {
  use(config::Setting::NotifyCommand, "/nowhere/at/all");
  notifier.notify(request, place.path());
  {
    Notifier other{loop};
    config::Settings settings;
    ASSERT_TRUE(settings.apply_flag(config::Setting::NotifyCommand, program("hang", "echo x > started\nsleep 100\n")));
    other.use_settings(settings);
    other.notify(request, place.path());
    EXPECT_TRUE(writes("started", 1));
  }
}

TEST_F(NotifierTest, RunsNothingUnlessConfigured) { notifier.notify(request, place.path()); }

}  // namespace
}  // namespace relay::daemon
