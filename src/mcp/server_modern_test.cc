#include "mcp/testing/scripted_client.h"

namespace relay::mcp {
namespace {

struct ModernServer : testing::ServerFixture {
  static void expect_modern(const json::object& result) {
    EXPECT_EQ(string_member(result, "resultType"), "complete");
    const auto* meta = object_member(result, "_meta");
    ASSERT_NE(meta, nullptr);
    EXPECT_EQ(string_member(*object_member(*meta, kServerInfoKey), "name"), "agent-relay");
  }
};

TEST_F(ModernServer, CanBeDiscovered) {
  const auto answer = result(modern("server/discover"));
  expect_modern(answer);
  EXPECT_EQ(json::serialize(answer.at("supportedVersions")),
            R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"])");
  EXPECT_GT(integer_member(answer, "ttlMs"), 0);
  EXPECT_EQ(string_member(answer, "cacheScope"), "private");
  EXPECT_EQ(string_member(answer, "instructions"), "be kind");
}

TEST_F(ModernServer, NeedsNoHandshakeAndGivesListsATtl) {
  for (const auto* method : {"tools/list", "resources/list", "resources/templates/list"}) {
    const auto answer = result(modern(method));
    expect_modern(answer);
    EXPECT_TRUE(answer.contains("ttlMs") && answer.contains("cacheScope")) << method;
  }
}

TEST_F(ModernServer, UnsupportedRevisionIsRefusedWithTheSupportedOnes) {
  const auto answer = ask(
      R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2031-05-05","io.modelcontextprotocol/clientCapabilities":{}}}})");
  EXPECT_EQ(code(answer), -32022);
  const auto& data = answer.at("error").at("data").get_object();
  EXPECT_EQ(string_member(data, "requested"), "2031-05-05");
  EXPECT_EQ(array_member(data, "supported")->size(), 5U);
  EXPECT_EQ(
      code(ask(
          R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":3}}})")),
      -32022);
}

TEST_F(ModernServer, RefusesRequestsWithoutMetadata) {
  EXPECT_EQ(code(ask(R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})")), -32602);
  EXPECT_EQ(
      code(ask(
          R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})")),
      -32602);
}

TEST_F(ModernServer, HasNoLegacyMethods) {
  for (const auto* method : {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
    EXPECT_EQ(code(modern(method)), -32601) << method;
}

TEST_F(ModernServer, MarksResultsOfToolsAndResources) {
  server.on_line(modern_line("tools/call", R"("name":"relay_whoami")", 1));
  server.on_line(modern_line("resources/read", R"("uri":"relay://inbox")", 2));
  server.finish(handler.calls.at(0).request_id, {.text = "you"});
  server.finish_reading(handler.reads.at(0).first, json::object{});
  ASSERT_EQ(responses.size(), 2U);
  expect_modern(result(responses[0]));
  expect_modern(result(responses[1]));
  EXPECT_EQ(integer_member(result(responses[1]), "ttlMs"), 0);
  EXPECT_EQ(code(modern("resources/read", R"("uri":"relay://nothing")")), -32602);
}

TEST_F(ModernServer, ListenersGetTheirResourcesUntilTheyCancel) {
  server.on_line(modern_line(
      "subscriptions/listen",
      R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["relay://inbox","relay://agents","relay://x",5]})",
      4));
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(json::serialize(responses[0]),
            R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":)"
            R"({"resourceSubscriptions":["relay://inbox"]},"_meta":{"io.modelcontextprotocol/subscriptionId":4}}})");
  server.resource_changed(kAgentsUri);
  EXPECT_EQ(responses.size(), 1U);
  server.resource_changed(kInboxUri);
  ASSERT_EQ(responses.size(), 2U);
  EXPECT_EQ(responses[1].at("params").at("_meta").at(kSubscriptionKey), json::value(4));
  server.on_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
  server.resource_changed(kInboxUri);
  EXPECT_EQ(responses.size(), 2U);
  EXPECT_EQ(server.open(), 0U);
  EXPECT_EQ(code(modern("subscriptions/listen")), -32602);
}

TEST_F(ModernServer, EndsSubscriptionsWithAResultWhenItCloses) {
  server.on_line(modern_line("subscriptions/listen", R"("notifications":{})", 4));
  server.on_line(modern_line("tools/call", R"("name":"relay_whoami")", 5));
  responses.clear();
  server.close();
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0]["id"], json::value(4));
  expect_modern(result(responses[0]));
  EXPECT_EQ(server.open(), 1U);
}

TEST_F(ModernServer, ServesBothErasAtOnce) {
  shake_hands("2025-06-18");
  expect_modern(result(modern("tools/list")));
  EXPECT_FALSE(result(legacy("tools/list")).contains("resultType"));
}

}  // namespace
}  // namespace relay::mcp
