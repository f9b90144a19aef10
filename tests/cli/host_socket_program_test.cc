// Watching and controlling an agent through its host socket: attach, explain, input, wait; and files and commands of the
// agent.
#include <filesystem>
#include <fstream>
#include <regex>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct HostSocket : Agents {
  static constexpr const char* kScript = R"({"rules": [
    {"contains": "delete", "dialog": {"title": "Run rm?", "options": ["Yes", "No"]}, "reply": "ran it", "denied": "left it"},
    {"contains": "greet", "reply": "I will.\n\n@relay:tester hello"},
    {"contains": "by file", "reply": "See.\n\n->relay-file:note"}], "default": {"reply": "fine"}})";

  HostSocket() {
    script(kScript);
    box.ok({"send", "*", "so that tester is known", "--from", "tester"});
  }
  bool is(const std::string& name, const std::string& state) {
    return until([&] { return string_member(box.ok_json({"explain", name}), "state") == state; });
  }
};

TEST_F(HostSocket, ViewerSeesScreenLiveAndTerminalIsRestored) {
  auto& bob = start("Bob", {"--status"});
  bob.type("before");
  ASSERT_TRUE(bob.shows("before"));
  Terminal watcher{box, {"attach", "Bob", "--view"}};
  EXPECT_TRUE(watcher.shows("before")) << watcher.screen();
  bob.type(" and after");
  EXPECT_TRUE(watcher.shows("and after")) << watcher.screen();
  watcher.type("typed by mistake");
  watcher.type("q");
  EXPECT_TRUE(watcher.shows("detached from Bob"));
  EXPECT_EQ(watcher.finish(), 0);
  bob.type("\r");
  ASSERT_TRUE(hears("Bob", "before and after"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{"before and after"});
}

TEST_F(HostSocket, DriverInputCountsAsUserInput) {
  start("Bob", {"--status"});
  Terminal driver{box, {"attach", "Bob"}};
  ASSERT_TRUE(driver.shows("Scripted agent")) << driver.screen();
  driver.type("half a li");
  ASSERT_TRUE(is("Bob", "typing"));
  const auto id = send("Bob", "words");
  EXPECT_TRUE(is_pending_because(id, "the composer holds a draft"));
  driver.type("ne\r");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", delivered_line(id, "words")}));
  driver.type("\x1d");
  EXPECT_EQ(driver.finish(), 0);
  EXPECT_TRUE(is("Bob", "idle")) << "it goes on";
}

TEST_F(HostSocket, AllViewersSeeTheExit) {
  auto& bob = start("Bob", {"--status"});
  Terminal one{box, {"attach", "Bob", "--view"}}, two{box, {"attach", "Bob"}};
  ASSERT_TRUE(one.shows("Scripted agent") && two.shows("Scripted agent"));
  EXPECT_EQ(integer_member(box.ok_json({"explain", "Bob"}), "attachedClients"), 2);
  bob.type("/exit");
  ASSERT_TRUE(one.shows("/exit") && two.shows("/exit"));
  bob.type("\r");
  EXPECT_TRUE(one.shows("Bob exited")) << one.screen();
  EXPECT_TRUE(two.shows("Bob exited")) << two.screen();
  EXPECT_EQ(one.finish() + two.finish(), 0);
  EXPECT_EQ(box.run({"attach", "Bob", "--print"}).code, 1) << "its door is gone";
  // The daemon removes the exit record once the exit is durable.
  EXPECT_TRUE(eventually([&] { return fs::is_empty(box.workspace_directory() + "/hosts"); }));
}

TEST_F(HostSocket, ExplainShowsStateEvidenceAndPendingMessages) {
  auto& bob = start("Bob", {"--status"});
  bob.type("delete");
  ASSERT_TRUE(bob.shows("delete"));
  bob.type("\r");
  ASSERT_TRUE(bob.shows("Run rm?"));
  const auto id = send("Bob", "words");
  ASSERT_TRUE(is_pending_because(id, "a dialog is open"));
  const auto told = box.ok_json({"explain", "Bob"});
  EXPECT_EQ(string_member(told, "state"), "blocked");
  const auto& waiting = told.at("pending").as_array().at(0).as_object();
  EXPECT_EQ(string_member(waiting, "id"), id);
  EXPECT_EQ(string_member(waiting, "reason"), "a dialog is open");
  EXPECT_TRUE(std::regex_search(box.ok({"explain", "Bob"}), std::regex{"status +blocked"}));
  EXPECT_NE(box.ok({"status"}).find("1 for Bob: a dialog is open"), std::string::npos) << box.ok({"status"});
  const auto refused = box.run({"input", "Bob", "some text"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("shows a dialog"), std::string::npos) << refused.err;
  EXPECT_EQ(count("Bob", "answer"), 0u);
  box.ok({"input", "Bob", "--key", "Escape"});
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_TRUE(bob.shows("left it"));
  EXPECT_EQ(box.ok({"status"}).find("for Bob:"), std::string::npos);
}

TEST_F(HostSocket, UnknownKeyIsUsageErrorWithList) {
  start("Bob", {"--status"});
  const auto ran = box.run({"input", "Bob", "--key", "Escape Bogus"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(ran.err.contains("unknown key Bogus; keys are Enter, ") && ran.err.contains("PageDown")) << ran.err;
}

TEST_F(HostSocket, WaitEndsInStateOrTimesOut) {
  auto& bob = start("Bob", {"--status"});
  box.ok({"wait", "Bob", "--until", "idle", "--timeout", "10s"});
  EXPECT_EQ(box.run({"wait", "Bob", "--until", "blocked", "--timeout", "100ms"}).code, 4);
  auto end = box.start({"wait", "Bob", "--until", "exit", "--json"});
  auto message = box.start({"wait", "Bob", "--until", "message"});
  // It does not report when it starts to listen, so Bob sends repeatedly until it has received one message.
  std::chrono::steady_clock::time_point greeted{};
  EXPECT_TRUE(until([&] {
    if (message->out().find("Bob sent a message to tester") != std::string::npos) return true;
    if (const auto now = std::chrono::steady_clock::now(); now - greeted > std::chrono::seconds{3}) {
      box.ok({"input", "Bob", "greet"});
      greeted = now;
    }
    return false;
  }));
  EXPECT_EQ(message->finish().code, 0);
  box.ok({"wait", "Bob", "--timeout", "10s"});
  box.ok({"input", "Bob", "/exit"});
  EXPECT_TRUE(end->says(R"("code":0)"));
  EXPECT_EQ(end->finish().code, 0);
  EXPECT_EQ(bob.finish(), 0);
  EXPECT_EQ(box.run({"wait", "Bob"}).code, 1);
}

TEST_F(HostSocket, CommandsNeedNoDaemon) {
  start("Bob", {"--status"});
  box.kill_daemon();
  EXPECT_EQ(string_member(box.ok_json({"explain", "Bob"}), "state"), "idle");
  EXPECT_NE(box.ok({"attach", "Bob", "--print"}).find("Scripted agent"), std::string::npos);
  const auto stranger = box.run({"explain", "Bbo"});
  EXPECT_EQ(stranger.code, 1);
  EXPECT_NE(stranger.err.find("did you mean Bob?"), std::string::npos) << stranger.err;
}

TEST_F(HostSocket, AgentSendsByFileAndReadsInboxFile) {
  auto& bob = start("Bob", {"--status"});
  const auto id = send("Bob", "read me\n  later");
  ASSERT_TRUE(reaches_state(id, "delivered"));
  EXPECT_NE(content_of(box.workspace_directory() + "/team/Bob/inbox.md").find("read me\n  later\n"), std::string::npos);

  const auto outbox = box.project() + "/.agent-relay/agents/Bob/outbox";
  ASSERT_TRUE(fs::is_directory(outbox));
  box.write(outbox + "/note", "TO: tester\n\nfrom a file\n");
  bob.type("by file");
  ASSERT_TRUE(bob.shows("by file"));
  bob.type("\r");
  EXPECT_TRUE(until([&] { return box.ok({"inbox", "tester"}).find("from a file") != std::string::npos; }));
  EXPECT_FALSE(fs::exists(outbox + "/note")) << "sent once";

  box.set("AGENT_RELAY_NAME", "Bob");
  box.ok({"send", "tester", "from its shell"});
  EXPECT_NE(box.ok({"inbox", "tester"}).find("from its shell"), std::string::npos);
}

TEST_F(HostSocket, CorrectionsOfWrongCommandsAreLimited) {
  script(R"({"rules": [], "default": {"reply": "Well.\n\n@relay:nobody-there hello"}})");
  auto& bob = start("Bob", {"--status"});
  bob.type("go");
  ASSERT_TRUE(bob.shows("go"));
  bob.type("\r");
  // Each reply is a message to an unknown agent; the host explains the refusal, and the agent replies to the explanation.
  ASSERT_TRUE(until([&] { return heard("Bob", "Relay: ") >= 3; }));
  let_pass(Millis{3'000});
  EXPECT_LE(heard("Bob", "Relay: "), 4u);
}

TEST_F(HostSocket, MessagesArriveAfterSlowTerminal) {
  auto& bob = start("Bob", {"--status"});
  bob.type("/flood 2");
  ASSERT_TRUE(bob.shows("/flood 2"));
  bob.type("\r");  // the terminal is not read now, so the flood stops
  const auto id = parse_json_object(box.ok({"send", "Bob", "words", "--from", "tester", "--json"}))->at("id");
  EXPECT_TRUE(reaches_state(std::string{id.as_string()}, "delivered")) << "whoever waits reads again";
  EXPECT_EQ(heard("Bob", "words"), 1u);
}

TEST_F(HostSocket, BlockedFolderCostsFilesNotAgent) {
  fs::remove_all(box.project() + "/.agent-relay");
  box.write(box.project() + "/.agent-relay", "in the way");
  auto& bob = start("Bob", {"--status"});
  const auto id = send("Bob", "words");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_TRUE(bob.unfolded().contains("move it away")) << bob.screen();
}

TEST_F(HostSocket, SpawnCommandNeedsPermission) {
  const auto made = box.project() + "/made-by-words";
  script(format(R"({{"rules": [
    {{"contains": "line", "reply": "Yes.\n\n@relay:spawn Dev scripted_agent \"count the stars\""}},
    {{"contains": "json", "reply": "Yes.\n\n@relay.json:{{\"kind\":\"spawn\",\"name\":\"Eve\",\"cli\":\"touch {}\"}}"}}],
    "default": {{"reply": "fine"}}}})",
                made));
  auto& boss = start("Boss", {"--status"});
  const auto say = [&](const std::string& words) {
    boss.type(words);
    ASSERT_TRUE(boss.shows(words));
    boss.type("\r");
  };
  for (const auto* form : {"line", "json"}) {
    say(form);
    ASSERT_TRUE(until([&] { return box.ok({"attach", "Boss", "--print"}).find("by_agents") != std::string::npos; }))
        << form << box.ok({"attach", "Boss", "--print"});
    ASSERT_TRUE(is("Boss", "idle"));
  }
  EXPECT_FALSE(fs::exists(made));
  EXPECT_EQ(box.ok({"agents", "--names"}).find("Dev"), std::string::npos);
}

TEST_F(HostSocket, SpawnCommandStartsAgentAfterApproval) {
  box.ok({"down", "--all"});
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"ask\"\n");
  box.set("PATH", fs::path{SCRIPTED_AGENT}.parent_path().string() + ":/usr/bin:/bin");
  box.ok({"up", "--no-http"});
  script(
      R"({"rules": [{"contains": "hire", "reply": "Yes.\n\n@relay:spawn Dev scripted_agent \"count the stars\""}]})");
  auto& boss = start("Boss", {"--status"});
  boss.type("hire");
  ASSERT_TRUE(boss.shows("hire"));
  boss.type("\r");
  ASSERT_TRUE(until([&] { return box.ok({"permissions"}).find("scripted_agent") != std::string::npos; }))
      << box.ok({"attach", "Boss", "--print"});
  EXPECT_EQ(box.ok({"agents", "--names"}).find("Dev"), std::string::npos);
  box.ok({"approve", "Boss"});
  EXPECT_TRUE(is_connected("Dev"));
}

