// `agent-relay events` and events.jsonl, with the real daemon.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

struct Events : testing::Test {
  Sandbox box;
  Events() {
    box.ok({"up"});
    box.ok({"send", "#dev", "hello", "--from", "ada"});
  }

  static std::vector<json::object> lines(const std::string& text) {
    std::vector<json::object> events;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) events.push_back(parse_json_object(line).value());
    return events;
  }
  std::vector<json::object> in_file() {
    std::ifstream file{box.workspace_directory() + "/events.jsonl"};
    return lines({std::istreambuf_iterator<char>{file}, {}});
  }
  static bool without_gap(const std::vector<json::object>& events) {
    std::int64_t before = 0;
    for (const auto& event : events)
      if (integer_member(event, "_seq") != ++before) return false;
    return true;
  }
};

TEST_F(Events, ArePrintedAsTextAndJson) {
  EXPECT_NE(box.ok({"events"}).find("ada → #dev: hello"), std::string::npos);
  const auto all = lines(box.ok({"events", "--json", "--since", "#0"}));
  EXPECT_TRUE(without_gap(all));
  const auto messages = lines(box.ok({"events", "--json", "--types", "message"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(string_member(messages[0], "body"), "hello");
  EXPECT_TRUE(box.ok({"events", "--json", "--agent", "nobody"}).empty());
  EXPECT_TRUE(box.ok({"events", "--json", "--since", format("#{}", all.size())}).empty());
  EXPECT_EQ(lines(box.ok({"events", "--json", "--since", "1h"})).size(), all.size());
}

TEST_F(Events, InvalidFilterIsUsageError) {
  const auto type = box.run({"events", "--types", "itm"});
  EXPECT_EQ(type.code, 2);
  EXPECT_NE(type.err.find("\"itm\" is not a type of event"), std::string::npos) << type.err;
  EXPECT_EQ(box.run({"events", "--since", "yesterday"}).code, 2);
  EXPECT_EQ(box.run({"events", "--since", "#x"}).code, 2);
}

TEST_F(Events, FollowSurvivesKilledDaemonWithoutLossOrDuplicates) {
  const auto follower = box.start({"events", "--follow", "--json", "--types", "message", "--since", "#0"});
  ASSERT_TRUE(follower->says("hello"));
  for (int round = 0; round < 3; ++round) {
    box.ok({"send", "#dev", format("before {}", round), "--from", "ada"});
    box.kill_daemon();
    box.ok({"up"});
    box.ok({"send", "#dev", format("after {}", round), "--from", "ada"});
    ASSERT_TRUE(follower->says(format("after {}", round)));
  }
  std::vector<std::string> bodies;
  for (const auto& event : lines(follower->out())) bodies.push_back(string_member(event, "body").value());
  EXPECT_EQ(bodies,
            (std::vector<std::string>{"hello", "before 0", "after 0", "before 1", "after 1", "before 2", "after 2"}));
}

TEST_F(Events, FollowMayStartWithoutPastEvents) {
  const auto follower = box.start({"events", "--follow", "--json", "--limit", "0", "--types", "message"});
  EXPECT_TRUE(eventually([&] {
    box.ok({"send", "#dev", "from now on", "--from", "ada"});
    return follower->out().find("from now on") != std::string::npos;
  }));
  EXPECT_EQ(follower->out().find("hello"), std::string::npos);
}

TEST_F(Events, FileHasEveryNumberAfterKills) {
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 20; ++n) box.ok({"send", "#dev", "x", "--from", "ada"});
    box.kill_daemon();
    if (round == 1) std::ofstream{box.workspace_directory() + "/events.jsonl", std::ios::app} << R"({"_seq":9999,"tor)";
    box.ok({"up"});
  }
  const auto newest = lines(box.ok({"events", "--json", "--limit", "1"}));
  ASSERT_EQ(newest.size(), 1u);
  const auto wanted = static_cast<std::size_t>(integer_member(newest[0], "_seq").value());
  EXPECT_TRUE(eventually([&] { return in_file().size() >= wanted; }));
  EXPECT_TRUE(without_gap(in_file()));
}

}  // namespace
}  // namespace relay::cli_tests
