// The proofs of a delivery, with their interfaces and evidence; silent messages.
#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

struct Proofs : Agents {
  Proofs() {
    script(R"({"rules": [{"contains": "take your time", "work_ms": 3000}]})");
    box.set("CLAUDE_CONFIG_DIR", box.project() + "/claude");
  }
  /// `state proof via interface: evidence` of each history entry, without ids and pending entries.
  Texts steps(const std::string& id) {
    Texts all;
    for (const auto& step : parse_json_lines(trace_of(id).history)) {
      const auto member = [&](std::string_view name) { return string_member(step, name).value_or(""); };
      if (member("state") == "deferred" || member("state") == "queued") continue;
      const auto evidence = member("evidence");
      auto words = member("state") + " " + member("proof");
      if (!member("via").empty()) words += " via " + member("via");
      if (!evidence.empty()) words += ": " + (evidence.starts_with("transcript ") ? "transcript" : evidence);
      all.push_back(std::move(words));
    }
    return all;
  }
  bool is_seen(const std::string& id) {
    return until([&] { return trace_of(id).proof == "seen"; });
  }
};

TEST_F(Proofs, TypedMessageIsWrittenThenSubmitted) {
  start("Bob", {"--status"});
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(steps(id),
            (Texts{"accepted accepted", "accepted written via pty", "delivered submitted via pty: status working"}))
      << trace_of(id).history;
}

TEST_F(Proofs, TypedMessageIsSeenInTranscript) {
  start_hooked_claude("Bob", {"--no-inbox"});
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  const auto last = steps(id).back();
  EXPECT_TRUE(last == "delivered seen via pty: transcript" || last == "delivered seen via pty: hook UserPromptSubmit")
      << trace_of(id).history;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(id, "hello")});
}

TEST_F(Proofs, NativeDeliveryIsSeenInTranscript) {
  start_hooked_claude("Bob");
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  const auto all = steps(id);
  ASSERT_EQ(all.size(), 3u) << trace_of(id).history;
  EXPECT_EQ(all[1], "accepted written via inbox");
  EXPECT_TRUE(all[2].starts_with("delivered seen via inbox: ")) << all[2];
}

TEST_F(Proofs, UnsupportedModeStaysWithDaemon) {
  start("Bob");
  const auto id = send("Bob", "hello", {"--mode", "next-tool-call"});
  EXPECT_TRUE(is_pending_because(id, "its session does not support next-tool-call")) << trace_of(id).history;
  const auto explained = box.ok_json({"explain", "Bob"});
  EXPECT_TRUE(array_member(explained, "pending")->empty()) << json::serialize(explained);
}

TEST_F(Proofs, PauseHoldsUnsettledMessages) {
  auto& bob = start("Bob", {"--status"});
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "submit") == 1; }));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_pending_because(id, "the agent is working")) << trace_of(id).history;
  box.ok({"pause", "Bob", "--reason", "lunch"});
  ASSERT_TRUE(is_pending_because(id, "paused by the user: lunch")) << trace_of(id).history;
  EXPECT_EQ(string_member(box.ok_json({"explain", "Bob"}), "paused"), "paused by the user: lunch");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  read_terminals_for(1s);
  EXPECT_EQ(count("Bob", "paste"), 0u);
  box.ok({"unpause", "Bob"});
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(submit_count("Bob", "hello"), 1u);
}

TEST_F(Proofs, SilentMessageIsTypedOnlyWithAnother) {
  start("Bob", {"--status"});
  const auto silent = send("Bob", "the build is green", {"--kind", "state"});
  ASSERT_TRUE(is_pending_because(silent, "it does not wake the agent")) << trace_of(silent).history;
  read_terminals_for(1s);
  EXPECT_EQ(count("Bob", "paste"), 0u);
  const auto normal = send("Bob", "please review");
  ASSERT_TRUE(reaches_state(normal, "delivered")) << trace_of(normal).history;
  EXPECT_TRUE(reaches_state(silent, "delivered")) << trace_of(silent).history;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(silent, "the build is green", " [kind:state]") + "\n" +
                                    delivered_line(normal, "please review")});
}

TEST_F(Proofs, SilentMessageSharesLineWithoutBracketedPaste) {
  start("Bob", {"--status", "--no-paste"});
  const auto silent = send("Bob", "the build is green", {"--kind", "state"});
  ASSERT_TRUE(is_pending_because(silent, "it does not wake the agent")) << trace_of(silent).history;
  const auto normal = send("Bob", "please review");
  ASSERT_TRUE(reaches_state(normal, "delivered")) << trace_of(normal).history;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(silent, "the build is green", " [kind:state]") + " " +
                                    delivered_line(normal, "please review")});
}

TEST_F(Proofs, SilentMessageArrivesWithUserPrompt) {
  start_hooked_claude("Bob");
  const auto silent = send("Bob", "the build is green", {"--kind", "state"});
  ASSERT_TRUE(is_pending_because(silent, "it does not wake the agent")) << trace_of(silent).history;
  terminal("Bob").type("what now?\r");
  ASSERT_TRUE(is_seen(silent)) << trace_of(silent).history;
  EXPECT_EQ(count("Bob", "inbox"), 0u) << "its inbox is not used";
}

}  // namespace
}  // namespace relay::cli_tests
