#include "cli/render/event_line.h"

#include <gtest/gtest.h>

#include "events/event.h"

namespace relay::cli {
namespace {

std::string summary(std::string_view event) { return event_summary(*parse_json_object(event)); }

TEST(EventLine, DescribesEvent) {
  EXPECT_EQ(summary(R"({"type":"command.executed","command":"make test","exitCode":0,"duration":1200})"),
            "make test (exit 0, 1.2 s)");
  EXPECT_EQ(
      summary(
          R"({"type":"permission.requested","tool":"bash","command":"rm x","description":"d","riskLevel":"critical"})"),
      "bash (critical): rm x");
  EXPECT_EQ(summary(R"({"type":"message.exchanged","from":"A","to":"B","body":"one\ntwo"})"), "A → B: one two");
  EXPECT_EQ(
      summary(R"({"type":"delivery.deferred","message":{"id":"7kq2m9xa"},"proof":"stored","reason":"it is busy"})"),
      "7kq2m9xa, stored: it is busy");
  EXPECT_EQ(summary(R"({"type":"session.ended","reason":"released","summary":{"duration":65000,"itemCount":2,)"
                    R"("commandsRun":1,"filesModified":["a"]}})"),
            "released after 65 s: 2 items, 1 commands, 1 files");
  EXPECT_EQ(summary(R"({"type":"agent.status","state":"active"})"), "working")
      << "the same state as in explain and wait";
}

TEST(EventLine, ShowsNoTerminalControls) {
  EXPECT_EQ(summary("{\"type\":\"item.delta\",\"delta\":{\"content\":\"\\u001b[31mred\"}}"), "^[[31mred");
}

TEST(EventLine, DescribesEveryEventType) {
  for (const auto& kind : events::event_types()) {
    json::object event = {{"type", kind.type}, {"from", "f"}, {"to", "t"}, {"message", {{"id", "i"}}}};
    for (const auto& member : kind.object.members)
      if (!event.contains(member.name) && member.type().type_name() == "string") event[member.name] = "text";
    if (kind.type == "item.delta") event["delta"] = json::object{{"content", "c"}};
    if (kind.type == "session.started") event["agent"] = json::object{{"cli", "c"}};
    if (kind.type == "item.started") event["itemType"] = "message";
    EXPECT_FALSE(event_summary(event).empty() && kind.type != "consensus.resolved" && kind.type != "session.ended")
        << kind.type;
  }
}

}  // namespace
}  // namespace relay::cli
