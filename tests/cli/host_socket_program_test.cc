// Control of an agent through its host socket: attach, explain, input, wait; and the agent's files and commands.
#include <filesystem>
#include <regex>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

struct HostSocket : Agents {
  static constexpr const char* kScript = R"({"rules": [
    {"contains": "delete", "dialog": {"title": "Run rm?", "options": ["Yes", "No"]}, "reply": "ran it", "denied": "left it"},
    {"contains": "greet", "reply": "I will.\n\n@relay:tester hello"},
    {"contains": "by file", "reply": "See.\n\n->relay-file:note"}], "default": {"reply": "fine"}})";

  HostSocket() {
    script(kScript);
    box.ok({"send", "*", "hello from tester", "--from", "tester"});
  }
  bool is_in_state(const std::string& name, const std::string& state) {
    return until([&] { return string_member(box.ok_json({"explain", name}), "state") == state; });
  }
  /// Types the words, waits for their echo and presses Enter.
  static void submit(Terminal& terminal, const std::string& words) {
    terminal.type(words);
    ASSERT_TRUE(terminal.shows(words));
    terminal.type("\r");
  }
  /// Restarts the daemon with a configuration that lets agents spawn others.
  void allow_spawns(const std::string& by_agents) {
    box.ok({"down", "--all"});
    box.write(box.home() + "/config.toml", format("[spawn]\nby_agents = \"{}\"\n", by_agents));
    box.set("PATH", fs::path{SCRIPTED_AGENT}.parent_path().string() + ":/usr/bin:/bin");
    box.ok({"up", "--no-http"});
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
  ASSERT_TRUE(receives("Bob", "before and after"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{"before and after"});
}

TEST_F(HostSocket, DriverInputCountsAsUserInput) {
  start("Bob", {"--status"});
  Terminal driver{box, {"attach", "Bob"}};
  ASSERT_TRUE(driver.shows("Scripted agent")) << driver.screen();
  driver.type("half a li");
  ASSERT_TRUE(is_in_state("Bob", "typing"));
  const auto id = send("Bob", "words");
  EXPECT_TRUE(is_pending_because(id, "the composer holds a draft"));
  driver.type("ne\r");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", delivered_line(id, "words")}));
  driver.type("\x1d");
  EXPECT_EQ(driver.finish(), 0);
  EXPECT_TRUE(is_in_state("Bob", "idle")) << "it continues";
}

TEST_F(HostSocket, EveryAttachedClientSeesExit) {
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
  EXPECT_EQ(box.run({"attach", "Bob", "--print"}).code, 1) << "its socket is closed";
  // The daemon removes the exit record once the exit is durable.
  EXPECT_TRUE(eventually([&] { return fs::is_empty(box.workspace_directory() + "/hosts"); }));
}

TEST_F(HostSocket, ExplainShowsStateEvidenceAndPendingMessages) {
  auto& bob = start("Bob", {"--status"});
  submit(bob, "delete");
  ASSERT_TRUE(bob.shows("Run rm?"));
  const auto id = send("Bob", "words");
  ASSERT_TRUE(is_pending_because(id, "a dialog is open"));
  const auto explained = box.ok_json({"explain", "Bob"});
  EXPECT_EQ(string_member(explained, "state"), "blocked");
  const auto& pending = explained.at("pending").as_array().at(0).as_object();
  EXPECT_EQ(string_member(pending, "id"), id);
  EXPECT_EQ(string_member(pending, "reason"), "a dialog is open");
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
  // `wait` does not report when it starts to listen, so Bob sends repeatedly until it has received one message.
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
  EXPECT_TRUE(end->prints(R"("code":0)"));
  EXPECT_EQ(end->finish().code, 0);
  EXPECT_EQ(bob.finish(), 0);
  EXPECT_EQ(box.run({"wait", "Bob"}).code, 1);
}

TEST_F(HostSocket, CommandsNeedNoDaemon) {
  start("Bob", {"--status"});
  box.kill_daemon();
  EXPECT_EQ(string_member(box.ok_json({"explain", "Bob"}), "state"), "idle");
  EXPECT_NE(box.ok({"attach", "Bob", "--print"}).find("Scripted agent"), std::string::npos);
  const auto unknown = box.run({"explain", "Bbo"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("did you mean Bob?"), std::string::npos) << unknown.err;
}

TEST_F(HostSocket, AgentSendsByFileAndReadsInboxFile) {
  auto& bob = start("Bob", {"--status"});
  const auto id = send("Bob", "read me\n  later");
  ASSERT_TRUE(reaches_state(id, "delivered"));
  EXPECT_NE(file_contents(box.workspace_directory() + "/team/Bob/inbox.md").find("read me\n  later\n"),
            std::string::npos);

  const auto outbox = box.project() + "/.agent-relay/agents/Bob/outbox";
  ASSERT_TRUE(fs::is_directory(outbox));
  box.write(outbox + "/note", "TO: tester\n\nfrom a file\n");
  submit(bob, "by file");
  EXPECT_TRUE(until([&] { return box.ok({"inbox", "tester"}).find("from a file") != std::string::npos; }));
  EXPECT_FALSE(fs::exists(outbox + "/note")) << "sent once";

  box.set("AGENT_RELAY_NAME", "Bob");
  box.ok({"send", "tester", "from its shell"});
  EXPECT_NE(box.ok({"inbox", "tester"}).find("from its shell"), std::string::npos);
}

TEST_F(HostSocket, CorrectionsOfWrongCommandsAreLimited) {
  script(R"({"rules": [], "default": {"reply": "Well.\n\n@relay:no-such-agent hello"}})");
  auto& bob = start("Bob", {"--status"});
  submit(bob, "go");
  // Each reply is a message to an unknown agent; the host explains the refusal, and the agent replies to the explanation.
  ASSERT_TRUE(until([&] { return submit_count("Bob", "Relay: ") >= 3; }));
  read_terminals_for(Millis{3'000});
  EXPECT_LE(submit_count("Bob", "Relay: "), 4u);
}

TEST_F(HostSocket, MessagesArriveAfterSlowTerminal) {
  auto& bob = start("Bob", {"--status"});
  submit(bob, "/flood 2");  // the terminal is not read now, so the flood stops
  const auto id = parse_json_object(box.ok({"send", "Bob", "words", "--from", "tester", "--json"}))->at("id");
  EXPECT_TRUE(reaches_state(std::string{id.as_string()}, "delivered")) << "waiting reads the terminal again";
  EXPECT_EQ(submit_count("Bob", "words"), 1u);
}

TEST_F(HostSocket, AgentRunsWithoutItsFolder) {
  fs::remove_all(box.project() + "/.agent-relay");
  box.write(box.project() + "/.agent-relay", "in the way");
  auto& bob = start("Bob", {"--status"});
  const auto id = send("Bob", "words");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_TRUE(bob.unwrapped().contains("move it aside")) << bob.screen();
}

TEST_F(HostSocket, SpawnCommandNeedsPermission) {
  const auto marker = box.project() + "/spawned";
  script(format(R"({{"rules": [
    {{"contains": "line", "reply": "Yes.\n\n@relay:spawn Dev scripted_agent \"count the stars\""}},
    {{"contains": "json", "reply": "Yes.\n\n@relay.json:{{\"kind\":\"spawn\",\"name\":\"Eve\",\"cli\":\"touch {}\"}}"}}],
    "default": {{"reply": "fine"}}}})",
                marker));
  auto& boss = start("Boss", {"--status"});
  for (const auto* form : {"line", "json"}) {
    submit(boss, form);
    ASSERT_TRUE(until([&] { return box.ok({"attach", "Boss", "--print"}).find("by_agents") != std::string::npos; }))
        << form << box.ok({"attach", "Boss", "--print"});
    ASSERT_TRUE(is_in_state("Boss", "idle"));
  }
  EXPECT_FALSE(fs::exists(marker));
  EXPECT_EQ(box.ok({"agents", "--names"}).find("Dev"), std::string::npos);
}

