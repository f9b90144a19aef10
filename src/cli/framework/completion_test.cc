#include "cli/framework/completion.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "cli/framework/command.h"

namespace relay::cli {
namespace {

/// The output of the shell for the script; `absent` when the shell is not installed.
std::string run_in_shell(const std::string& shell, const std::string& script, const std::string& more) {
  if (std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) != 0) return "absent";
  std::string pattern = "/tmp/completion-XXXXXX";
  ::close(::mkstemp(pattern.data()));
  std::ofstream{pattern} << script << more;
  FILE* pipe = ::popen((shell + " " + pattern + " 2>&1").c_str(), "r");
  std::string output;
  char buffer[256];
  while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
  ::pclose(pipe);
  ::unlink(pattern.c_str());
  return output;
}

TEST(Completion, HasEveryCommandAndOptionInEveryShell) {
  for (const auto* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell).value();
    for (const auto* command : command_table()) {
      EXPECT_NE(script.find(command->name), std::string::npos) << shell << " " << command->name;
      for (const auto& option : command->options) {
        const auto name = std::string{std::string_view{shell} == "fish" ? option.name.substr(2) : option.name};
        EXPECT_TRUE(option.hidden || script.find(name) != std::string::npos) << shell << " " << option.name;
      }
    }
  }
  EXPECT_FALSE(completion_script("tcsh").has_value());
}

TEST(Completion, WorksInBash) {
  const auto script = completion_script("bash").value();
  const auto complete = [&](const std::string& words, int at) {
    return run_in_shell(
        "bash", script,
        "COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) + "; _agent_relay; echo ${COMPREPLY[*]}\n");
  };
  EXPECT_EQ(complete("agent-relay sta", 1), "status\n");
  EXPECT_EQ(complete("agent-relay cla", 1), "claude\n");
  EXPECT_EQ(complete("agent-relay run cod", 2), "codex\n");
  EXPECT_EQ(complete("agent-relay spawn Bob gem", 3), "gemini\n");
  EXPECT_EQ(complete("agent-relay up --du", 2), "--durability\n");
  EXPECT_EQ(complete("agent-relay up --durability p", 3), "power process\n");
  EXPECT_EQ(complete("agent-relay completion ''", 2), "bash zsh fish\n");
}

TEST(Completion, IsWellFormedInZshAndFish) {
  for (const auto* shell : {"zsh", "fish"}) {
    const auto output = run_in_shell(std::string{shell} + " -n", completion_script(shell).value(), "");
    EXPECT_TRUE(output.empty() || output == "absent") << output;
  }
}

}  // namespace
}  // namespace relay::cli