TEST_F(HostSocket, SpawnAndReleaseCommandsWork) {
  box.ok({"down", "--all"});
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"profiles\"\n");
  box.set("PATH", fs::path{SCRIPTED_AGENT}.parent_path().string() + ":/usr/bin:/bin");
  box.ok({"up", "--no-http"});
  script(R"({"rules": [{"contains": "hire", "reply": "Yes.\n\n@relay:spawn Dev scripted_agent \"count the stars\""},
                       {"contains": "fire", "reply": "Well.\n\n@relay:release Dev"}], "default": {"reply": "fine"}})");
  auto& boss = start("Boss", {"--status"});
  const auto say = [&](const std::string& words) {
    boss.type(words);
    ASSERT_TRUE(boss.shows(words));
    boss.type("\r");
  };
  say("hire somebody");
  ASSERT_TRUE(is_connected("Dev")) << box.ok({"attach", "Boss", "--print"});
  EXPECT_TRUE(until([&] {
    return box.ok({"attach", "Dev", "--print"}).find("Relay message from Boss") != std::string::npos;
  })) << "its task is a message like any other";
  ASSERT_TRUE(is("Boss", "idle"));
  say("fire them");
  EXPECT_TRUE(until([&] { return box.ok({"agents", "--names"}).find("Dev") == std::string::npos; }));
}