TEST_F(HostSocket, SpawnCommandStartsAgentAfterApproval) {
  allow_spawns("ask");
  script(
      R"({"rules": [{"contains": "hire", "reply": "Yes.\n\n@relay:spawn Dev scripted_agent \"count the stars\""}]})");
  auto& boss = start("Boss", {"--status"});
  submit(boss, "hire");
  ASSERT_TRUE(until([&] { return box.ok({"permissions"}).find("scripted_agent") != std::string::npos; }))
      << box.ok({"attach", "Boss", "--print"});
  EXPECT_EQ(box.ok({"agents", "--names"}).find("Dev"), std::string::npos);
  box.ok({"approve", "Boss"});
  EXPECT_TRUE(is_connected("Dev"));
}

TEST_F(HostSocket, SpawnAndReleaseCommandsWork) {
  allow_spawns("profiles");
  script(R"({"rules": [{"contains": "hire", "reply": "Yes.\n\n@relay:spawn Dev scripted_agent \"count the stars\""},
                       {"contains": "fire", "reply": "Well.\n\n@relay:release Dev"}], "default": {"reply": "fine"}})");
  auto& boss = start("Boss", {"--status"});
  submit(boss, "hire a developer");
  ASSERT_TRUE(is_connected("Dev")) << box.ok({"attach", "Boss", "--print"});
  EXPECT_TRUE(until([&] {
    return box.ok({"attach", "Dev", "--print"}).find("Relay message from Boss") != std::string::npos;
  })) << "its task is a message like any other";
  ASSERT_TRUE(is_in_state("Boss", "idle"));
  submit(boss, "fire them");
  EXPECT_TRUE(until([&] { return box.ok({"agents", "--names"}).find("Dev") == std::string::npos; }));
}

