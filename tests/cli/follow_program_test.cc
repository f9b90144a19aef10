#include <gtest/gtest.h>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

/// The bodies in the output of `log --json`, in order.
std::vector<std::string> bodies(const std::string& out) {
  std::vector<std::string> found;
  for (const auto& message : parse_json_lines(out)) found.push_back(string_member(message, "body").value_or("?"));
  return found;
}

TEST(Follow, RestartNeitherLosesNorRepeatsLines) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  box.ok({"send", "Bob", "0"});
  const auto log = box.start({"log", "--follow", "--json"});
  ASSERT_TRUE(log->prints("\"0\""));
  std::vector<std::string> expected = {"0"};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) {
      expected.push_back(std::to_string(expected.size()));
      box.ok({"send", "Bob", expected.back()});
    }
    box.kill_daemon();
    ASSERT_TRUE(log->prints_error("lost the connection to the daemon"));
    box.ok({"up"});
  }
  expected.emplace_back("end");
  box.ok({"send", "Bob", "end"});
  ASSERT_TRUE(log->prints("\"end\""));
  EXPECT_EQ(bodies(log->out()), expected);
  EXPECT_TRUE(log->prints_error("reconnected to the daemon"));
}

TEST(Follow, NameFiltersMessages) {
  Sandbox box;
  box.ok({"up"});
  for (const auto* name : {"Alice", "Bob"}) box.ok({"chat", "--name", name});
  const auto log = box.start({"log", "Alice", "--follow", "--json"});
  box.ok({"send", "Alice", "to alice"});
  ASSERT_TRUE(log->prints("to alice"));
  box.ok({"send", "Bob", "to bob"});
  box.ok({"send", "*", "to all"});
  ASSERT_TRUE(log->prints("to all"));
  EXPECT_EQ(log->out().find("to bob"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
