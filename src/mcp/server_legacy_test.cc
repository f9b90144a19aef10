#include "mcp/testing/scripted_client.h"

namespace relay::mcp {
namespace {

struct LegacyServer : testing::ServerFixture {};

TEST_F(LegacyServer, AcceptsSupportedRevisionsAndOffersItsNewestOtherwise) {
  for (const auto revision : kLegacyRevisions)
    EXPECT_EQ(result(legacy("initialize", format(R"({{"protocolVersion":"{}"}})", revision)))["protocolVersion"],
              json::value(revision));
  for (const auto* unknown : {R"({"protocolVersion":"2031-01-01"})", R"({"protocolVersion":5})", "{}"})
    EXPECT_EQ(result(legacy("initialize", unknown))["protocolVersion"], json::value("2025-11-25"));
}

TEST_F(LegacyServer, DescribesItselfAndItsCapabilities) {
  const auto answer = result(legacy("initialize", R"({"protocolVersion":"2025-06-18","future":[1]})"));
  EXPECT_EQ(string_member(*object_member(answer, "serverInfo"), "version"), "1.2.3");
  EXPECT_EQ(string_member(answer, "instructions"), "be kind");
  EXPECT_TRUE(object_member(answer, "capabilities")->contains("tools"));
  EXPECT_FALSE(answer.contains("resultType"));
}

TEST_F(LegacyServer, RequiresAHandshake) {
  EXPECT_EQ(code(legacy("tools/list")), -32600);
  EXPECT_TRUE(result(legacy("ping")).empty());
  shake_hands();
  EXPECT_EQ(array_member(result(legacy("tools/list")), "tools")->size(), 11U);
}

TEST_F(LegacyServer, ListsToolsInAStableOrderWithSchemas) {
  shake_hands();
  const auto reservations_json = result(legacy("tools/list"));
  EXPECT_FALSE(reservations_json.contains("ttlMs"));
  const auto& first = reservations_json.at("tools").get_array().front().get_object();
  EXPECT_EQ(string_member(first, "name"), "relay_whoami");
  EXPECT_EQ(string_member(*object_member(first, "inputSchema"), "type"), "object");
  EXPECT_EQ(bool_member(*object_member(first, "annotations"), "readOnlyHint"), true);
  EXPECT_EQ(code(legacy("tools/list", R"({"cursor":"x"})")), -32602);
}

TEST_F(LegacyServer, RespondsInTheOrderCallsFinish) {
  shake_hands();
  server.on_line(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"relay_wait"}})");
  server.on_line(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay_send","arguments":{"to":"Bob"}}})");
  ASSERT_EQ(handler.calls.size(), 2U);
  EXPECT_EQ(string_member(handler.calls[1].arguments, "to"), "Bob");
  EXPECT_TRUE(responses.empty());
  server.finish(handler.calls[1].request_id, {.text = "sent", .structured = {{"id", "x"}}});
  server.finish(handler.calls[0].request_id, failed("no"));
  ASSERT_EQ(responses.size(), 2U);
  EXPECT_EQ(responses[0]["id"], json::value(1));
  EXPECT_EQ(json::serialize(result(responses[0])),
            R"({"content":[{"type":"text","text":"sent"}],"structuredContent":{"id":"x"},"isError":false})");
  EXPECT_EQ(responses[1]["id"], json::value("a"));
  EXPECT_EQ(bool_member(result(responses[1]), "isError"), true);
}

TEST_F(LegacyServer, RefusesUnknownToolsAndBadArguments) {
  shake_hands();
  EXPECT_EQ(code(legacy("tools/call", R"({"name":"rm"})")), -32602);
  EXPECT_EQ(code(legacy("tools/call", "{}")), -32602);
  EXPECT_EQ(code(legacy("tools/call", R"({"name":"relay_send","arguments":[1]})")), -32602);
  EXPECT_EQ(code(legacy("tools/call", R"({"name":"relay_spawn","arguments":{}})")), -32602);
  EXPECT_EQ(code(legacy("prompts/list")), -32601);
  EXPECT_EQ(code(legacy("server/discover")), -32601);
  EXPECT_TRUE(handler.calls.empty());
}

TEST_F(LegacyServer, CancelledCallGetsNoResponse) {
  shake_hands();
  server.on_line(R"({"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"relay_wait"}})");
  const auto cancel = [&](std::string_view id) {
    server.on_line(format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})", id));
  };
  for (const auto* other : {"1", "null", "{}", "[]", "\"2\""}) cancel(other);
  EXPECT_TRUE(handler.cancelled.empty());
  cancel("\"1\"");
  EXPECT_EQ(handler.cancelled, std::vector{handler.calls[0].request_id});
  server.finish(handler.calls[0].request_id, {.text = "too late"});
  cancel("\"1\"");
  EXPECT_TRUE(responses.empty());
  EXPECT_EQ(server.open(), 0U);
}

