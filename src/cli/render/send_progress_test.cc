#include "cli/render/send_progress.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace relay::cli {
namespace {

using protocol::ReceiptStatus;

constexpr WallMs kNoon = 1'748'779'200'000;  // 2025-06-01 12:00:00 UTC

class SendProgressTest : public ::testing::Test {
 protected:
  SendProgressTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }

 public:
  SendProgressTest& then(ReceiptStatus status, std::string proof = "", std::string via = "", std::string reason = "") {
    protocol::Receipt step;
    step.status = status;
    step.proof = std::move(proof);
    step.via = std::move(via);
    step.reason = std::move(reason);
    result_.steps.push_back(std::move(step));
    return *this;
  }

 protected:
  [[nodiscard]] std::string line() const { return progress_text(result_, true); }
  [[nodiscard]] std::string summary() const { return progress_summary(result_, "Bob", HostRuns::No, kNoon); }

  SendResult result_;
};

TEST_F(SendProgressTest, GrowsWithEachStep) {
  EXPECT_EQ(line(), "stored");
  then(ReceiptStatus::Accepted, "", "inbox");
  EXPECT_EQ(line(), "stored → accepted (via inbox)");
  then(ReceiptStatus::Accepted, "written", "inbox").then(ReceiptStatus::Delivered, "submitted", "inbox");
  EXPECT_EQ(line(), "stored → accepted (via inbox) → written → submitted");
  then(ReceiptStatus::Delivered, "seen", "hook");
  EXPECT_EQ(line(), "stored → accepted (via inbox) → written → submitted → seen (via hook)");
  EXPECT_EQ(progress_text(result_, false), "stored -> accepted (via inbox) -> written -> submitted -> seen (via hook)");
}

TEST_F(SendProgressTest, ShowsPendingReasonUntilNextStep) {
  then(ReceiptStatus::Accepted).then(ReceiptStatus::Deferred, "", "", "the composer holds a draft");
  EXPECT_EQ(line(), "stored → accepted; pending: the composer holds a draft");
  EXPECT_EQ(summary(), "Bob's session has it; pending: the composer holds a draft");
  then(ReceiptStatus::Accepted, "written");
  EXPECT_EQ(line(), "stored → accepted → written");
}

TEST_F(SendProgressTest, OfflineRecipientIsQueued) {
  result_.offline_since = kNoon - 60'000;
  EXPECT_EQ(line(), "queued");
  EXPECT_EQ(summary(), "stored, to be delivered later: Bob is offline since 11:59");
  EXPECT_EQ(queued_text(result_, "Bob", HostRuns::No, kNoon), "queued (Bob is offline since 11:59)");
  result_.offline_since = 0;
  EXPECT_EQ(queued_text(result_, "Bob", HostRuns::No, kNoon), "");
}

TEST_F(SendProgressTest, ReportsDisconnectedHost) {
  result_.offline_since = kNoon - 60'000;
  EXPECT_EQ(queued_text(result_, "Bob", HostRuns::Yes, kNoon),
            "queued (the host of Bob runs but is not connected; see: agent-relay explain Bob)");
  EXPECT_EQ(progress_summary(result_, "Bob", HostRuns::Yes, kNoon),
            "stored, to be delivered later: the host of Bob runs but is not connected; see: agent-relay explain Bob");
}

TEST_F(SendProgressTest, SummaryClaimsOnlyWhatReceiptsProve) {
  EXPECT_EQ(summary(), "stored, to be delivered later");
  then(ReceiptStatus::Deferred, "", "", "its session does not support next-message");
  EXPECT_EQ(summary(), "stored; pending: its session does not support next-message");
  then(ReceiptStatus::Accepted, "", "queue");
  EXPECT_EQ(summary(), "Bob's session has it (via queue) but has not delivered it yet");
  then(ReceiptStatus::Accepted, "written", "pty");
  EXPECT_EQ(summary(), "it was written to Bob (via pty); no more evidence yet");
  then(ReceiptStatus::Delivered, "submitted", "pty");
  EXPECT_EQ(summary(), "it was submitted to Bob's agent (via pty); no evidence that the model read it");
  then(ReceiptStatus::Delivered, "seen", "hook");
  EXPECT_EQ(summary(), "Bob's agent saw it (via hook)");
}

TEST_F(SendProgressTest, EndsAtDeliveredForProgramWithoutMoreProof) {
  then(ReceiptStatus::Delivered, "accepted");
  EXPECT_EQ(line(), "stored → delivered");
  EXPECT_EQ(summary(), "Bob received it; its session reports nothing more");
}

TEST_F(SendProgressTest, SanitizesForeignText) {
  then(ReceiptStatus::Accepted, "", "\x1b[2J").then(ReceiptStatus::Deferred, "", "", "a\x1b]0;x\x07");
  EXPECT_EQ(line().find('\x1b'), std::string::npos);
  EXPECT_EQ(summary().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace relay::cli
