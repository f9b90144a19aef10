#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "net/testing/temporary_directory.h"
#include "pty/testing/test_terminal.h"

namespace relay::scripted_agent {
namespace {

using pty::ExitStatus;
using pty::testing::TestTerminal;

std::string contents(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(ScriptedAgent, RunsOnTerminalAndLogsInput) {
  const net::testing::TemporaryDirectory place;
  std::ofstream{place.file("script")} << R"({"rules":[{"contains":"hello","reply":"Hi!","work_ms":1}]})";
  TestTerminal terminal{{SCRIPTED_AGENT, "--script", place.file("script"), "--log", place.file("log"), "--status"}};
  ASSERT_TRUE(terminal.wait_for("state=idle"));
  ASSERT_TRUE(terminal.wait_for("│ > "));
  EXPECT_TRUE(terminal.screen.contains("\x1b[?2004h"));
  terminal.type("\x1b[200~hello\x1b[201~");
  terminal.type("\r");
  EXPECT_TRUE(terminal.wait_for("● Hi!"));
  terminal.type("/exit\r");
  EXPECT_EQ(terminal.finish(), (ExitStatus{ExitStatus::Kind::Exited, 0}));
  EXPECT_TRUE(terminal.is_restored());
  EXPECT_TRUE(terminal.screen.contains("\x1b[?2004l"));
  EXPECT_TRUE(contents(place.file("log")).contains(R"("text":"hello")"));
  EXPECT_TRUE(contents(place.file("log")).contains(R"("hex":"2f657869740d")"));
}

TEST(ScriptedAgent, RedrawsOnResize) {
  TestTerminal terminal{{SCRIPTED_AGENT, "--alternate"}, {60, 20}};
  ASSERT_TRUE(terminal.wait_for("│ > "));
  ASSERT_TRUE(pty::set_window_size(terminal.pty.controller.get(), {30, 10}));
  EXPECT_TRUE(terminal.wait_for("\x1b[8;5H"));
  terminal.type("\x03\x03");
  EXPECT_EQ(terminal.finish(), (ExitStatus{ExitStatus::Kind::Exited, 0}));
}

TEST(ScriptedAgent, RefusesUnknownOptions) {
  TestTerminal terminal{{SCRIPTED_AGENT, "--colour"}};
  EXPECT_EQ(terminal.finish(), (ExitStatus{ExitStatus::Kind::Exited, 2}));
  EXPECT_TRUE(terminal.screen.contains("unknown option --colour"));
}

}  // namespace
}  // namespace relay::scripted_agent
