#include "cli/repeat.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::cli {
namespace {

struct Row {
  std::string state, proof, reason = {};
};

json::object delivery(const std::vector<Row>& rows) {
  json::array history;
  for (const auto& row : rows)
    history.emplace_back(json::object{{"at", 1}, {"state", row.state}, {"proof", row.proof}, {"reason", row.reason}});
  return {{"deliveryId", "d-1"},
          {"to", "Bob"},
          {"state", rows.back().state},
          {"proof", rows.back().proof},
          {"history", std::move(history)}};
}

/// What a repetition that waits for that says: `waits`, `reached`, or why it was not delivered.
std::string told(Until until, const std::vector<Row>& rows) {
  Fate fate;
  if (!settles_by_ledger(fate, until, delivery(rows))) return "waits";
  return fate.kind == Fate::Kind::Reached ? "reached" : fate.reason;
}

const Row kQueued{"queued", "stored"}, kAccepted{"accepted", "accepted"}, kWritten{"accepted", "written"},
    kSubmitted{"delivered", "submitted"}, kSeen{"delivered", "seen"},
    kExpired{"expired", "stored", "its time was over"}, kDoubt{"in_doubt", "written", "the host ended"},
    kCancelled{"cancelled", "accepted", "not wanted"};

TEST(Repeat, WhatWasDeliveredAfterAllIsDelivered) {
  EXPECT_EQ(told(Until::Delivered, {kQueued, kAccepted, kDoubt, kSubmitted}), "reached");
  EXPECT_EQ(told(Until::Delivered, {kQueued, kExpired, kSubmitted}), "reached");
  EXPECT_EQ(told(Until::Seen, {kQueued, kCancelled, kSubmitted}), "waits");
  EXPECT_EQ(told(Until::Seen, {kQueued, kCancelled, kSubmitted, kSeen}), "reached");
  Fate fate;
  ASSERT_TRUE(settles_by_ledger(fate, Until::Delivered, delivery({kQueued, kAccepted, kDoubt, kSubmitted})));
  EXPECT_EQ(fate.steps.size(), 2U) << "the way it came, without what was not the end";
}

TEST(Repeat, WhatHasEndedIsSaidWithItsReason) {
  EXPECT_EQ(told(Until::Delivered, {kQueued, kExpired}), "its time was over");
  EXPECT_EQ(told(Until::Accepted, {kQueued, kAccepted, kCancelled}), "not wanted") << "also after it was accepted";
  EXPECT_EQ(told(Until::Answered, {kQueued, kWritten, kDoubt}), "waits") << "the answer would settle it";
}

TEST(Repeat, WhatIsUnderWayIsWhereItStandsNow) {
  EXPECT_EQ(told(Until::Accepted, {kQueued}), "waits");
  EXPECT_EQ(told(Until::Accepted, {kQueued, kAccepted}), "reached");
  EXPECT_EQ(told(Until::Accepted, {kQueued, kAccepted, {"deferred", "accepted", "the agent is working"}}), "reached");
  EXPECT_EQ(told(Until::Accepted, {kQueued, {"deferred", "stored", "paused"}}), "waits");
  EXPECT_EQ(told(Until::Accepted, {kQueued, kAccepted, kQueued}), "waits") << "put back";
  EXPECT_EQ(told(Until::Delivered, {kQueued, kAccepted, kWritten}), "waits");
}

}  // namespace
}  // namespace relay::cli
