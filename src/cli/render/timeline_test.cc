#include "cli/render/timeline.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>

namespace relay::cli {
namespace {

constexpr WallMs kNoon = 1'748'779'200'000;  // 2025-06-01 12:00:00 UTC

class Timeline : public ::testing::Test {
 protected:
  Timeline() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }

  static json::object trace(const std::string& deliveries) {
    return parse_json_object(R"({"message":{"id":"7kq2m9xa","from":"Alice","to":"Bob","kind":"message",
        "timestamp":1748779200000,"body":"the build is green\nand more"},"deliveries":[)" +
                             deliveries + "]}")
        .value();
  }
  static json::object waiting(const std::string& members) {
    return trace(R"({"deliveryId":"d-1","to":"Bob","state":"queued","proof":"stored","history":[
        {"at":1748779200000,"state":"queued","proof":"stored"}],)" +
                 members + "}");
  }
  static std::string outcome(const json::object& trace, const RenderContext& canvas) {
    return outcome_text(trace.at("deliveries").as_array().front().as_object(), trace.at("message").as_object(), canvas);
  }

  RenderContext render_{.now = kNoon + 60'000, .reader = "Alice"};
};

constexpr auto kSeen =
    R"({"deliveryId":"d-7kq2m9xb","to":"Bob","state":"delivered","proof":"seen","mode":"on-idle","lane":1,
    "history":[{"at":1748779200000,"state":"queued","proof":"stored"},
               {"at":1748779200021,"state":"accepted","proof":"accepted"},
               {"at":1748779204316,"state":"accepted","proof":"written","via":"inbox"},
               {"at":1748779204321,"state":"delivered","proof":"seen","via":"inbox","evidence":"hook UserPromptSubmit"}]})";

TEST_F(Timeline, DrawsHistoryAndOutcome) {
  EXPECT_EQ(timeline(trace(kSeen), render_),
            "7kq2m9xa  Alice → Bob  12:00:00\n"
            "  the build is green …\n"
            "\n"
            "to Bob  d-7kq2m9xb  on-idle, urgent\n"
            "  ●  12:00:00.000       +0 ms  queued      proof: stored\n"
            "  ●  12:00:00.021      +21 ms  accepted    proof: accepted\n"
            "  │  4 s later\n"
            "  ●  12:00:04.316      +4.3 s  accepted    proof: written    via inbox\n"
            "  ●  12:00:04.321      +4.3 s  delivered   proof: seen       via inbox\n"
            "  │                            hook UserPromptSubmit\n"
            "  ╰─ Bob's agent saw it 4.3 s after you sent it\n");
}

TEST_F(Timeline, WorksWithoutUnicodeAndColorsOnRequest) {
  render_.unicode = false;
  const auto plain = timeline(trace(kSeen), render_);
  for (const char c : plain.substr(plain.find("\n\n"))) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << plain;
  EXPECT_NE(plain.find("`- Bob's agent"), std::string::npos);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  render_.paint = Styler{true};
  EXPECT_NE(timeline(trace(kSeen), render_).find("\x1b[32m"), std::string::npos);
}

TEST_F(Timeline, FitsTerminalWidth) {
  const auto long_reason = trace(R"({"deliveryId":"d-1","to":"Bob","state":"deferred","proof":"accepted","history":[
      {"at":1748779200000,"state":"deferred","proof":"accepted",
       "reason":"the composer holds a draft, and the user typed recently, so that nothing is written into it now"}]})");
  for (const std::size_t columns : {80U, 60U, 40U}) {
    render_.columns = columns;
    std::istringstream lines{timeline(long_reason, render_)};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
  }
}

TEST_F(Timeline, ShowsPendingReason) {
  EXPECT_EQ(outcome(waiting(R"("pendingReason":"Bob is paused")"), render_), "pending: Bob is paused");
  EXPECT_EQ(outcome(waiting(R"("offlineSince":1748779140000,"pendingReason":"it is offline")"), render_),
            "pending: Bob is offline since 11:59");
  EXPECT_EQ(
      outcome(waiting(R"("attempts":2,"availableAt":1748779272000,"pendingReason":"the callback failed")"), render_),
      "pending: the callback failed; next attempt at 12:01:12, in 12 s (2 failed attempts so far)");
  EXPECT_EQ(outcome(waiting(R"("lane":0)"), render_), "pending: Bob has not accepted it yet");
  EXPECT_NE(timeline(waiting(R"("lane":0)"), render_).find("  ○  "), std::string::npos);
}

