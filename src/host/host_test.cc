// A whole host on a clock that is moved by hand.
#include "host/host.h"

#include <algorithm>
#include <filesystem>

#include "host/delivery/injection.h"
#include "host/testing/host_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using testing::AgentKey;
using testing::AgentView;
using Lines = std::vector<std::string>;

struct HostTest : testing::HostFixture {
  Lines written;  // by the host, with what the agent's terminal showed then

  HostTest() {
    agent_options.on_written = [this](const AgentKey& key, const AgentView& shown) {
      if (!key.by_host()) return;
      const auto* what = key.kind == AgentKey::Kind::Paste       ? "paste"
                         : key.kind == AgentKey::Kind::Enter     ? "enter"
                         : key.kind == AgentKey::Kind::Backspace ? "erase"
                                                                 : "key";
      const auto line = format("{}{}", what, shown.dialog ? " into a dialog" : "");
      if (written.empty() || written.back() != line) written.push_back(line);
    };
  }
};

TEST_F(HostTest, StartsProgramAndJoinsWorkspace) {
  ASSERT_TRUE(start_host());
  loop.run_now();
  ASSERT_TRUE(daemon.connected());
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "HELLO");
  EXPECT_EQ(string_member(frames[0].payload, "agent"), "Bob");
  EXPECT_EQ(started, Lines{"started"});
  EXPECT_TRUE(user->is_raw());
  EXPECT_TRUE(std::filesystem::exists(project.file("0a1b2c3d.json")));
}

TEST_F(HostTest, StartFailsWithReasonOfProgram) {
  HostOptions failing = make_options();
  failing.start = [](pty::WindowSize, pty::ProgramListener&) -> Result<std::unique_ptr<pty::Program>> {
    return fail("no such program");
  };
  Host other{{.loop = loop, .network = *this, .random = random, .outbox = outbox}, std::move(failing)};
  const auto outcome = other.start();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message(), "no such program");
}

TEST_F(HostTest, SpawnedAgentIsStartedOnceDaemonAdmitsIt) {
  options.record.spawned = true;
  ASSERT_TRUE(start_host());
  loop.run_now();
  EXPECT_TRUE(started.empty());
  daemon.welcome();
  EXPECT_EQ(started, Lines{"started"});
}

TEST_F(HostTest, DeliveryToIdleAgentIsTypedSubmittedAndReceipted) {
  start_idle();
  deliver("d1", "build the tree");
  loop.advance(3s);
  EXPECT_TRUE(agent_has("build the tree"));
  EXPECT_TRUE(agent->prompts().front().starts_with("Relay message from Alice ["));
  EXPECT_EQ(written, (Lines{"paste", "enter"}));
  EXPECT_EQ(receipts(), (Lines{"accepted", "accepted written", "delivered submitted: the agent started to work"}));
}

TEST_F(HostTest, DeliveriesAreTypedOneTurnAfterTheOther) {
  start_idle();
  deliver("d1", "first", "Alice", 1);
  deliver("d2", "second", "Alice", 2);
  loop.advance(200ms);
  loop.advance(10s);
  ASSERT_EQ(agent->prompts().size(), 2U);
  EXPECT_TRUE(agent->prompts()[0].ends_with("first"));
  EXPECT_TRUE(agent->prompts()[1].ends_with("second"));
}

TEST_F(HostTest, NothingIsTypedIntoDraftOfUser) {
  start_idle();
  user->type("half a line");
  loop.advance(3s);
  deliver("d1", "build the tree");
  loop.advance(60s);
  EXPECT_TRUE(written.empty());
  EXPECT_EQ(agent->composer(), "half a line");
  const auto all = receipts();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all.back().starts_with("deferred: ")) << all.back();

  user->type(testing::kUserEnter);
  loop.advance(10s);
  EXPECT_TRUE(agent_has("build the tree"));
  EXPECT_EQ(agent->prompts().front(), "half a line");
}

