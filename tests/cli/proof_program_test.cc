// Each proof of a delivery with its interface and evidence; and silent messages.
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
  void start_claude(const Texts& more = {}) {
    Texts command{FAKE_CLAUDE, "--script", box.project() + "/script.json", "--log", log_of("Bob")};
    command.insert(command.end(), more.begin(), more.end());
    start_program("Bob", command, "Claude stand-in");
    EXPECT_TRUE(until([&] {
      const auto explained = box.ok_json({"explain", "Bob"});
      const auto* ways = object_member(explained, "interfaces");
      return ways != nullptr && string_member(*ways, "output") == "transcript";
    }));
  }
  /// `state proof by interface: evidence` of each step, without ids and pending entries.
  Texts steps(const std::string& id) {
    Texts all;
    for (std::string line, story = trace_of(id).story; !story.empty();) {
      line = story.substr(0, story.find('\n'));
      story.erase(0, line.size() + 1);
      const auto step = parse_json_object(line).value();
      const auto member = [&](std::string_view name) { return string_member(step, name).value_or(""); };
      if (member("state") == "deferred" || member("state") == "queued") continue;
      const auto evidence = member("evidence");
      auto words = member("state") + " " + member("proof");
      if (!member("via").empty()) words += " by " + member("via");
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
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).story;
  EXPECT_EQ(steps(id),
            (Texts{"accepted accepted", "accepted written by pty", "delivered submitted by pty: status working"}))
      << trace_of(id).story;
}

TEST_F(Proofs, TypedMessageIsSeenInTranscript) {
  start_claude({"--no-inbox"});
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  const auto last = steps(id).back();
  EXPECT_TRUE(last == "delivered seen by pty: transcript" || last == "delivered seen by pty: hook UserPromptSubmit")
      << trace_of(id).story;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(id, "hello")});
}

TEST_F(Proofs, NativeDeliveryIsSeenInTranscript) {
  start_claude();
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  const auto all = steps(id);
  ASSERT_EQ(all.size(), 3u) << trace_of(id).story;
  EXPECT_EQ(all[1], "accepted written by inbox");
  EXPECT_TRUE(all[2].starts_with("delivered seen by inbox: ")) << all[2];
}

TEST_F(Proofs, UnsupportedModeStaysWithDaemon) {
  start("Bob");
  const auto id = send("Bob", "hello", {"--mode", "next-tool-call"});
  EXPECT_TRUE(is_pending_because(id, "its session cannot do next-tool-call")) << trace_of(id).story;
  const auto explained = box.ok_json({"explain", "Bob"});
  EXPECT_TRUE(array_member(explained, "pending")->empty()) << json::serialize(explained);
}

TEST_F(Proofs, PauseHoldsUnsettledMessages) {
  auto& bob = start("Bob", {"--status"});
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "submit") == 1; }));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_pending_because(id, "the agent is working")) << trace_of(id).story;
  box.ok({"pause", "Bob", "--reason", "lunch"});
  ASSERT_TRUE(is_pending_because(id, "paused by a person: lunch")) << trace_of(id).story;
  EXPECT_EQ(string_member(box.ok_json({"explain", "Bob"}), "paused"), "paused by a person: lunch");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  let_pass(1s);
  EXPECT_EQ(count("Bob", "paste"), 0u);
  box.ok({"unpause", "Bob"});
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).story;
  EXPECT_EQ(heard("Bob", "hello"), 1u);
}

TEST_F(Proofs, SilentMessageIsTypedOnlyWithAnother) {
  start("Bob", {"--status"});
  const auto quiet = send("Bob", "the build is green", {"--kind", "state"});
  ASSERT_TRUE(is_pending_because(quiet, "it does not wake the agent")) << trace_of(quiet).story;
  let_pass(1s);
  EXPECT_EQ(count("Bob", "paste"), 0u);
  const auto loud = send("Bob", "please review");
  ASSERT_TRUE(reaches_state(loud, "delivered")) << trace_of(loud).story;
  EXPECT_TRUE(reaches_state(quiet, "delivered")) << trace_of(quiet).story;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(quiet, "the build is green", " [kind:state]") + "\n" +
                                    delivered_line(loud, "please review")});
}

TEST_F(Proofs, SilentMessageSharesLineWhereLineBreakSubmits) {
  start("Bob", {"--status", "--no-paste"});
  const auto quiet = send("Bob", "the build is green", {"--kind", "state"});
  ASSERT_TRUE(is_pending_because(quiet, "it does not wake the agent")) << trace_of(quiet).story;
  const auto loud = send("Bob", "please review");
  ASSERT_TRUE(reaches_state(loud, "delivered")) << trace_of(loud).story;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(quiet, "the build is green", " [kind:state]") + " " +
                                    delivered_line(loud, "please review")});
}

TEST_F(Proofs, SilentMessageArrivesWithUserPrompt) {
  start_claude();
  const auto quiet = send("Bob", "the build is green", {"--kind", "state"});
  ASSERT_TRUE(is_pending_because(quiet, "it does not wake the agent")) << trace_of(quiet).story;
  terminal("Bob").type("what now?\r");
  ASSERT_TRUE(is_seen(quiet)) << trace_of(quiet).story;
  EXPECT_EQ(count("Bob", "left"), 0u) << "nothing was put into its inbox";
}

}  // namespace
}  // namespace relay::cli_tests
