#include "events/event.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "events/catalogue.h"

namespace relay::events {
namespace {

TEST(Events, AllSeventeenOfTheSpecificationAreThere) {
  for (const auto* type : {"session.started", "session.ended", "item.started", "item.delta", "item.completed",
                           "permission.requested", "permission.resolved", "question.requested", "question.resolved",
                           "message.exchanged", "agent.spawned", "agent.released", "consensus.proposed",
                           "consensus.resolved", "tokens.used", "file.operation", "command.executed"})
    EXPECT_NE(kind_named(type), nullptr) << type;
  EXPECT_EQ(kind_named("no.such"), nullptr);
  std::set<std::string_view> types;
  for (const auto& kind : kinds()) EXPECT_TRUE(types.insert(kind.type).second) << kind.type;
}

TEST(Events, AreReadAsTheyAreWritten) {
  const Event event =
      TokensUsed{.agent_name = "Bob", .model = "m", .input_tokens = 1, .output_tokens = 2, .cache_read_tokens = 3};
  EXPECT_EQ(type_of(event), "tokens.used");
  EXPECT_EQ(json::serialize(members_of(event)),
            R"({"agentName":"Bob","model":"m","inputTokens":1,"outputTokens":2,"cacheReadTokens":3})");
  const auto again = read_event("tokens.used", members_of(event));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(members_of(*again), members_of(event));
}

TEST(Events, WhatIsNotLikeItsTableIsRefusedInASentence) {
  EXPECT_EQ(read_event("item.started", {{"itemId", "1"}, {"itemType", "dance"}, {"startedAt", 1}}).error().message(),
            R"("itemType" must be one of message, tool_call, thinking, plan, search, test_run, build)");
  EXPECT_EQ(read_event("item.delta", {{"itemId", "1"}, {"delta", {{"type", "text"}}}}).error().message(),
            R"("delta.content" is missing)");
  EXPECT_EQ(read_event("delivery.created", {}).error().message(), R"("delivery.created" is no event that can be told)");
}

TEST(Events, ASchemaTellsThemApartByType) {
  schema::Components components;
  EXPECT_EQ(json::serialize(describe_events(components)), R"({"$ref":"#/components/schemas/AgentEvent"})");
  const auto all = components.take();
  EXPECT_EQ(all.at("AgentEvent").as_object().at("oneOf").as_array().size(), kinds().size());
  const auto& doubt = all.at("DeliveryInDoubtEvent").as_object().at("properties").as_object();
  EXPECT_EQ(doubt.at("type").as_object().at("const"), "delivery.in_doubt");
  EXPECT_TRUE(doubt.contains("_seq"));
}

TEST(Events, ThePageInTheRepositoryIsTheTables) {
  const std::string path = RELAY_EVENTS_PAGE;
  std::ifstream file{path};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  const auto mark = page.find("## Types\n\n");
  ASSERT_NE(mark, std::string::npos) << path;
  const auto wanted = page.substr(0, mark) + "## Types\n\n" + explain_events();
  if (std::getenv("RELAY_WRITE_DOCS") != nullptr)
    std::ofstream{path} << wanted;
  else
    EXPECT_TRUE(page == wanted) << "docs/spec/events.md is stale: RELAY_WRITE_DOCS=1 events_test";
}

TEST(Events, ThePageNamesEachType) {
  const auto page = explain_events();
  for (const auto& kind : kinds()) EXPECT_NE(page.find(kind.type), std::string::npos) << kind.type;
}

}  // namespace
}  // namespace relay::events