TEST_F(HostTest, NothingIsTypedRightAfterKeyOfUser) {
  start_idle();
  user->type("x");
  loop.advance(100ms);
  user->type(testing::kUserClear);
  const auto typed = loop.now().steady;
  deliver("d1", "build the tree");
  loop.advance(1'400ms);
  EXPECT_TRUE(written.empty());
  loop.advance(3s);
  EXPECT_TRUE(agent_has("build the tree"));
  EXPECT_GE(loop.now().steady - typed, kUserIdleTime);
}

TEST_F(HostTest, NothingIsTypedWhileDialogIsOpen) {
  start_idle();
  agent->open_dialog();
  loop.advance(100ms);
  deliver("d1", "build the tree");
  loop.advance(60s);
  EXPECT_TRUE(written.empty());
  EXPECT_TRUE(agent->has_dialog());
  user->type(testing::kUserEscape);
  loop.advance(5s);
  EXPECT_FALSE(agent->has_dialog());
  EXPECT_TRUE(agent_has("build the tree"));
}

TEST_F(HostTest, EnterIsNotPressedIntoDialogThatOpensAfterPaste) {
  start_idle();
  deliver("d1", "build the tree");
  while (written.empty()) ASSERT_TRUE(loop.step());
  loop.advance(20ms);
  agent->open_dialog();
  loop.advance(60s);
  EXPECT_TRUE(agent->has_dialog()) << "it was answered";
  EXPECT_FALSE(agent_has("build the tree"));
  EXPECT_EQ(written, Lines{"paste"});
}

TEST_F(HostTest, KeysOfUserAreHeldWhileDeliveryIsUnsent) {
  start_idle();
  deliver("d1", "build the tree");
  while (written.empty()) ASSERT_TRUE(loop.step());
  user->type("mine");
  loop.advance(5s);
  ASSERT_EQ(agent->prompts().size(), 1U);
  EXPECT_TRUE(agent->prompts()[0].ends_with("build the tree")) << agent->prompts()[0];
  EXPECT_EQ(agent->composer(), "mine");
}

TEST_F(HostTest, PromptIsAnsweredWhileItsDialogIsOnScreen) {
  start_idle();
  agent->open_dialog("make all");
  loop.advance(5s);
  auto& client = connect_client();
  client.request(R"({"method":"prompts"})");
  const auto listed = client.received();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_TRUE(listed[0].contains("make all")) << listed[0];
  client.request(R"({"method":"answer","prompt":"s1","decision":"approve"})");
  loop.advance(3s);
  const auto answered = client.received();
  ASSERT_EQ(answered.size(), 1U);
  EXPECT_TRUE(answered[0].contains(R"("ok":true)")) << answered[0];
  EXPECT_FALSE(agent->has_dialog());
}

TEST_F(HostTest, PromptIsNotAnsweredOnceAnotherDialogIsOnScreen) {
  start_idle();
  agent->open_dialog("make all");
  loop.advance(5s);
  user->type(testing::kUserEscape);
  loop.advance(100ms);
  agent->open_dialog("rm -r build");
  loop.advance(5s);
  auto& client = connect_client();
  client.request(R"({"method":"answer","prompt":"s1","decision":"approve"})");
  loop.advance(3s);
  const auto answered = client.received();
  ASSERT_EQ(answered.size(), 1U);
  EXPECT_TRUE(answered[0].contains(R"("ok":false)")) << answered[0];
  EXPECT_TRUE(agent->has_dialog());
  EXPECT_TRUE(written.empty());
}

TEST_F(HostTest, CrashBetweenIntentAndOutcomeLeavesDeliveryInDoubt) {
  start_idle();
  deliver("d1", "build the tree");
  while (written.empty()) ASSERT_TRUE(loop.step());
  crash();
  written.clear();
  start_idle();
  deliver("d1", "build the tree");
  loop.advance(30s);
  EXPECT_TRUE(written.empty()) << "it was typed again";
  EXPECT_EQ(receipts(), Lines{"in_doubt: the host ended during the delivery"});
}

TEST_F(HostTest, OutcomeBeforeCrashIsReportedAgain) {
  start_idle();
  deliver("d1", "build the tree");
  loop.advance(5s);
  ASSERT_TRUE(agent_has("build the tree"));
  crash();
  written.clear();
  start_idle();
  deliver("d1", "build the tree");
  loop.advance(5s);
  EXPECT_TRUE(written.empty());
  EXPECT_EQ(receipts(), Lines{"delivered submitted: the agent started to work"});
}

TEST_F(HostTest, CommandOfAgentIsSentOnce) {
  start_idle();
  agent->set_reply("@relay:Alice done here");
  user->type("go");
  loop.advance(200ms);
  user->type(testing::kUserEnter);
  loop.advance(20s);
  Lines bodies;
  for (const auto& frame : daemon.take_frames())
    if (frame.type == "SEND") bodies.push_back(frame.to + ": " + string_member(frame.payload, "body").value_or(""));
  EXPECT_EQ(bodies, Lines{"Alice: done here"});
}

TEST_F(HostTest, ReleaseEndsProgramAndSendsBye) {
  start_idle();
  host->release({.reason = "done", .by = "Alice"});
  loop.advance(5s);
  EXPECT_TRUE(finished);
  EXPECT_FALSE(user->is_raw());
  EXPECT_EQ(host->status().describe(), "ended by SIGTERM");
  Lines types;
  for (const auto& frame : daemon.take_frames()) types.push_back(frame.type);
  EXPECT_EQ(std::ranges::count(types, "BYE"), 1);
  host->close();
  EXPECT_FALSE(std::filesystem::exists(project.file("0a1b2c3d.json")));
}

TEST_F(HostTest, DeliveryThatAgentDidNotTakeIsInDoubtWhenItEnds) {
  start_idle();
  deliver("d1", "build the tree");
  while (written.empty()) ASSERT_TRUE(loop.step());
  (void)receipts();
  agent->exit(3);
  loop.advance(5s);
  EXPECT_TRUE(finished);
  EXPECT_EQ(host->status().shell_code(), 3);
  const auto all = receipts();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back(), "in_doubt: the agent ended while it was being typed");
}

TEST_F(HostTest, OutputReachesUserUnchangedAndSlowTerminalPausesProgram) {
  start_idle();
  EXPECT_TRUE(user->output().contains("fake") || user->output().contains("╭")) << user->output();
  user->set_slow(true);
  user->type("x");
  loop.advance(1s);
  const auto before = user->output().size();
  user->type("y");
  loop.advance(1s);
  EXPECT_EQ(user->output().size(), before) << "the program continues to draw";
  user->set_slow(false);
  loop.advance(1s);
  EXPECT_GT(user->output().size(), before);
}

}  // namespace
}  // namespace relay::host
