#include "adapters/opencode_launch.h"

#include <gtest/gtest.h>

namespace relay::adapters {
namespace {

using Words = std::vector<std::string>;

struct OpenCodeLaunchTest : ::testing::Test {
  SeededRandom random{7};
  pty::Command command{.argv = {"/usr/bin/opencode"}, .environment = {"PATH=/bin"}, .directory = {}};

  Result<OpenCodeLaunch> open(const Words& arguments) {
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return open_server(command, random);
  }
};

TEST_F(OpenCodeLaunchTest, AddsAPortAndAPasswordThatIsNotInTheArguments) {
  const auto launch = open({"--model", "local/fast", "--agent=plan", "project"});
  ASSERT_TRUE(launch.has_value()) << launch.error().message();
  EXPECT_EQ(command.argv, (Words{"/usr/bin/opencode", "--port", std::to_string(launch->place.port), "--hostname",
                                 "127.0.0.1", "--model", "local/fast", "--agent=plan", "project"}));
  EXPECT_EQ(launch->place.user, "opencode");
  EXPECT_EQ(launch->place.password.size(), 48U);
  EXPECT_EQ(pty::variable(command.environment, "OPENCODE_SERVER_PASSWORD"), launch->place.password);
  EXPECT_EQ(launch->model, "local/fast");
  EXPECT_EQ(launch->agent, "plan");
  EXPECT_FALSE(launch->continues);
}

TEST_F(OpenCodeLaunchTest, KeepsWhatThePersonChose) {
  pty::set_variable(command.environment, "OPENCODE_SERVER_PASSWORD", "mine");
  pty::set_variable(command.environment, "OPENCODE_SERVER_USERNAME", "me");
  const auto launch = open({"--port=4096", "-s", "ses_1"});
  ASSERT_TRUE(launch.has_value()) << launch.error().message();
  EXPECT_EQ(command.argv, (Words{"/usr/bin/opencode", "--port=4096", "-s", "ses_1"}));
  EXPECT_EQ(launch->place.port, 4096);
  EXPECT_EQ(launch->place.user, "me");
  EXPECT_EQ(launch->place.password, "mine");
  EXPECT_EQ(launch->session, "ses_1");
}

TEST_F(OpenCodeLaunchTest, APortOfThePersonGetsNoPasswordOfOurs) {
  const auto launch = open({"--port", "4096", "--continue"});
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->place.password, "");
  EXPECT_TRUE(launch->continues);
}

TEST_F(OpenCodeLaunchTest, LeavesOtherCommandsAloneAndSaysWhy) {
  for (const auto& [arguments, sentence] :
       std::vector<std::pair<Words, std::string>>{{{"run", "hello"}, "`opencode run` has no server"},
                                                  {{"--model", "x/y", "serve"}, "`opencode serve` has no server"},
                                                  {{"--version"}, "only prints"},
                                                  {{"--mdns"}, "public"},
                                                  {{"--port", "0"}, "does not tell where"},
                                                  {{"--port", "70000"}, "does not tell where"},
                                                  {{"--hostname", "192.168.0.7"}, "192.168.0.7"}}) {
    command.argv = {"opencode"};
    const auto launch = open(arguments);
    ASSERT_FALSE(launch.has_value()) << sentence;
    EXPECT_TRUE(launch.error().message().contains(sentence)) << launch.error().message();
    EXPECT_EQ(command.argv.size(), arguments.size() + 1);
  }
  command.argv = {"npx", "opencode"};
  EXPECT_FALSE(open({}).has_value());
  command.argv = {};
  EXPECT_FALSE(open_server(command, random).has_value());
}

}  // namespace
}  // namespace relay::adapters
