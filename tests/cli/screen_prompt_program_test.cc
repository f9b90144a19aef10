// Prompts on the screen of an agent without native interfaces: the real daemon and host, and a scripted agent in a real
// terminal. They are answered with the keys of its profile, only while exactly that dialog is on the screen.
#include <signal.h>

#include <fstream>
#include <sstream>

#include "base/format.h"
#include "cli/prompts.h"
#include "cli/wire/host_connection.h"
#include "host/control/running_hosts.h"

namespace relay::cli_tests {
namespace {

struct ScreenPrompts : PromptingAgent {
  ScreenPrompts() {
    std::ostringstream profile;
    profile << std::ifstream{SCRIPTED_PROFILE}.rdbuf() << std::ifstream{SCRIPTED_DIALOGS}.rdbuf();
    box.write(box.home() + "/profiles/scripted.toml", profile.str());
    script(R"({"rules": [
      {"contains": "deploy", "dialog": {"title": "Run make deploy?", "options": ["Yes", "Always", "No"]}, "reply": "chose {answer}", "denied": "left it"},
      {"contains": "publish", "dialog": {"title": "Run npm publish?", "options": ["Yes", "Always", "No"]}, "reply": "chose {answer}", "denied": "left it"},
      {"contains": "odd", "dialog": {"title": "Run odd?", "options": ["Perhaps", "No"]}, "reply": "chose {answer}"},
      {"contains": "database", "dialog": {"kind": "question", "title": "Which database?", "options": ["SQLite", "PostgreSQL"]},
       "reply": "chose {answer}"}]})");
  }
  /// The state in `agents` of the only agent.
  std::string listed_state() {
    const auto agents = box.ok_json({"agents"});
    return member(array_member(agents, "agents")->at(0).as_object(), "state");
  }
  /// The chosen options, in order; `denied` for Esc.
  Texts answers() const {
    Texts all;
    for (const auto& event : events("Bob"))
      if (member(event, "event") == "answer") all.push_back(string_member(event, "option").value_or("denied"));
    return all;
  }
};

TEST_F(ScreenPrompts, ScreenRequestWaitsForApproval) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  const auto request = open_prompt();
  EXPECT_EQ(member(request, "command"), "make deploy");
  EXPECT_EQ(member(request, "description"), "Run make deploy?");
  EXPECT_TRUE(bool_member(request, "canAnswer").value_or(false));
  EXPECT_TRUE(answers().empty()) << "it waits for the answer";
  EXPECT_EQ(box.ok({"permissions"}).find("truncated"), std::string::npos) << "the request is complete";
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"}) << "approve returns after the answer";
  EXPECT_TRUE(until([&] { return resolutions() == Texts{"approved by human"}; }));
  EXPECT_TRUE(until([&] { return texts("Bob", "replied") == Texts{"chose Yes"}; })) << "it continues";
  EXPECT_TRUE(until([&] { return open_prompts().empty(); }));
}

TEST_F(ScreenPrompts, LongRequestIsTruncatedWithHint) {
  script(R"({"rules": [{"contains": "deploy", "dialog":
      {"title": "Run make deploy-of-every-target with-every-option and-the-last-one?", "options": ["Yes", "No"]}}]})");
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)open_prompt();
  Terminal narrow{box, {"permissions"}};
  narrow.finish();
  EXPECT_EQ(narrow.screen().find("and-the-last-one"), std::string::npos) << narrow.screen();
  EXPECT_NE(narrow.unwrapped().find("agent-relay attach Bob --print"), std::string::npos) << narrow.screen();
  EXPECT_NE(box.ok({"permissions"}).find("and-the-last-one"), std::string::npos) << "not truncated for scripts";
}

TEST_F(ScreenPrompts, BlockedStateIsReportedWithRequest) {
  auto& bob = start("Bob");
  bob.type("database\r");
  box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  EXPECT_NE(box.ok({"questions", "--json"}).find("Which database?"), std::string::npos);
}