TEST_F(HostSocket, TmuxAgentIsReadAndTypedTo) {
  const auto log = box.project() + "/Bob.log";
  const auto said = box.ok({"run", "--tmux", "-n", "Bob", SCRIPTED_AGENT, "--status", "--work-ms", "50", "--log", log});
  EXPECT_NE(said.find("tmux attach -t =relay-Bob"), std::string::npos) << said;
  const auto id = send("Bob", "words for a pane");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{delivered_line(id, "words for a pane")});
  EXPECT_NE(box.ok({"attach", "Bob", "--print"}).find("words for a pane"), std::string::npos);
  const auto second = box.run({"run", "--tmux", "-n", "Bob", SCRIPTED_AGENT});
  EXPECT_NE(second.code, 0) << "one of that name is enough";
  EXPECT_NE(second.err.find("attach to it with: agent-relay attach Bob (or tmux attach -t =relay-Bob)"),
            std::string::npos)
      << second.err;
  box.ok({"release", "Bob"});
  EXPECT_TRUE(until([&] { return count("Bob", "exit") == 1 || !is_running(agent_pid("Bob")); }));
}

TEST_F(HostSocket, UnwatchedTmuxPanePrintsAttachCommand) {
  const auto socket = box.project() + "/desk";
  Terminal tmux{box,
                Terminal::SimClient{{"/usr/bin/tmux", "-S", socket, "new-session", "-d", "-s", "desk", "sleep 1000"}}};
  ASSERT_EQ(tmux.finish(), 0) << tmux.screen();
  box.set("TMUX", socket + ",1,0");
  box.set("TMUX_PANE", "%0");
  Terminal pane{box, {"run", "--tmux", "-n", "Bob", SCRIPTED_AGENT}};
  EXPECT_EQ(pane.finish(), 0);
  EXPECT_NE(
      pane.unfolded().find(format("Bob runs in tmux; attach to it with: tmux -S {} attach -t =relay-Bob", socket)),
      std::string::npos)
      << pane.screen();
  box.ok({"release", "Bob"});
  Terminal{box, Terminal::SimClient{{"/usr/bin/tmux", "-S", socket, "kill-server"}}}.finish();
}

TEST_F(HostSocket, TmuxAgentGetsInstructionsFromScript) {
  const auto agent =
      box.write(box.project() + "/opencode", "#!/bin/sh\necho $OPENCODE_CONFIG_CONTENT > told\nexec cat\n");
  fs::permissions(agent, fs::perms::owner_all);
  box.ok({"run", "--tmux", "-n", "Ola", agent});
  EXPECT_TRUE(until([&] { return content_of(box.project() + "/told").contains("relay.md"); }));
  box.ok({"release", "Ola"});
}

}  // namespace
}  // namespace relay::cli_tests
