#include "hooks/settings_text.h"

#include <gtest/gtest.h>

#include "hooks/hook_specs.h"

namespace relay::hooks {
namespace {

constexpr std::string_view kProgram = "/opt/agent-relay";

json::object one_hook() {
  return json::object{{"Stop", json::array{json::object{
                                   {"hooks", json::array{*handler_for(AgentCli::Claude, {"Stop", 5}, kProgram)}}}}}};
}

std::string with_one(std::string_view text) {
  const auto out = with_hooks(text, one_hook());
  return out ? *out : "failed: " + out.error().message();
}

TEST(SettingsText, IndentsNewFileByTwo) {
  EXPECT_EQ(with_one(""), R"({
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/agent-relay",
            "args": ["hook", "claude"],
            "timeout": 5
          }
        ]
      }
    ]
  }
}
)");
}

TEST(SettingsText, AppendsInIndentationOfFile) {
  EXPECT_EQ(with_one("{\n\t\"z\": 1.50,\n\t\"a\": {\"x\":[ 1 ]}\n}"),
            "{\n\t\"z\": 1.50,\n\t\"a\": {\"x\":[ 1 ]},\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": "
            "[\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"/opt/agent-relay\",\n\t\t\t"
            "\t\t\t\"args\": [\"hook\", \"claude\"],\n\t\t\t\t\t\t\"timeout\": "
            "5\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}");
}

TEST(SettingsText, KeepsOneLineFile) {
  EXPECT_EQ(
      with_one(R"({"a":1})"),
      R"({"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/agent-relay","args":["hook","claude"],"timeout":5}]}]}})");
  EXPECT_EQ(
      with_one(R"({"a": 1})"),
      R"({"a": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/agent-relay", "args": ["hook", "claude"], "timeout": 5}]}]}})");
}

TEST(SettingsText, RemovalRestoresBytes) {
  const auto every = hooks_for(AgentCli::Claude, kProgram);
  ASSERT_TRUE(every);
  for (const std::string_view text : {
           "{\"a\": 1}",
           "{\"a\":1}\n",
           "{\n  \"a\": 1\n}\n",
           "{\r\n    \"a\": 1\r\n}\r\n",
           "  {\n\t\"a\" : [ ] }  ",
           "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]}}",
           "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"matcher\": \"x\", \"hooks\": []}\n    ]\n  },\n  \"b\": "
           "\"\\\"]}\"\n}",
           "{\n  \"hooks\": {\"Other\": [], \"PreToolUse\": [ {\"hooks\":[]} ]},\n  \"big\": "
           "123456789012345678901234567890\n}",
           "{\n  \"hooks\": {\n    \"Stop\": \n      [ {\"hooks\": [{}]},\n        {\"hooks\": [{}]} ]\n  }\n}\n",
           "{\"hooks\":{\"\\u0053top\":[{}]}}",
       }) {
    const auto with = with_hooks(text, *every);
    ASSERT_TRUE(with) << text << with.error().message();
    EXPECT_TRUE(parse_json(*with)) << *with;
    const auto without = without_hooks(*with, AgentCli::Claude);
    ASSERT_TRUE(without);
    EXPECT_EQ(*without, text);
  }
}

TEST(SettingsText, RemovesOnlyOwnHooks) {
  const auto own_handler = json::serialize(*handler_for(AgentCli::Claude, {"Stop", 5}, kProgram));
  const auto text = R"({"hooks": {"Stop": [{"hooks": [)" + own_handler + R"(, {"command": "b"}, )" + own_handler +
                    R"(]}, {"hooks": [)" + own_handler + R"(]}], "PreToolUse": [{"matcher": "Bash", "hooks": [)" +
                    own_handler + R"(]}], "End": []}, "c": 2})";
  const auto without = without_hooks(text, AgentCli::Claude);
  ASSERT_TRUE(without);
  EXPECT_EQ(*without, R"({"hooks": {"Stop": [{"hooks": [{"command": "b"}]}], "End": []}, "c": 2})");
  EXPECT_EQ(*without_hooks(text, AgentCli::Codex), text);
}

TEST(SettingsText, RemovalLeavesEmptyObject) { EXPECT_EQ(*without_hooks(with_one("{}\n"), AgentCli::Claude), "{}\n"); }

TEST(SettingsText, ErrorNamesReason) {
  const auto why = [](std::string_view text) {
    const auto out = with_hooks(text, one_hook());
    return out ? "taken" : out.error().message();
  };
  EXPECT_NE(why("{\"a\": 1,}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(why("{\"a\": 1} // mine").find("comments"), std::string::npos);
  EXPECT_NE(why("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(why("{\"hooks\": []}").find("\"hooks\" is not an object"), std::string::npos);
  EXPECT_NE(why("{\"hooks\": {\"Stop\": {}}}").find("Stop"), std::string::npos);
  EXPECT_NE(why("{\"hooks\": {}, \"hooks\": {}}").find("twice"), std::string::npos);
  EXPECT_FALSE(without_hooks("{", AgentCli::Claude));
}

}  // namespace
}  // namespace relay::hooks