/// The time that the host waits for the daemon to store a request (kStoreTimeout in src/host/daemon_session.cc).
constexpr std::chrono::milliseconds kStoreTimeout{2'000};

// The next two tests hold on slow machines too: before the timeout, the request of a blocked agent is stored; while the
// daemon is stopped, no agent is blocked before the timeout.

TEST_F(ScreenPrompts, BlockedStateFollowsListedRequest) {
  auto& bob = start("Bob");
  ASSERT_TRUE(is_connected("Bob"));
  const auto start_time = std::chrono::steady_clock::now();
  bob.type("deploy\r");
  box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  const auto elapsed = std::chrono::steady_clock::now() - start_time;
  const auto listed = open_prompts().size();
  if (elapsed < kStoreTimeout) { EXPECT_EQ(listed, 1u); }
  EXPECT_TRUE(until([&] { return open_prompts().size() == 1; }));
}

TEST_F(ScreenPrompts, HostReportsBlockedStateWithoutDaemon) {
  auto& bob = start("Bob");
  ASSERT_TRUE(is_connected("Bob"));
  ::kill(box.daemon_pid(), SIGSTOP);
  const auto start_time = std::chrono::steady_clock::now();
  bob.type("deploy\r");
  const auto wait = box.run({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  const auto elapsed = std::chrono::steady_clock::now() - start_time;
  ::kill(box.daemon_pid(), SIGCONT);
  EXPECT_EQ(wait.code, 0) << wait.err;
  EXPECT_GE(elapsed, kStoreTimeout) << "the daemon did not list it";
  EXPECT_TRUE(until([&] { return open_prompts().size() == 1; }));
}

TEST_F(ScreenPrompts, ReasonUnsupportedByDialogIsRefused) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)open_prompt();
  const auto refused = box.run({"deny", "Bob", "--message", "use the staging server"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("Bob's dialog accepts no message"), std::string::npos) << refused.err;
  EXPECT_TRUE(answers().empty()) << "nothing was answered";
  box.ok({"deny", "Bob"});
}

TEST_F(ScreenPrompts, DenialUsesDenyChoice) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)open_prompt();
  box.ok({"deny", "Bob"});
  EXPECT_EQ(answers(), Texts{"No"});
  EXPECT_TRUE(until([&] { return resolutions() == Texts{"denied by human"}; }));
}

TEST_F(ScreenPrompts, QuestionIsAnsweredWithChoice) {
  auto& bob = start("Bob");
  bob.type("which database\r");
  EXPECT_EQ(member(open_prompt("questions"), "question"), "Which database?");
  const auto refused = box.run({"answer", "Bob", "DuckDB"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("SQLite; PostgreSQL"), std::string::npos) << refused.err;
  box.ok({"answer", "Bob", "PostgreSQL"});
  EXPECT_EQ(answers(), Texts{"PostgreSQL"});
  EXPECT_TRUE(until([&] { return resolutions("question.resolved") == Texts{"PostgreSQL by human"}; }));
}

TEST_F(ScreenPrompts, ClosedOrReplacedDialogIsNotAnswered) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  const auto first = member(open_prompt(), "requestId");
  bob.type("\x1b");
  ASSERT_TRUE(until([&] { return answers() == Texts{"denied"}; }));
  EXPECT_NE(box.run({"approve", "Bob", "--prompt", first}).code, 0);
  bob.type("publish\r");
  ASSERT_TRUE(until([&] { return count("Bob", "dialog") == 2; }));
  EXPECT_NE(box.run({"approve", "Bob", "--prompt", first}).code, 0);
  ASSERT_TRUE(until([&] { return resolutions() == Texts{"withdrawn by human"}; }));
  const auto second = open_prompt();
  EXPECT_EQ(member(second, "command"), "npm publish");
  EXPECT_EQ(answers(), Texts{"denied"}) << "the other dialog is not answered";
  box.ok({"approve", "Bob", "--prompt", member(second, "requestId")});
  EXPECT_EQ(answers(), (Texts{"denied", "Yes"}));
}

