#include "cli/render/cancel_result.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/format.h"

namespace relay::cli {
namespace {

constexpr WallMs kMidday = 1'748'779'200'000;  // 2025-06-01 12:00:00 UTC

struct CancelResultTest : ::testing::Test {
  CancelResultTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  std::string entries;
  void delivery(std::string_view id, std::string_view to, std::string_view state, std::string_view history = "") {
    entries += relay::format(R"({}{{"deliveryId":"{}","to":"{}","state":"{}","history":[{}]}})",
                             entries.empty() ? "" : ",", id, to, state, history);
  }
  [[nodiscard]] CancelResult of(const std::vector<std::string>& ids,
                                const std::map<std::string, std::string>& refused = {}) const {
    return cancel_result_of(parse_json_object(R"({"deliveries":[)" + entries + "]}").value(), ids, refused);
  }
  static std::string good(const CancelResult& outcome) { return success_text(outcome, "7kq2m9xa"); }
  static std::string error(const CancelResult& outcome) { return error_text(outcome, "7kq2m9xa", kMidday); }
};

TEST_F(CancelResultTest, AreReportedOnlyByHistory) {
  delivery("d-1", "Bob", "cancelled");
  delivery("d-2", "Carol", "cancelled");
  delivery("d-3", "Dan", "delivered");
  EXPECT_EQ(good(of({"d-1"})), "7kq2m9xa cancelled\n");
  EXPECT_EQ(error(of({"d-1"})), "");
  EXPECT_EQ(good(of({"d-1", "d-2"})), "7kq2m9xa cancelled, for 2 recipients\n");
  EXPECT_EQ(exit_code_of(of({"d-1", "d-2"})), ExitCode::Ok);
  EXPECT_EQ(json::serialize(as_json(of({"d-1"}), "")), R"({"cancelled":["d-1"],"tooLate":[],"requested":[]})");
}

TEST_F(CancelResultTest, AreTooLateAfterDelivery) {
  delivery("d-1", "Bob", "delivered",
           relay::format(R"({{"at":1,"state":"queued"}},{{"at":{},"state":"delivered","proof":"submitted"}},)"
                         R"({{"at":{},"state":"delivered","proof":"seen"}})",
                         kMidday - 60'000, kMidday));
  const auto outcome = of({"d-1"});
  EXPECT_EQ(good(outcome), "");
  EXPECT_EQ(error(outcome), "too late: delivered to Bob at 11:59:00");
  EXPECT_EQ(exit_code_of(outcome), ExitCode::Failed);
  EXPECT_EQ(json::serialize(as_json(outcome, "").at("tooLate")),
            relay::format(R"([{{"deliveryId":"d-1","to":"Bob","state":"delivered","at":{}}}])", kMidday - 60'000));
}

TEST_F(CancelResultTest, ReportOtherFinalState) {
  delivery("d-1", "Bob", "in_doubt",
           relay::format(R"({{"at":{},"state":"in_doubt","reason":"the host died"}})", kMidday - 1'000));
  EXPECT_EQ(error(of({"d-1"})), "too late: it may have reached Bob; in doubt since 11:59:59: the host died");
}

TEST_F(CancelResultTest, AreOnlyRequestedForUnsettled) {
  delivery("d-1", "Bob", "accepted");
  delivery("d-2", "Carol", "cancelled");
  const auto outcome = of({"d-1", "d-2"});
  EXPECT_EQ(error(outcome), "cancellation requested; no response yet; see: agent-relay trace 7kq2m9xa");
  EXPECT_EQ(good(outcome), "7kq2m9xa cancelled\n");
  EXPECT_EQ(exit_code_of(outcome), ExitCode::TimedOut);
  EXPECT_EQ(json::serialize(as_json(outcome, "later")),
            R"({"cancelled":["d-2"],"tooLate":[],"requested":["d-1"],"error":{"code":"TIMED_OUT","message":"later"}})");
}

TEST_F(CancelResultTest, AreTooLateAfterEarlierCancellation) {
  delivery("d-1", "Bob", "cancelled",
           relay::format(R"({{"at":{},"state":"cancelled","reason":"redelivered as d-2"}})", kMidday - 1'000));
  const auto outcome = of({"d-1"}, {{"d-1", "d-1 has already ended: it is cancelled"}});
  EXPECT_EQ(good(outcome), "");
  EXPECT_EQ(error(outcome), "too late: for Bob it was cancelled at 11:59:59: redelivered as d-2");
  EXPECT_EQ(exit_code_of(outcome), ExitCode::Failed);
}

TEST_F(CancelResultTest, DoNotWaitForSessionThatCannotCancel) {
  delivery("d-1", "Bob", "queued");
  const auto outcome = of({"d-1"}, {{"d-1", "d-1 is with a session that cannot return it"}});
  EXPECT_TRUE(outcome.is_final());
  EXPECT_EQ(error(outcome), "d-1 is with a session that cannot return it");
  EXPECT_EQ(exit_code_of(outcome), ExitCode::Refused);
  EXPECT_EQ(as_json(outcome, "no").at("requested"), json::array{"d-1"});
  delivery("d-2", "Carol", "accepted");
  EXPECT_FALSE(of({"d-1", "d-2"}, {{"d-1", "no"}}).is_final()) << "the other may still be returned";
}

}  // namespace
}  // namespace relay::cli
