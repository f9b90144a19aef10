#include "host/event_reporter.h"

#include <gtest/gtest.h>

#include "client/testing/link_fixture.h"

namespace relay::host {
namespace {

using Texts = std::vector<std::string>;

struct EventReporterTest : client::testing::LinkFixture {
  std::unique_ptr<EventReporter> reporter;

  void start_reporter() {
    start_ready();
    reporter = std::make_unique<EventReporter>(*link, "Alice");
  }
  /// The events the daemon received since the last call.
  Texts take_events() {
    Texts all;
    for (const auto& frame : daemon.take_frames()) {
      if (frame.type != "AGENT_EVENT") continue;
      const auto* event = object_member(frame.payload, "event");
      all.push_back(json::serialize(*event));
      ids.push_back(frame.id);
    }
    return all;
  }
  /// Acknowledges events until no more come; returns their number.
  std::size_t ack_all() {
    std::size_t count = 0;
    for (auto more = take_events(); !ids.empty(); more = take_events())
      for (const auto& each : std::exchange(ids, {})) ack(each), ++count;
    return count;
  }
  static events::Event delta(std::string text) {
    return events::ItemDelta{.item_id = "i", .delta = {.content = std::move(text)}};
  }
  static events::Event permission(std::string id) {
    return events::PermissionRequested{.request_id = std::move(id), .tool = "Bash", .description = "Bash: make"};
  }
  json::object counts() {
    text::JsonWriter out;
    reporter->describe(out);
    return *object_member(*parse_json_object(out.take()), "events");
  }
  Texts ids;
};

TEST_F(EventReporterTest, EventIsFlatWithTime) {
  start_reporter();
  reporter->report(events::TokensUsed{.model = "m", .input_tokens = 3}, 77);
  EXPECT_EQ(
      take_events(),
      (Texts{R"({"type":"tokens.used","agentName":"Alice","model":"m","inputTokens":3,"outputTokens":0,"_ts":77})"}));
}

TEST_F(EventReporterTest, PromptIsBeingStoredUntilAck) {
  start_reporter();
  EXPECT_FALSE(reporter->is_storing_request());
  reporter->report(delta("x"), 1);
  EXPECT_FALSE(reporter->is_storing_request()) << "it is not a request";
  reporter->report(permission("h-p1"), 1);
  EXPECT_TRUE(reporter->is_storing_request());
  ack_all();
  EXPECT_FALSE(reporter->is_storing_request());
}

TEST_F(EventReporterTest, DroppedEventsAreCountedAndReported) {
  start_reporter();
  for (std::size_t i = 0; i < client::kMaxEvents + 7; ++i) reporter->report(delta("x"), 1);
  EXPECT_FALSE(reporter->report_gap(2)) << "half of it must be free first";
  EXPECT_EQ(integer_member(counts(), "dropped"), 7);
  EXPECT_EQ(ack_all(), client::kMaxEvents);
  reporter->report(delta("dropped until the gap is reported"), 1);
  EXPECT_TRUE(take_events().empty());
  EXPECT_TRUE(reporter->report_gap(3));
  EXPECT_FALSE(reporter->report_gap(3));
  EXPECT_EQ(take_events(), (Texts{R"({"type":"agent.unparsed","source":"relay","problem":)"
                                  R"("8 events were dropped: the event queue was full","_ts":3})"}));
}

TEST_F(EventReporterTest, OpenPromptIsReportedAgainAfterReconnect) {
  start_reporter();
  reporter->report(permission("h-p1"), 1);
  EXPECT_EQ(ack_all(), 1U);
  reconnect();
  daemon.welcome();
  reporter->report_again({permission("h-p1")}, "s2", 9);
  ASSERT_EQ(take_events().size(), 1U);
  EXPECT_EQ(integer_member(counts(), "sent"), 1);
}

TEST_F(EventReporterTest, RepeatedPromptKeepsTimeAndNamesSession) {
  start_reporter();
  reporter->report_again({}, "s1", 1);
  reporter->report(permission("h-p1"), 1);
  ack_all();
  const auto reported_again = [&](const std::string& session) {
    reconnect();
    daemon.welcome();
    reporter->report_again({permission("h-p1")}, session, 9);
    const auto all = take_events();
    ack_all();
    return all.empty() ? "" : all.back().substr(all.back().find("\"_ts\""));
  };
  EXPECT_EQ(reported_again("s1"), R"("_ts":1,"_again":"s1"})");
  EXPECT_EQ(reported_again("s2"), R"("_ts":1,"_again":"s1"})") << "a new session does not have it";
  EXPECT_EQ(reported_again("s2"), R"("_ts":1,"_again":"s2"})");
}

TEST_F(EventReporterTest, QueuedPromptIsNotReportedTwice) {
  start_reporter();
  reporter->report(permission("h-p1"), 1);
  reconnect();
  daemon.welcome();
  reporter->report_again({permission("h-p1")}, "s2", 9);
  EXPECT_EQ(ack_all(), 2U) << "once on each connection, under the same number";
  EXPECT_EQ(integer_member(counts(), "sent"), 1);
}

TEST_F(EventReporterTest, DroppedPromptIsReportedAfterGap) {
  start_reporter();
  for (std::size_t i = 0; i < client::kMaxEvents; ++i) reporter->report(delta("x"), 1);
  reporter->report(permission("h-p1"), 1);
  ack_all();
  EXPECT_TRUE(reporter->report_gap(3));
  reporter->report_again({permission("h-p1")}, "s1", 3);
  EXPECT_EQ(ack_all(), 2U);
}

TEST_F(EventReporterTest, DroppedResolutionIsReportedAfterGap) {
  start_reporter();
  reporter->report(permission("h-p1"), 1);
  ack_all();
  for (std::size_t i = 0; i < client::kMaxEvents + 1; ++i) reporter->report(delta("x"), 1);
  reporter->report(events::PermissionResolved{.request_id = "h-p1"}, 2);
  reporter->report(events::PermissionResolved{.request_id = "h-p2"}, 2);
  ack_all();
  EXPECT_TRUE(reporter->report_gap(3));
  const auto reported = take_events();
  ASSERT_EQ(reported.size(), 2U) << "h-p2 was not reported before";
  EXPECT_NE(reported[1].find(R"("type":"permission.resolved","requestId":"h-p1")"), std::string::npos) << reported[1];
}

}  // namespace
}  // namespace relay::host
