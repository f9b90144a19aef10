#include "events/event.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "events/catalog.h"

namespace relay::events {
namespace {

/// The events that the specification names; the program may define more.
struct SpecifiedEvent {
  std::string_view type;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional = {};
};

TEST(Events, AllSeventeenTypesOfTheSpecificationExist) {
  const std::vector<SpecifiedEvent> specified = {
      {"session.started", {"agent", "startedAt", "config"}},
      {"session.ended", {"endedAt", "reason"}, {"summary"}},
      {"item.started", {"itemId", "itemType", "startedAt"}, {"metadata"}},
      {"item.delta", {"itemId", "delta"}},
      {"item.completed", {"itemId", "completedAt", "duration"}, {"result"}},
      {"permission.requested", {"requestId", "tool", "description", "riskLevel"}, {"command", "filePath"}},
      {"permission.resolved", {"requestId", "resolution", "resolvedBy", "resolvedAt"}, {"reason"}},
      {"question.requested", {"questionId", "question"}, {"options", "defaultAnswer"}},
      {"question.resolved", {"questionId", "resolvedBy"}, {"answer"}},
      {"message.exchanged", {"from", "to", "body", "kind"}, {"thread", "channel"}},
      {"agent.spawned", {"agentName", "cli", "spawnedBy"}, {"task", "role"}},
      {"agent.released", {"agentName", "releasedBy", "reason"}},
      {"consensus.proposed", {"proposalId", "title", "proposedBy", "participants", "consensusType"}},
      {"consensus.resolved", {"proposalId", "outcome", "votes"}},
      {"tokens.used",
       {"agentName", "model", "inputTokens", "outputTokens"},
       {"cacheReadTokens", "cacheWriteTokens", "estimatedCostUsd"}},
      {"file.operation", {"operation", "filePath"}, {"linesChanged", "diff"}},
      {"command.executed", {"command", "duration"}, {"exitCode", "stdout", "stderr"}},
  };
  EXPECT_EQ(specified.size(), 17u);
  for (const auto& event : specified) {
    const auto* kind = find_event_type(event.type);
    ASSERT_NE(kind, nullptr) << event.type;
    const auto may_be_absent = [&](std::string_view name) -> std::optional<bool> {
      for (const auto& member : kind->object.members)
        if (member.name == name) return member.type().may_be_absent();
      return std::nullopt;
    };
    for (const auto name : event.required) EXPECT_EQ(may_be_absent(name), false) << event.type << " " << name;
    for (const auto name : event.optional) EXPECT_EQ(may_be_absent(name), true) << event.type << " " << name;
  }
  EXPECT_EQ(find_event_type("no.such"), nullptr);
  std::set<std::string_view> types;
  for (const auto& kind : event_types()) EXPECT_TRUE(types.insert(kind.type).second) << kind.type;
}

TEST(Events, EveryTypeHasTheEnvelope) {
  schema::Components components;
  (void)events_json_schema(components);
  const auto all = components.take();
  for (const auto& one : all.at("AgentEvent").as_object().at("oneOf").as_array()) {
    const std::string reference{one.as_object().at("$ref").as_string()};
    const auto& schema = all.at(reference.substr(reference.rfind('/') + 1)).as_object();
    for (const auto* name : {"type", "_seq", "_ts", "_sessionId", "_agentName"})
      EXPECT_TRUE(schema.at("properties").as_object().contains(name)) << reference << " " << name;
  }
}

TEST(Events, RoundTripThroughJson) {
  const Event event =
      TokensUsed{.agent_name = "Bob", .model = "m", .input_tokens = 1, .output_tokens = 2, .cache_read_tokens = 3};
  EXPECT_EQ(type_of(event), "tokens.used");
  EXPECT_EQ(json::serialize(members_of(event)),
            R"({"agentName":"Bob","model":"m","inputTokens":1,"outputTokens":2,"cacheReadTokens":3})");
  const auto again = read_event("tokens.used", members_of(event));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(members_of(*again), members_of(event));
}

TEST(Events, MalformedEventIsRefusedWithOneSentence) {
  EXPECT_EQ(read_event("item.started", {{"itemId", "1"}, {"itemType", "dance"}, {"startedAt", 1}}).error().message(),
            R"("itemType" must be one of message, tool_call, thinking, plan, search, test_run, build)");
  EXPECT_EQ(read_event("item.delta", {{"itemId", "1"}, {"delta", {{"type", "text"}}}}).error().message(),
            R"("delta.content" is missing)");
  EXPECT_EQ(read_event("delivery.created", {}).error().message(),
            R"("delivery.created" is not the type of an event that a session can report)");
}

TEST(Events, UnknownTypeErrorNamesEachGroupOnce) {
  const auto bogus = check_type("bogus");
  ASSERT_FALSE(bogus);
  const auto& sentence = bogus.error().message();
  for (const std::string_view group : {"agent", "session", "item", "delivery"}) {
    const auto named = std::string{" "} + std::string{group} + ",";
    EXPECT_EQ(sentence.find(named), sentence.rfind(named)) << sentence;
    EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
  }
}

TEST(Events, SchemaDiscriminatesByType) {
  schema::Components components;
  EXPECT_EQ(json::serialize(events_json_schema(components)), R"({"$ref":"#/components/schemas/AgentEvent"})");
  const auto all = components.take();
  EXPECT_EQ(all.at("AgentEvent").as_object().at("oneOf").as_array().size(), event_types().size());
  const auto& doubt = all.at("DeliveryInDoubtEvent").as_object().at("properties").as_object();
  EXPECT_EQ(doubt.at("type").as_object().at("const"), "delivery.in_doubt");
  EXPECT_TRUE(doubt.contains("_seq"));
}

TEST(Events, PageMatchesTables) {
  const std::string path = RELAY_EVENTS_PAGE;
  std::ifstream file{path};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  const auto mark = page.find("## Types\n\n");
  ASSERT_NE(mark, std::string::npos) << path;
  const auto expected = page.substr(0, mark) + "## Types\n\n" + events_markdown();
  if (std::getenv("RELAY_WRITE_DOCS") != nullptr)
    std::ofstream{path} << expected;
  else
    EXPECT_TRUE(page == expected) << "docs/spec/events.md is stale: RELAY_WRITE_DOCS=1 events_test";
}

TEST(Events, PageNamesEachType) {
  const auto page = events_markdown();
  for (const auto& kind : event_types()) EXPECT_NE(page.find(kind.type), std::string::npos) << kind.type;
}

}  // namespace
}  // namespace relay::events