TEST_F(LegacyServer, ProgressRequiresAToken) {
  shake_hands();
  server.on_line(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay_wait"}})");
  server.on_line(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"relay_wait","_meta":{"progressToken":"t"}}})");
  EXPECT_FALSE(handler.calls[0].wants_progress);
  EXPECT_TRUE(handler.calls[1].wants_progress);
  for (const auto& call : handler.calls) server.progress(call.request_id, 5, 30, "waiting");
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(json::serialize(responses[0]["params"]),
            R"({"progressToken":"t","progress":5,"total":30,"message":"waiting"})");
}

TEST_F(LegacyServer, OpenRequestsAreBounded) {
  shake_hands();
  for (std::size_t i = 0; i < kMaxOpenRequests; ++i)
    server.on_line(
        format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"relay_wait"}}}})", i + 100));
  EXPECT_EQ(code(legacy("tools/call", R"({"name":"relay_wait"})")), -32000);
  EXPECT_EQ(code(legacy("tools/call", R"({"name":"relay_wait"})", 100)), -32600);  // that id is open
  EXPECT_TRUE(result(legacy("ping")).empty());
  server.finish(handler.calls[0].request_id, {.text = ""});
  server.on_line(R"({"jsonrpc":"2.0","id":100,"method":"tools/call","params":{"name":"relay_wait"}})");
  EXPECT_EQ(server.open(), kMaxOpenRequests);
}

TEST_F(LegacyServer, ReadsResourcesAndAnnouncesChanges) {
  shake_hands();
  EXPECT_EQ(code(legacy("resources/read", R"({"uri":"relay://secrets"})")), -32002);
  EXPECT_EQ(code(legacy("resources/subscribe", R"({"uri":"relay://secrets"})")), -32002);
  EXPECT_EQ(code(legacy("resources/subscribe", R"({"uri":"relay://agents"})")), -32602);
  server.on_line(R"({"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"relay://inbox"}})");
  responses.clear();
  server.finish_reading(handler.reads[0].first, json::object{{"messages", json::array{}}});
  const auto contents = result(responses[0])["contents"].get_array();
  EXPECT_EQ(string_member(contents[0].get_object(), "text"), R"({"messages":[]})");
  responses.clear();
  server.resource_changed(kInboxUri);
  EXPECT_TRUE(responses.empty());
  legacy("resources/subscribe", R"({"uri":"relay://inbox"})");
  responses.clear();
  server.resource_changed(kInboxUri);
  server.resource_changed(kAgentsUri);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(json::serialize(responses[0]),
            R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"relay://inbox"}})");
  legacy("resources/unsubscribe", R"({"uri":"relay://inbox"})");
  responses.clear();
  server.resource_changed(kInboxUri);
  EXPECT_TRUE(responses.empty());
}

TEST_F(LegacyServer, FailedReadIsAnError) {
  shake_hands();
  server.on_line(R"({"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"relay://agents"}})");
  server.finish_reading(handler.reads[0].first, fail("the daemon is offline"));
  EXPECT_EQ(code(responses[0]), -32603);
}

TEST_F(LegacyServer, BatchIsAcceptedOnlyInItsRevision) {
  const auto* batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"},3])";
  shake_hands();
  EXPECT_EQ(code(ask(batch)), -32600);
  shake_hands("2025-03-26");
  server.on_line(batch);
  ASSERT_EQ(responses.size(), 3U);
  EXPECT_EQ(responses[1]["id"], json::value(2));
  EXPECT_EQ(code(responses[2]), -32600);
  EXPECT_EQ(arrays, 1);
  EXPECT_EQ(code(ask("[]")), -32600);
}

TEST_F(LegacyServer, BatchIsAnsweredAfterItsLastResponse) {
  shake_hands("2025-03-26");
  server.on_line(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay_wait"}},)"
                 R"({"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},)"
                 R"({"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"relay://inbox"}},)"
                 R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"relay_wait"}}])");
  EXPECT_TRUE(responses.empty());
  EXPECT_TRUE(result(legacy("ping")).empty()) << "other requests do not wait for a batch";
  responses.clear();
  bool written = false;
  server.finish(handler.calls.at(0).request_id, {.text = "a message"}, [&] { written = true; });
  server.finish_reading(handler.reads.at(0).first, fail("offline"));
  EXPECT_TRUE(responses.empty());
  EXPECT_FALSE(written) << "its result has not been written yet";
  server.on_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
  ASSERT_EQ(responses.size(), 3U);
  EXPECT_EQ(arrays, 1);
  EXPECT_TRUE(written);
  EXPECT_EQ(responses[0]["id"], json::value(2));
  EXPECT_EQ(responses[1]["id"], json::value(1));
  EXPECT_EQ(code(responses[2]), -32603);
}

TEST_F(LegacyServer, BatchOfNotificationsGetsNoResponse) {
  shake_hands("2025-03-26");
  server.on_line(R"([{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"result":{}}])");
  server.on_line(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay_wait"}},)"
                 R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}])");
  EXPECT_TRUE(responses.empty());
  EXPECT_EQ(server.open(), 0U);
}

