#include "host/event_reporter.h"

#include <gtest/gtest.h>

#include "client/testing/link_fixture.h"

namespace relay::host {
namespace {

using Texts = std::vector<std::string>;

struct EventReporterTest : client::testing::LinkFixture {
  std::unique_ptr<EventReporter> teller;

  void start_telling() {
    start_ready();
    teller = std::make_unique<EventReporter>(*link, "Alice");
  }
  /// Every event the daemon has heard since the last call, in short.
  Texts heard() {
    Texts all;
    for (const auto& frame : daemon.heard()) {
      if (frame.type != "AGENT_EVENT") continue;
      const auto* event = object_member(frame.payload, "event");
      all.push_back(json::serialize(*event));
      ids.push_back(frame.id);
    }
    return all;
  }
  /// Answers until nothing comes any more; how many were answered.
  std::size_t answer_all() {
    std::size_t count = 0;
    for (auto more = heard(); !ids.empty(); more = heard())
      for (const auto& each : std::exchange(ids, {})) ack(each), ++count;
    return count;
  }
  static events::Event delta(std::string text) {
    return events::ItemDelta{.item_id = "i", .delta = {.content = std::move(text)}};
  }
  static events::Event asks(std::string id) {
    return events::PermissionRequested{.request_id = std::move(id), .tool = "Bash", .description = "Bash: make"};
  }
  json::object counts() {
    text::JsonWriter out;
    teller->describe(out);
    return *object_member(*parse_json_object(out.take()), "events");
  }
  Texts ids;
};

TEST_F(EventReporterTest, EventIsFlatWithTime) {
  start_telling();
  teller->report(events::TokensUsed{.model = "m", .input_tokens = 3}, 77);
  EXPECT_EQ(
      heard(),
      (Texts{R"({"type":"tokens.used","agentName":"Alice","model":"m","inputTokens":3,"outputTokens":0,"_ts":77})"}));
}

TEST_F(EventReporterTest, RequestIsBeingStoredUntilTheDaemonAnswers) {
  start_telling();
  EXPECT_FALSE(teller->is_storing_request());
  teller->report(delta("x"), 1);
  EXPECT_FALSE(teller->is_storing_request()) << "it is no request";
  teller->report(asks("h-p1"), 1);
  EXPECT_TRUE(teller->is_storing_request());
  answer_all();
  EXPECT_FALSE(teller->is_storing_request());
}

TEST_F(EventReporterTest, DroppedEventsAreCountedAndReported) {
  start_telling();
  for (std::size_t i = 0; i < client::kMaxEvents + 7; ++i) teller->report(delta("x"), 1);
  EXPECT_FALSE(teller->report_gap(2)) << "half of it must be free first";
  EXPECT_EQ(integer_member(counts(), "dropped"), 7);
  EXPECT_EQ(answer_all(), client::kMaxEvents);
  teller->report(delta("after a gap nothing is kept before the gap is told"), 1);
  EXPECT_TRUE(heard().empty());
  EXPECT_TRUE(teller->report_gap(3));
  EXPECT_FALSE(teller->report_gap(3));
  EXPECT_EQ(heard(), (Texts{R"({"type":"agent.unparsed","source":"relay","problem":)"
                            R"("8 events were not kept: more happened than the daemon took at that time","_ts":3})"}));
}

TEST_F(EventReporterTest, OpenPromptIsReportedAgainAfterReconnect) {
  start_telling();
  teller->report(asks("h-p1"), 1);
  EXPECT_EQ(answer_all(), 1U);
  reconnect();
  daemon.welcome();
  teller->report_again({asks("h-p1")}, "s2", 9);
  ASSERT_EQ(heard().size(), 1U);
  EXPECT_EQ(integer_member(counts(), "sent"), 1);
}

TEST_F(EventReporterTest, RepeatedPromptKeepsTimeAndNamesSession) {
  start_telling();
  teller->report_again({}, "s1", 1);
  teller->report(asks("h-p1"), 1);
  answer_all();
  const auto told_again = [&](const std::string& session) {
    reconnect();
    daemon.welcome();
    teller->report_again({asks("h-p1")}, session, 9);
    const auto all = heard();
    answer_all();
    return all.empty() ? "" : all.back().substr(all.back().find("\"_ts\""));
  };
  EXPECT_EQ(told_again("s1"), R"("_ts":1,"_again":"s1"})");
  EXPECT_EQ(told_again("s2"), R"("_ts":1,"_again":"s1"})") << "a new session has not heard of it";
  EXPECT_EQ(told_again("s2"), R"("_ts":1,"_again":"s2"})");
}

TEST_F(EventReporterTest, QueuedPromptIsNotReportedTwice) {
  start_telling();
  teller->report(asks("h-p1"), 1);
  reconnect();
  daemon.welcome();
  teller->report_again({asks("h-p1")}, "s2", 9);
  EXPECT_EQ(answer_all(), 2U) << "once on each connection, under the same number";
  EXPECT_EQ(integer_member(counts(), "sent"), 1);
}

TEST_F(EventReporterTest, DroppedPromptIsReportedAfterGap) {
  start_telling();
  for (std::size_t i = 0; i < client::kMaxEvents; ++i) teller->report(delta("x"), 1);
  teller->report(asks("h-p1"), 1);
  answer_all();
  EXPECT_TRUE(teller->report_gap(3));
  teller->report_again({asks("h-p1")}, "s1", 3);
  EXPECT_EQ(answer_all(), 2U);
}

TEST_F(EventReporterTest, DroppedResolutionIsReportedAfterGap) {
  start_telling();
  teller->report(asks("h-p1"), 1);
  answer_all();
  for (std::size_t i = 0; i < client::kMaxEvents + 1; ++i) teller->report(delta("x"), 1);
  teller->report(events::PermissionResolved{.request_id = "h-p1"}, 2);
  teller->report(events::PermissionResolved{.request_id = "h-p2"}, 2);
  answer_all();
  EXPECT_TRUE(teller->report_gap(3));
  const auto told = heard();
  ASSERT_EQ(told.size(), 2U) << "of h-p2 nobody was told";
  EXPECT_NE(told[1].find(R"("type":"permission.resolved","requestId":"h-p1")"), std::string::npos) << told[1];
}

}  // namespace
}  // namespace relay::host
