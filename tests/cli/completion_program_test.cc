/// Completion in real shells, including hostile names.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

struct Shell {
  const char* name;
  std::vector<std::string> command;
  const char* prepare;  // typed first; makes `relay` a function that prints its arguments
};

void PrintTo(const Shell& shell, std::ostream* out) { *out << shell.name; }

const Shell kBash{"bash",
                  {"/bin/bash", "--noprofile", "--norc", "-i"},
                  "source <(agent-relay completion bash); relay() { printf '<%s>' \"$@\"; echo; }; echo re''ady\r"};
const Shell kZsh{"zsh",
                 {"/usr/bin/zsh", "-f", "-i"},
                 "autoload -U compinit; compinit -u -D; source <(agent-relay completion zsh); "
                 "relay() { printf '<%s>' \"$@\"; echo; }; echo re''ady\r"};
const Shell kFish{"fish",
                  {"/usr/bin/fish", "--no-config", "-i"},
                  "agent-relay completion fish | source; function relay; printf '<%s>' $argv; echo; end; "
                  "echo re''ady\r"};

class Completion : public testing::TestWithParam<Shell> {
 protected:
  void SetUp() override {
    if (!fs::exists(GetParam().command.front())) GTEST_SKIP() << GetParam().name << " is not installed";
    box_.ok({"up"});
    box_.set("PATH", fs::path{program()}.parent_path().string() + ":" + std::getenv("PATH"));
    box_.set("TERM", "xterm");
    box_.set("LANG", "C.UTF-8");
  }

  /// `relay TYPED<Tab>` shows `offered` and runs the program with the arguments `expected`.
  void expect_completed(const std::string& typed, const std::string& offered, const std::string& expected) {
    Terminal shell{box_, Terminal::Program{GetParam().command}};
    shell.type(GetParam().prepare);
    ASSERT_TRUE(shell.shows("ready\n")) << shell.screen();
    shell.clear();
    shell.type("relay " + typed + "\t");
    ASSERT_TRUE(shell.shows(offered)) << shell.screen();
    shell.type("\r");
    EXPECT_TRUE(shell.shows(expected + "\n")) << shell.screen();
  }

  [[nodiscard]] bool was_executed() const { return fs::exists(box_.project() + "/executed"); }

  Sandbox box_;
};

INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::Values(kBash, kZsh, kFish),
                         [](const auto& shell) { return shell.param.name; });

TEST_P(Completion, AgentNameIsNotExecuted) {
  const std::string name = "a$(touch${IFS}executed)`touch${IFS}executed`;'\"!&|x";
  const auto agent = box_.start({"chat", "--name", name});
  ASSERT_TRUE(box_.is_connected(name));
  expect_completed("explain a", "executed", "<explain><" + name + ">");
  EXPECT_FALSE(was_executed());
}

TEST_P(Completion, ChannelNameIsNotExecuted) {
  const std::string name = "#$(touch executed) `touch executed`:x@y=z";
  box_.ok({"channels", "join", name});
  expect_completed("channels members '#", "executed", "<channels><members><" + name + ">");
  EXPECT_FALSE(was_executed());
}

TEST_P(Completion, OffersVerbsAndTheirArguments) {
  expect_completed("channels mem", "members", "<channels><members>");
  expect_completed("hooks uni", "uninstall", "<hooks><uninstall>");
  expect_completed("hooks --dry-run install gem", "gemini", "<hooks><--dry-run><install><gemini>");
  expect_completed("policy Bob ref", "refuse", "<policy><Bob><refuse>");
}

TEST_P(Completion, OffersMessageIdsToTrace) {
  box_.ok({"channels", "join", "#dev", "--name", "Zoe"});
  const auto id = std::string{box_.ok_json({"send", "Zoe", "the build is green"}).at("id").as_string()};
  expect_completed("trace " + id.substr(0, 4), id, "<trace><" + id + ">");
}

TEST_P(Completion, OmitsAgentsWithoutPromptOrScreen) {
  box_.ok({"channels", "join", "#dev", "--name", "Zoe"});
  expect_completed("approve Zo", "approve Zo", "<approve><Zo>");
  expect_completed("attach Zo", "attach Zo", "<attach><Zo>");
}

TEST_P(Completion, OffersAgentsAndChannelsAsRecipients) {
  box_.ok({"channels", "join", "#dev", "--name", "Zoe"});
  expect_completed("send --from Bob Zo", "Zoe", "<send><--from><Bob><Zoe>");
  expect_completed("send '#d", "#dev", "<send><#dev>");
}

}  // namespace
}  // namespace relay::cli_tests