TEST_F(LegacyServer, RefusesInitializeAndModernRequestsInABatch) {
  shake_hands("2025-03-26");
  server.on_line(R"([{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}},)" +
                 modern_line("subscriptions/listen", R"("notifications":{})", 2) + "]");
  ASSERT_EQ(responses.size(), 2U);
  EXPECT_EQ(code(responses[0]), -32600);
  EXPECT_EQ(code(responses[1]), -32600);
  EXPECT_EQ(server.open(), 0U);
}

TEST_F(LegacyServer, EachRequestOfATooLargeBatchIsRefused) {
  shake_hands("2025-03-26");
  std::string batch = R"([{"jsonrpc":"2.0","method":"notifications/initialized"})";
  for (std::size_t i = 0; i < kMaxBatch; ++i) batch += format(R"(,{{"jsonrpc":"2.0","id":{},"method":"ping"}})", i);
  server.on_line(batch + "]");
  ASSERT_EQ(responses.size(), kMaxBatch);
  EXPECT_EQ(arrays, 1);
  for (std::size_t i = 0; i < kMaxBatch; ++i) {
    EXPECT_EQ(responses[i]["id"], json::value(i));
    EXPECT_EQ(code(responses[i]), -32600);
  }
}

TEST_F(LegacyServer, MalformedInputGetsAnError) {
  shake_hands();
  EXPECT_EQ(code(ask("{")), -32700);
  EXPECT_EQ(code(ask("\xff\xfe")), -32700);
  EXPECT_EQ(code(ask("42")), -32600);
  EXPECT_EQ(code(ask(R"({"id":1,"method":"ping"})")), -32600);
  EXPECT_EQ(code(ask(R"({"jsonrpc":"2.0","id":{},"method":"ping"})")), -32600);
  EXPECT_EQ(code(ask(R"({"jsonrpc":"2.0","id":1,"method":7})")), -32600);
  EXPECT_EQ(code(ask(R"({"jsonrpc":"2.0","id":1})")), -32600);
  EXPECT_EQ(code(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})")), -32602);
  EXPECT_EQ(code(ask(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(5'000, 'x') + "\"}")), -32600);
}

TEST_F(LegacyServer, IgnoresNotificationsAndResponses) {
  shake_hands();
  for (const auto* line : {"", "  ", R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})",
                           R"({"jsonrpc":"2.0","method":"notifications/of_the_future","params":{"x":1}})",
                           R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})",
                           R"({"jsonrpc":"2.0","method":"notifications/cancelled"})"})
    server.on_line(line);
  EXPECT_TRUE(responses.empty());
  server.on_line_too_long("", "");
  EXPECT_EQ(code(responses.at(0)), -32700);
}

TEST_F(LegacyServer, TooLongLineIsRefusedByItsId) {
  shake_hands();
  const auto long_text = std::string(kMaxLineBytes, 'x');
  const auto first = ask(R"({"jsonrpc":"2.0","id":"a\"b","method":"ping","params":{"id":3,"x":")" + long_text + "\"}}");
  EXPECT_EQ(first.at("id"), json::value("a\"b"));
  EXPECT_EQ(code(first), -32600);
  EXPECT_EQ(
      ask(R"({"method":"ping","params":{"id":3,"x":")" + long_text + R"("},"jsonrpc":"2.0", "id" : 17 })").at("id"),
      json::value(17));
}

TEST(CutLines, IdIsReadFromTheMessageItselfOnly) {
  const auto in_prefix = [](std::string_view text) { return json::serialize(id_of_cut_line(text, "")); };
  EXPECT_EQ(in_prefix(R"({"jsonrpc":"2.0", "id" : -5 ,"par)"), "-5");
  EXPECT_EQ(in_prefix(R"({"a":["id",{"id":1}],"b":"\",\"id\":2,","id":"x","par)"), R"("x")");
  for (const auto* none : {"", "{", R"({"id")", R"({"id":)", R"({"id":12)", R"({"id":"x)", R"({"id":null,)",
                           R"({"id":{},)", R"({"params":{"id":1,)", R"([{"id":1,)", R"({"a":"id",)", R"({"a":"\)"})
    EXPECT_EQ(in_prefix(none), "null") << none;
  EXPECT_EQ(in_prefix(R"({"id":")" + std::string(2'000, 'x') + "\","), "null");
  const auto in_end = [](std::string_view text) { return json::serialize(id_of_cut_line("", text)); };
  EXPECT_EQ(in_end(R"(xx"}, "id" : 5 } )"), "5");
  EXPECT_EQ(in_end(R"(xx"},"id":"a-b"})"), R"("a-b")");
  for (const auto* none :
       {"", "}", "5}", ":5}", R"("id":5})", R"(,"id":5)", R"(,"id":5}})", R"(,\"id":5})", R"(,"xid":5})",
        R"(,"id":"a\"b"})", R"(,"id":null})", R"(,"id":"})", R"(,"id":})", R"(,"id","x"})"})
    EXPECT_EQ(in_end(none), "null") << none;
}

}  // namespace
}  // namespace relay::mcp