TEST_F(HostSocket, TmuxAgentIsReadAndTypedTo) {
  const auto log = box.project() + "/Bob.log";
  const auto printed =
      box.ok({"run", "--tmux", "-n", "Bob", SCRIPTED_AGENT, "--status", "--work-ms", "50", "--log", log});
  EXPECT_NE(printed.find("tmux attach -t =relay-Bob"), std::string::npos) << printed;
  const auto id = send("Bob", "words for a pane");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{delivered_line(id, "words for a pane")});
  EXPECT_NE(box.ok({"attach", "Bob", "--print"}).find("words for a pane"), std::string::npos);
  const auto second = box.run({"run", "--tmux", "-n", "Bob", SCRIPTED_AGENT});
  EXPECT_NE(second.code, 0) << "the name is in use";
  EXPECT_NE(second.err.find("attach to it with: agent-relay attach Bob (or tmux attach -t =relay-Bob)"),
            std::string::npos)
      << second.err;
  box.ok({"release", "Bob"});
  EXPECT_TRUE(until([&] { return count("Bob", "exit") == 1 || !is_running(agent_pid("Bob")); }));
}

TEST_F(HostSocket, TmuxPaneWithoutClientPrintsAttachCommand) {
  const auto socket = box.project() + "/tmux.sock";
  Terminal tmux{box,
                Terminal::Program{{"/usr/bin/tmux", "-S", socket, "new-session", "-d", "-s", "user", "sleep 1000"}}};
  ASSERT_EQ(tmux.finish(), 0) << tmux.screen();
  box.set("TMUX", socket + ",1,0");
  box.set("TMUX_PANE", "%0");
  Terminal pane{box, {"run", "--tmux", "-n", "Bob", SCRIPTED_AGENT}};
  EXPECT_EQ(pane.finish(), 0);
  EXPECT_NE(
      pane.unwrapped().find(format("Bob runs in tmux; attach to it with: tmux -S {} attach -t =relay-Bob", socket)),
      std::string::npos)
      << pane.screen();
  box.ok({"release", "Bob"});
  Terminal{box, Terminal::Program{{"/usr/bin/tmux", "-S", socket, "kill-server"}}}.finish();
}

TEST_F(HostSocket, TmuxAgentGetsInstructionsFromScript) {
  const auto agent =
      box.write(box.project() + "/opencode", "#!/bin/sh\necho $OPENCODE_CONFIG_CONTENT > config\nexec cat\n");
  fs::permissions(agent, fs::perms::owner_all);
  box.ok({"run", "--tmux", "-n", "Ola", agent});
  EXPECT_TRUE(until([&] { return file_contents(box.project() + "/config").contains("relay.md"); }));
  box.ok({"release", "Ola"});
}

}  // namespace
}  // namespace relay::cli_tests
