// `agent-relay events` and events.jsonl, with the real daemon.
#include <gtest/gtest.h>

#include <fstream>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

struct Events : testing::Test {
  Sandbox box;
  Events() {
    box.ok({"up"});
    box.ok({"send", "#dev", "hello", "--from", "ada"});
  }

  std::vector<json::object> file_events() {
    return parse_json_lines(file_contents(box.workspace_directory() + "/events.jsonl"));
  }
  static bool has_no_gaps(const std::vector<json::object>& events) {
    std::int64_t last = 0;
    for (const auto& event : events)
      if (integer_member(event, "_seq") != ++last) return false;
    return true;
  }
};

TEST_F(Events, ArePrintedAsTextAndJson) {
  EXPECT_NE(box.ok({"events"}).find("ada → #dev: hello"), std::string::npos);
  const auto all = parse_json_lines(box.ok({"events", "--json", "--since", "#0"}));
  EXPECT_TRUE(has_no_gaps(all));
  const auto messages = parse_json_lines(box.ok({"events", "--json", "--types", "message"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(string_member(messages[0], "body"), "hello");
  EXPECT_TRUE(box.ok({"events", "--json", "--agent", "absent"}).empty());
  EXPECT_TRUE(box.ok({"events", "--json", "--since", format("#{}", all.size())}).empty());
  EXPECT_EQ(parse_json_lines(box.ok({"events", "--json", "--since", "1h"})).size(), all.size());
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
  ASSERT_TRUE(follower->prints("hello"));
  for (int round = 0; round < 3; ++round) {
    box.ok({"send", "#dev", format("before {}", round), "--from", "ada"});
    box.kill_daemon();
    box.ok({"up"});
    box.ok({"send", "#dev", format("after {}", round), "--from", "ada"});
    ASSERT_TRUE(follower->prints(format("after {}", round)));
  }
  std::vector<std::string> bodies;
  for (const auto& event : parse_json_lines(follower->out())) bodies.push_back(string_member(event, "body").value());
  EXPECT_EQ(bodies,
            (std::vector<std::string>{"hello", "before 0", "after 0", "before 1", "after 1", "before 2", "after 2"}));
}

TEST_F(Events, FollowStartsWithoutPastEventsAtLimitZero) {
  const auto follower = box.start({"events", "--follow", "--json", "--limit", "0", "--types", "message"});
  EXPECT_TRUE(eventually([&] {
    box.ok({"send", "#dev", "from now on", "--from", "ada"});
    return follower->out().find("from now on") != std::string::npos;
  }));
  EXPECT_EQ(follower->out().find("hello"), std::string::npos);
}

TEST_F(Events, FileHasEverySequenceNumberAfterKills) {
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 20; ++n) box.ok({"send", "#dev", "x", "--from", "ada"});
    box.kill_daemon();
    if (round == 1) std::ofstream{box.workspace_directory() + "/events.jsonl", std::ios::app} << R"({"_seq":9999,"tor)";
    box.ok({"up"});
  }
  const auto newest = parse_json_lines(box.ok({"events", "--json", "--limit", "1"}));
  ASSERT_EQ(newest.size(), 1u);
  const auto expected = static_cast<std::size_t>(integer_member(newest[0], "_seq").value());
  EXPECT_TRUE(eventually([&] { return file_events().size() >= expected; }));
  EXPECT_TRUE(has_no_gaps(file_events()));
}

}  // namespace
}  // namespace relay::cli_tests
