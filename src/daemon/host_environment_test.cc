#include "daemon/host_environment.h"

#include <gtest/gtest.h>

namespace relay::daemon {
namespace {

using Texts = std::vector<std::string>;

TEST(HostEnvironment, DaemonDropsTheVariablesOfTheAgentThatStartedIt) {
  Texts environment = {"AGENT_RELAY_PTY=4f",
                       "PATH=/bin",
                       "AGENT_RELAY_NAME=Bob",
                       "AGENT_RELAY_HOME=/h",
                       "TMUX=/t,1,2",
                       "AGENT_RELAY_INBOX=i",
                       "AGENT_RELAY_OUTBOX=o",
                       "AGENT_RELAY_SPAWN_TASK=go",
                       "AGENT_RELAY_HOST_SOCKET=/d"};
  strip_agent_variables(environment);
  EXPECT_EQ(environment, (Texts{"PATH=/bin", "AGENT_RELAY_HOME=/h", "TMUX=/t,1,2"}));
}

TEST(HostEnvironment, HostDropsTheVariablesOfTerminalAndAgent) {
  Texts environment = {"AGENT_RELAY_PTY=4f", "TMUX=/t,1,2", "TMUX_PANE=%1",  "CLAUDECODE=1", "TERM=xterm-kitty",
                       "NOTIFY_SOCKET=@n",   "LANG=C",      "TMUXINATOR=me", "COLUMNS=80"};
  prepare_for_host(environment);
  EXPECT_EQ(environment, (Texts{"TERM=xterm-kitty", "LANG=C", "TMUXINATOR=me"}));
}

TEST(HostEnvironment, AgentAlwaysHasATerminalType) {
  for (Texts environment : {Texts{}, Texts{"TERM=dumb"}, Texts{"TERM="}}) {
    prepare_for_host(environment);
    EXPECT_EQ(environment, Texts{"TERM=xterm-256color"});
  }
}

}  // namespace
}  // namespace relay::daemon
