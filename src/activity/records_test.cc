/// Whole sessions of real agents and their events: testdata/<session>.events, one event per line.
///
/// After an intended change, RELAY_WRITE_EXPECTED=1 rewrites those files; check the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "activity/activity.h"
#include "transcripts/testing/records.h"

namespace relay::activity {
namespace {

using transcripts::testing::read_whole;
using transcripts::testing::record_lines;

std::string line_of(const TimedEvent& happened) {
  json::object line{{"type", events::type_of(happened.event)}};
  auto members = events::members_of(happened.event);
  EXPECT_TRUE(events::read_event(events::type_of(happened.event), members)) << json::serialize(members);
  for (auto& [name, value] : members) line[name] = std::move(value);
  line["_ts"] = happened.at;
  return json::serialize(line) + "\n";
}

std::string events_of(const std::string& file) {
  const auto reader = transcripts::testing::reader_for(file);
  Activity activity{"transcript"};
  std::string all;
  for (const auto& line : record_lines(file))
    for (const auto& entry : reader->read(line))
      for (const auto& happened : activity.take(entry, reader->written_at())) all += line_of(happened);
  for (const auto& happened : activity.end("the record ends", 0)) all += line_of(happened);
  return all;
}

struct Record : ::testing::TestWithParam<const char*> {};

TEST_P(Record, YieldsTheExpectedEvents) {
  const std::string file = GetParam();
  const auto expected = std::string{RELAY_ACTIVITY_TESTDATA "/"} + file.substr(0, file.rfind('.')) + ".events";
  const auto events = events_of(file);
  if (std::getenv("RELAY_WRITE_EXPECTED") != nullptr) std::ofstream{expected} << events;
  EXPECT_EQ(events, read_whole(expected));
}

INSTANTIATE_TEST_SUITE_P(Real, Record,
                         ::testing::Values("claude-fence.jsonl", "claude-old.jsonl", "claude-session.jsonl",
                                           "claude-subagent-asked.jsonl", "claude-subagent.jsonl", "claude-tool.jsonl",
                                           "claude-work.jsonl", "codex-fence.jsonl", "codex-session.jsonl",
                                           "codex-tool.jsonl", "codex-work.jsonl", "gemini-fence.jsonl",
                                           "gemini-refused.jsonl", "gemini-resumed.jsonl", "gemini-session.jsonl",
                                           "gemini-work.jsonl"),
                         [](const auto& each) {
                           std::string name = each.param;
                           name = name.substr(0, name.rfind('.'));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace relay::activity