TEST_F(ScreenPrompts, AnswerIsRefusedWhileUserTypes) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)open_prompt();
  bob.type("\x1b[B");
  ASSERT_TRUE(until([&] { return bob.screen().find("❯ 2. Always") != std::string::npos; }));
  const auto refused = box.run({"approve", "Bob"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("typed"), std::string::npos) << refused.err;
  EXPECT_TRUE(answers().empty());
  read_terminals_for(Millis{1'700});  // the user has stopped typing
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"}) << "the cursor is moved back first";
}

TEST_F(ScreenPrompts, UnknownDialogIsLeftToUser) {
  auto& bob = start("Bob");
  bob.type("something odd\r");
  EXPECT_FALSE(bool_member(open_prompt(), "canAnswer").value_or(true));
  const auto refused = box.run({"approve", "Bob"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("screen"), std::string::npos) << refused.err;
  EXPECT_TRUE(answers().empty());
}

/// Dialogs that agents show in a new home or folder, before their first composer.
struct FirstRun : ScreenPrompts {
  FirstRun() {
    std::ofstream{box.home() + "/profiles/scripted.toml", std::ios::app} << R"(
[[setup]]
name = "folder-trust"
kind = "permission"
first = '^ Do you trust this folder\?'
choice = '^ [❯ ] \d+\. (\S.*)$'
mark = '^ ❯'
below = '^ Enter to confirm '
approve = '^Yes$'
deny = '^No$'
)";
  }
  void script_start_dialog(const std::string& title) {
    script(format(R"({{"moments": [{{"when": "start", "dialog": {{"title": "{}", "options": ["No", "Yes"]}}}}]}})",
                  title));
  }
};

TEST_F(FirstRun, FirstRunDialogIsBlockedAndAnswered) {
  script_start_dialog("Do you trust this folder?");
  (void)start("Bob");
  EXPECT_EQ(box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"}), "Bob is blocked\n");
  const auto request = open_prompt();
  EXPECT_EQ(member(request, "tool"), "folder-trust");
  EXPECT_EQ(member(request, "description"), "Do you trust this folder?");
  EXPECT_NE(box.ok({"explain", "Bob"}).find("agent-relay approve Bob"), std::string::npos);
  const auto message_id = send("Bob", "hello");
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"}) << "the cursor was on No";
  EXPECT_TRUE(until([&] { return resolutions() == Texts{"approved by human"}; }));
  EXPECT_TRUE(reaches_state(message_id, "delivered")) << "it works now";
}

TEST_F(FirstRun, DialogRunsNotifyCommand) {
  const auto output = box.project() + "/notifications";
  const auto program = write_notify_program(output);
  box.write(box.home() + "/config.toml", "[notify]\ncommand = \"" + program + "\"\n");
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  const auto lines = [&] {
    Texts all;
    std::istringstream text{file_contents(output)};
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  };
  script_start_dialog("Do you trust this folder?");
  (void)start("Bob");
  ASSERT_TRUE(until([&] { return lines().size() == 1; }));
  EXPECT_TRUE(lines()[0].starts_with("Bob permission ")) << lines()[0];
  EXPECT_NE(lines()[0].find("Do you trust this folder?"), std::string::npos) << lines()[0];
  script_start_dialog("A question of a later release");
  (void)start("Carol");
  ASSERT_TRUE(until([&] { return lines().size() >= 2; })) << "its text has several lines";
  EXPECT_TRUE(lines()[1].starts_with("Carol question ")) << "including an unknown screen: " << lines()[1];
}

TEST_F(FirstRun, AgentWithoutOutputIsStarting) {
  start_program("Bob", {"--profile", "scripted", "sleep", "600"}, "");
  EXPECT_TRUE(until([&] { return listed_state() == "starting"; })) << listed_state();
  EXPECT_EQ(member(box.ok_json({"explain", "Bob"}), "state"), "starting");
  EXPECT_NE(box.ok({"agents"}).find("starting"), std::string::npos);
  const auto record = host::find_host(box.workspace_directory() + "/hosts", "Bob");
  ASSERT_TRUE(record);
  auto host = cli::HostConnection::open(*record);
  ASSERT_TRUE(host && host->request({{"method", "watch"}}));
  const auto next_event = host->next(cli::in(Millis{10'000}));
  ASSERT_TRUE(next_event) << "the event that `wait` follows";
  EXPECT_EQ(member(*next_event, "event") + " " + member(*next_event, "state"), "state starting");
  EXPECT_EQ(box.run({"wait", "Bob", "--until", "idle", "--timeout", "100ms"}).code, 4);
  Texts states;
  for (const auto& event : events_of_type("agent.status")) states.push_back(member(event, "state"));
  EXPECT_EQ(states, Texts{"starting"});
}

TEST_F(ScreenPrompts, DraftInComposerIsTyping) {
  auto& bob = start("Bob");
  box.ok({"wait", "Bob", "--until", "idle", "--timeout", "20s"});
  bob.type("half a li");
  EXPECT_EQ(box.ok({"wait", "Bob", "--until", "typing", "--timeout", "20s"}), "Bob is typing\n");
  EXPECT_EQ(member(box.ok_json({"explain", "Bob"}), "state"), "typing");
  const auto last_state = [&] {
    const auto states = events_of_type("agent.status");
    return states.empty() ? "" : member(states.back(), "state");
  };
  EXPECT_TRUE(until([&] { return listed_state() == "typing"; })) << listed_state();
  EXPECT_NE(box.ok({"agents"}).find("typing"), std::string::npos);
  EXPECT_TRUE(until([&] { return last_state() == "typing"; })) << last_state();
  bob.type(std::string(9, '\x7f'));
  box.ok({"wait", "Bob", "--until", "idle", "--timeout", "20s"});
  EXPECT_TRUE(until([&] { return listed_state() == "idle" && last_state() == "idle"; }))
      << listed_state() << last_state();
}

TEST_F(FirstRun, UnknownScreenIsReportedAndNotTypedInto) {
  script_start_dialog("A question of a later release");
  (void)start("Bob");
  const auto question = open_prompt("questions");
  EXPECT_TRUE(member(question, "question").starts_with("the agent shows an unrecognized screen:\n"));
  EXPECT_NE(member(question, "question").find("A question of a later release"), std::string::npos);
  EXPECT_FALSE(bool_member(question, "canAnswer").value_or(true));
  EXPECT_EQ(box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"}), "Bob is blocked\n");
  EXPECT_NE(box.ok({"questions"}).find("agent-relay attach Bob"), std::string::npos);
  EXPECT_NE(box.ok({"explain", "Bob"}).find("agent-relay attach Bob"), std::string::npos);
  const auto message_id = send("Bob", "hello");
  EXPECT_NE(box.run({"answer", "Bob", "No"}).code, 0);
  EXPECT_TRUE(is_pending_because(message_id, "the screen is not recognized"));
  EXPECT_EQ(typed("Bob", 'h'), 0u);
  EXPECT_TRUE(answers().empty());
}

TEST_F(ScreenPrompts, RulesNeverApproveScreenPrompts) {
  box.write(box.home() + "/config.toml",
            "[[permissions]]\ntool = \"run\"\ncommand = \"make deploy\"\naction = \"approve\"\n");
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)open_prompt();
  read_terminals_for(Millis{500});
  EXPECT_TRUE(answers().empty());
}

/// A daemon that was started inside an agent, which runs until the end of the test.
struct DaemonInAgent : ScreenPrompts {
  std::unique_ptr<Background> agent;

  void start_daemon_with(const std::string& command) {
    box.ok({"down", "--all"});
    agent = box.start({"--no-start", "-n", "Starter", "sh", "-c", command});
    ASSERT_TRUE(until([&] { return box.daemon_pid() > 0 && box.run({"--no-start", "agents"}).code == 0; }))
        << agent->err();
  }
  void expect_user_can_answer() {
    auto& bob = start("Bob");
    bob.type("deploy\r");
    EXPECT_EQ(member(open_prompt(), "command"), "make deploy");
    const auto approved = box.run({"approve", "Bob"});
    EXPECT_EQ(approved.code, 0) << approved.err;
    EXPECT_TRUE(until([&] { return answers() == Texts{"Yes"}; }));
  }
};

TEST_F(DaemonInAgent, LetsUserApproveAfterUp) {
  start_daemon_with(program() + " up --no-http; sleep 600");
  expect_user_can_answer();
}

TEST_F(DaemonInAgent, LetsUserApproveWhileStartingCommandRuns) {
  start_daemon_with(program() + " events --follow");
  expect_user_can_answer();
}

TEST_F(DaemonInAgent, LetsUserApproveInForeground) {
  start_daemon_with(program() + " up --foreground --no-http");
  expect_user_can_answer();
}

TEST_F(ScreenPrompts, HostAnswersWithoutDaemon) {
  auto& bob = start("Bob");
  box.ok({"down", "--all"});
  bob.type("deploy\r");
  box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  ASSERT_EQ(open_prompts().size(), 1u);
  EXPECT_EQ(member(open_prompt(), "summary"), "Run make deploy?");
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"});
}

}  // namespace
}  // namespace relay::cli_tests