TEST_F(Timeline, ClaimsNoMoreThanProof) {
  const auto delivered = [&](const std::string& proof) {
    return outcome(trace(R"({"deliveryId":"d-1","to":"Bob","state":"delivered","proof":")" + proof +
                         R"(","history":[{"at":1748779200020,"state":"delivered","proof":"x"}]})"),
                   render_);
  };
  EXPECT_EQ(delivered("seen"), "Bob's agent saw it 20 ms after you sent it");
  EXPECT_EQ(delivered("submitted"),
            "it was submitted to Bob's agent 20 ms after you sent it; no evidence that the model read it");
  EXPECT_EQ(delivered("accepted"), "Bob received it 20 ms after you sent it");
  const auto read = trace(R"({"deliveryId":"d-1","to":"Bob","state":"delivered","proof":"seen","history":)"
                          R"([{"at":1748779200020,"state":"delivered","proof":"seen","reason":"read in the inbox"}]})");
  EXPECT_EQ(outcome(read, render_), "Bob read it with `inbox` 20 ms after you sent it");
  render_.reader = "Carol";
  EXPECT_EQ(delivered("accepted"), "Bob received it 20 ms after Alice sent it");
}

TEST_F(Timeline, ShowsHowToRedeliver) {
  const auto ended = [&](const std::string& state, const std::string& reason = "no answer") {
    return outcome(trace(R"({"deliveryId":"d-1","to":"Bob","attempts":8,"state":")" + state +
                         R"(","history":[{"at":1748779200020,"state":"x","reason":")" + reason + R"("}]})"),
                   render_);
  };
  EXPECT_EQ(ended("dead"),
            "given up after 8 failed attempts: no answer; redeliver it with: agent-relay dead redeliver d-1");
  EXPECT_EQ(ended("in_doubt"),
            "in doubt: no answer; it may have arrived; redeliver it with: agent-relay dead redeliver d-1");
  EXPECT_EQ(ended("expired"), "expired: no answer; redeliver it with: agent-relay dead redeliver d-1");
  EXPECT_EQ(ended("cancelled"), "cancelled: no answer");
  EXPECT_EQ(ended("cancelled", "cancelled by Alice"), "cancelled by Alice");
}

TEST_F(Timeline, SummarizesSeveralRecipients) {
  const auto text = timeline(trace(std::string{kSeen} + R"(,{"deliveryId":"d-2","to":"Carol","state":"queued"},
      {"deliveryId":"d-3","to":"Dave","state":"in_doubt"})"),
                             render_);
  EXPECT_TRUE(text.ends_with("\n3 recipients: 1 delivered, 1 in doubt, 1 pending\n")) << text;
  EXPECT_NE(timeline(trace(""), render_).find("there is no recipient"), std::string::npos);
}

TEST_F(Timeline, SanitizesForeignText) {
  auto evil = trace(R"({"deliveryId":"d-1","to":"B\u001b[2Job","state":"deferred","pendingReason":"\u001b]0;x\u0007",
      "history":[{"at":1,"state":"\u001b[31m","reason":"a\nb","evidence":"\u001b[H","via":"\u001b[J"}]})");
  EXPECT_EQ(timeline(evil, render_).find('\x1b'), std::string::npos);
  EXPECT_EQ(timeline({}, render_), "\n  stored; there is no recipient\n");
}

TEST_F(Timeline, IsFinalWhenEveryDeliveryIsFinal) {
  EXPECT_TRUE(is_final_state(trace(kSeen)));
  EXPECT_FALSE(is_final_state(trace(std::string{kSeen} + R"(,{"state":"deferred"})")));
}

}  // namespace
}  // namespace relay::cli
