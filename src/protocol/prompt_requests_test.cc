#include "protocol/prompt_requests.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::protocol {
namespace {

TEST(PromptRequests, OneAgentOrAll) {
  EXPECT_EQ(*parse_prompts(R"({"agent":"Bob"})"), "Bob");
  EXPECT_EQ(*parse_prompts("{}"), "");
  EXPECT_FALSE(parse_prompts(R"({"agent":7})"));
}

TEST(PromptRequests, AnswerRoundTrips) {
  const AnswerRequest answer{.agent = "Bob",
                             .request = "e6b3f29f-6af9a1c2-p1",
                             .decision = PromptDecision::Deny,
                             .answers = {"SQLite", ""},
                             .reason = "not on a Friday",
                             .by = "Alice"};
  const auto read = parse_answer(write_answer(answer));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->agent, answer.agent);
  EXPECT_EQ(read->request, answer.request);
  EXPECT_EQ(read->decision, answer.decision);
  EXPECT_EQ(read->answers, answer.answers);
  EXPECT_EQ(read->reason, answer.reason);
  EXPECT_EQ(read->by, answer.by);
}

TEST(PromptRequests, AnswerRequiresAgentRequestAndContent) {
  for (const auto* bad :
       {"{}", R"({"agent":"Bob"})", R"({"agent":"Bob","request":"r1"})", R"({"request":"r1","decision":"deny"})",
        R"({"agent":"Bob","request":"r1","decision":"perhaps"})", R"({"agent":"Bob","request":"r1","answers":"yes"})",
        R"({"agent":"Bob","request":"r1","decision":"deny","by":"a\nb"})",
        R"({"agent":"Bob","request":"r1","decision":"approve","by":"policy"})"}) {
    const auto read = parse_answer(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_FALSE(read.error().message().empty()) << bad;
  }
}

TEST(PromptRequests, AnswerIsBounded) {
  const auto with = [](std::size_t count, std::size_t bytes) {
    AnswerRequest answer{.agent = "Bob", .request = "r1"};
    answer.answers.assign(count, std::string(bytes, 'x'));
    return parse_answer(write_answer(answer)).has_value();
  };
  EXPECT_TRUE(with(16, 8 * 1024));
  EXPECT_FALSE(with(17, 1));
  EXPECT_FALSE(with(1, 8 * 1024 + 1));
}

}  // namespace
}  // namespace relay::protocol
