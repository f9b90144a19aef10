#include "adapters/opencode_launch.h"

#include <gtest/gtest.h>

namespace relay::adapters {
namespace {

using Arguments = std::vector<std::string>;

struct OpenCodeLaunchTest : ::testing::Test {
  SeededRandom random{7};
  pty::Command command{.argv = {"/usr/bin/opencode"}, .environment = {"PATH=/bin"}, .directory = {}};

  Result<OpenCodeLaunch> open(const Arguments& arguments) {
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return configure_server(command, random);
  }
};

TEST_F(OpenCodeLaunchTest, AddsPortAndPasswordOutsideArguments) {
  const auto launch = open({"--model", "local/fast", "--agent=plan", "project"});
  ASSERT_TRUE(launch.has_value()) << launch.error().message();
  EXPECT_EQ(command.argv, (Arguments{"/usr/bin/opencode", "--port", std::to_string(launch->endpoint.port), "--hostname",
                                     "127.0.0.1", "--model", "local/fast", "--agent=plan", "project"}));
  EXPECT_EQ(launch->endpoint.user, "opencode");
  EXPECT_EQ(launch->endpoint.password.size(), 48U);
  EXPECT_EQ(pty::variable(command.environment, "OPENCODE_SERVER_PASSWORD"), launch->endpoint.password);
  EXPECT_EQ(launch->model, "local/fast");
  EXPECT_EQ(launch->agent, "plan");
  EXPECT_FALSE(launch->continues);
}

TEST_F(OpenCodeLaunchTest, KeepsUsersChoices) {
  pty::set_variable(command.environment, "OPENCODE_SERVER_PASSWORD", "mine");
  pty::set_variable(command.environment, "OPENCODE_SERVER_USERNAME", "me");
  const auto launch = open({"--port=4096", "-s", "ses_1"});
  ASSERT_TRUE(launch.has_value()) << launch.error().message();
  EXPECT_EQ(command.argv, (Arguments{"/usr/bin/opencode", "--port=4096", "-s", "ses_1"}));
  EXPECT_EQ(launch->endpoint.port, 4096);
  EXPECT_EQ(launch->endpoint.user, "me");
  EXPECT_EQ(launch->endpoint.password, "mine");
  EXPECT_EQ(launch->session, "ses_1");
}

TEST_F(OpenCodeLaunchTest, PortOfUserGetsNoPassword) {
  const auto launch = open({"--port", "4096", "--continue"});
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->endpoint.password, "");
  EXPECT_TRUE(launch->continues);
}

TEST_F(OpenCodeLaunchTest, RejectsOtherCommandsWithReason) {
  for (const auto& [arguments, message] :
       std::vector<std::pair<Arguments, std::string>>{{{"run", "hello"}, "`opencode run` has no server"},
                                                      {{"--model", "x/y", "serve"}, "`opencode serve` has no server"},
                                                      {{"--version"}, "only prints"},
                                                      {{"--mdns"}, "public"},
                                                      {{"--port", "0"}, "is not the port"},
                                                      {{"--port", "70000"}, "is not the port"},
                                                      {{"--hostname", "192.168.0.7"}, "192.168.0.7"}}) {
    command.argv = {"opencode"};
    const auto launch = open(arguments);
    ASSERT_FALSE(launch.has_value()) << message;
    EXPECT_TRUE(launch.error().message().contains(message)) << launch.error().message();
    EXPECT_EQ(command.argv.size(), arguments.size() + 1);
  }
  command.argv = {"npx", "opencode"};
  EXPECT_FALSE(open({}).has_value());
  command.argv = {};
  EXPECT_FALSE(configure_server(command, random).has_value());
}

}  // namespace
}  // namespace relay::adapters
