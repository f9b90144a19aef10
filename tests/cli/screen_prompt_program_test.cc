// Prompts on the screen of an agent without native interfaces: the real daemon and host, a scripted agent in a real
// terminal, answered with the keys of its profile, and only while exactly that dialog is on the screen.
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/format.h"
#include "cli/requests.h"
#include "cli/wire/host_connection.h"
#include "host/control/running_hosts.h"

namespace relay::cli_tests {
namespace {

struct ScreenPrompts : Asking {
  ScreenPrompts() {
    std::ostringstream profile;
    profile << std::ifstream{SCRIPTED_PROFILE}.rdbuf() << std::ifstream{SCRIPTED_DIALOGS}.rdbuf();
    box.write(box.home() + "/profiles/scripted.toml", profile.str());
    script(R"({"rules": [
      {"contains": "deploy", "dialog": {"title": "Run make deploy?", "options": ["Yes", "Always", "No"]}, "reply": "said {answer}", "denied": "left it"},
      {"contains": "publish", "dialog": {"title": "Run npm publish?", "options": ["Yes", "Always", "No"]}, "reply": "said {answer}", "denied": "left it"},
      {"contains": "odd", "dialog": {"title": "Run odd?", "options": ["Perhaps", "No"]}, "reply": "said {answer}"},
      {"contains": "database", "dialog": {"kind": "question", "title": "Which database?", "options": ["SQLite", "PostgreSQL"]},
       "reply": "said {answer}"}]})");
  }
  /// The chosen options, in order; `denied` for Esc.
  Texts answers() const {
    Texts all;
    for (const auto& event : events("Bob"))
      if (word(event, "event") == "answer") all.push_back(string_member(event, "option").value_or("denied"));
    return all;
  }
};

TEST_F(ScreenPrompts, ScreenRequestWaitsForApproval) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  const auto request = asked();
  EXPECT_EQ(word(request, "command"), "make deploy");
  EXPECT_EQ(word(request, "description"), "Run make deploy?");
  EXPECT_TRUE(bool_member(request, "canAnswer").value_or(false));
  EXPECT_TRUE(answers().empty()) << "it is held";
  EXPECT_EQ(box.ok({"permissions"}).find("only a part"), std::string::npos) << "all that the dialog says is there";
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"}) << "said to be done when it was";
  EXPECT_TRUE(until([&] { return resolved() == Texts{"approved by human"}; }));
  EXPECT_TRUE(until([&] { return texts("Bob", "replied") == Texts{"said Yes"}; })) << "it goes on";
  EXPECT_TRUE(until([&] { return open().empty(); }));
}

TEST_F(ScreenPrompts, LongRequestIsTruncatedWithHint) {
  script(R"({"rules": [{"contains": "deploy", "dialog":
      {"title": "Run make deploy-of-all-that-there-is with-every-option and-the-last-one?", "options": ["Yes", "No"]}}]})");
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)asked();
  Terminal narrow{box, {"permissions"}};
  narrow.finish();
  EXPECT_EQ(narrow.screen().find("and-the-last-one"), std::string::npos) << narrow.screen();
  EXPECT_NE(narrow.unfolded().find("agent-relay attach Bob --print"), std::string::npos) << narrow.screen();
  EXPECT_NE(box.ok({"permissions"}).find("and-the-last-one"), std::string::npos) << "a script gets it whole";
}

TEST_F(ScreenPrompts, BlockedStateIsReportedWithRequest) {
  auto& bob = start("Bob");
  bob.type("database\r");
  box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  EXPECT_NE(box.ok({"questions", "--json"}).find("Which database?"), std::string::npos);
}

/// How long the host waits for the daemon to store a request (kStorePatience of host/host.cc).
constexpr std::chrono::milliseconds kStoreTimeout{2'000};

// Both compare the time with what holds however slow the machine is: before the patience is over, a blocked agent's request is
// stored; while the daemon is stopped, no agent is blocked before the patience is over.

TEST_F(ScreenPrompts, BlockedStateFollowsListedRequest) {
  auto& bob = start("Bob");
  ASSERT_TRUE(is_connected("Bob"));
  const auto begin = std::chrono::steady_clock::now();
  bob.type("deploy\r");
  box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  const auto waited = std::chrono::steady_clock::now() - begin;
  const auto listed = open().size();
  if (waited < kStoreTimeout) { EXPECT_EQ(listed, 1u); }
  EXPECT_TRUE(until([&] { return open().size() == 1; }));
}

TEST_F(ScreenPrompts, HostReportsBlockedStateWithoutDaemon) {
  auto& bob = start("Bob");
  ASSERT_TRUE(is_connected("Bob"));
  ::kill(box.daemon_pid(), SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  bob.type("deploy\r");
  const auto waited = box.run({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  const auto time = std::chrono::steady_clock::now() - begin;
  ::kill(box.daemon_pid(), SIGCONT);
  EXPECT_EQ(waited.code, 0) << waited.err;
  EXPECT_GE(time, kStoreTimeout) << "the daemon did not list it";
  EXPECT_TRUE(until([&] { return open().size() == 1; }));
}

TEST_F(ScreenPrompts, ReasonUnsupportedByDialogIsRefused) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)asked();
  const auto refused = box.run({"deny", "Bob", "--message", "use the staging server"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("Bob's dialog takes no message"), std::string::npos) << refused.err;
  EXPECT_TRUE(answers().empty()) << "nothing was answered";
  box.ok({"deny", "Bob"});
}

TEST_F(ScreenPrompts, DenialUsesDenyChoice) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)asked();
  box.ok({"deny", "Bob"});
  EXPECT_EQ(answers(), Texts{"No"});
  EXPECT_TRUE(until([&] { return resolved() == Texts{"denied by human"}; }));
}

TEST_F(ScreenPrompts, QuestionIsAnsweredWithChoice) {
  auto& bob = start("Bob");
  bob.type("which database\r");
  EXPECT_EQ(word(asked("questions"), "question"), "Which database?");
  const auto refused = box.run({"answer", "Bob", "DuckDB"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("SQLite; PostgreSQL"), std::string::npos) << refused.err;
  box.ok({"answer", "Bob", "PostgreSQL"});
  EXPECT_EQ(answers(), Texts{"PostgreSQL"});
  EXPECT_TRUE(until([&] { return resolved("question.resolved") == Texts{"PostgreSQL by human"}; }));
}

TEST_F(ScreenPrompts, ClosedOrReplacedDialogIsNotAnswered) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  const auto first = word(asked(), "requestId");
  bob.type("\x1b");
  ASSERT_TRUE(until([&] { return answers() == Texts{"denied"}; }));
  EXPECT_NE(box.run({"approve", "Bob", "--prompt", first}).code, 0);
  bob.type("publish\r");
  ASSERT_TRUE(until([&] { return count("Bob", "dialog") == 2; }));
  EXPECT_NE(box.run({"approve", "Bob", "--prompt", first}).code, 0);
  ASSERT_TRUE(until([&] { return resolved() == Texts{"withdrawn by human"}; }));
  const auto second = asked();
  EXPECT_EQ(word(second, "command"), "npm publish");
  EXPECT_EQ(answers(), Texts{"denied"}) << "the other dialog was left alone";
  box.ok({"approve", "Bob", "--prompt", word(second, "requestId")});
  EXPECT_EQ(answers(), (Texts{"denied", "Yes"}));
}

TEST_F(ScreenPrompts, TypingUserIsNotDisturbed) {
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)asked();
  bob.type("\x1b[B");
  ASSERT_TRUE(until([&] { return bob.screen().find("❯ 2. Always") != std::string::npos; }));
  const auto refused = box.run({"approve", "Bob"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("typed"), std::string::npos) << refused.err;
  EXPECT_TRUE(answers().empty());
  let_pass(Millis{1'700});  // the user has stopped typing
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"}) << "the mark was moved back first";
}

TEST_F(ScreenPrompts, UnknownDialogIsLeftToUser) {
  auto& bob = start("Bob");
  bob.type("something odd\r");
  EXPECT_FALSE(bool_member(asked(), "canAnswer").value_or(true));
  const auto refused = box.run({"approve", "Bob"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("screen"), std::string::npos) << refused.err;
  EXPECT_TRUE(answers().empty());
}

/// What agents show in a new home or folder, before their first composer.
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
  void shows_at_start(const std::string& title) {
    script(format(R"({{"moments": [{{"when": "start", "dialog": {{"title": "{}", "options": ["No", "Yes"]}}}}]}})",
                  title));
  }
};

TEST_F(FirstRun, FirstRunDialogIsBlockedAndAnswered) {
  shows_at_start("Do you trust this folder?");
  (void)start("Bob");
  EXPECT_EQ(box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"}), "Bob is blocked\n");
  const auto request = asked();
  EXPECT_EQ(word(request, "tool"), "folder-trust");
  EXPECT_EQ(word(request, "description"), "Do you trust this folder?");
  EXPECT_NE(box.ok({"explain", "Bob"}).find("agent-relay approve Bob"), std::string::npos);
  const auto message_id = send("Bob", "hello");
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"}) << "the mark stood on No";
  EXPECT_TRUE(until([&] { return resolved() == Texts{"approved by human"}; }));
  EXPECT_TRUE(reaches_state(message_id, "delivered")) << "it is at work now";
}

TEST_F(FirstRun, DialogReachesTheNotifyCommand) {
  const auto told = box.project() + "/told";
  const auto tell = box.write(box.project() + "/tell",
                              "#!/bin/sh\necho \"$AGENT_RELAY_NOTIFY_AGENT $AGENT_RELAY_NOTIFY_KIND "
                              "$AGENT_RELAY_NOTIFY_TEXT\" >> \"" +
                                  told + "\"\n");
  ASSERT_EQ(::chmod(tell.c_str(), 0700), 0);
  box.write(box.home() + "/config.toml", "[notify]\ncommand = \"" + tell + "\"\n");
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  const auto lines = [&] {
    Texts all;
    std::ifstream file{told};
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  };
  shows_at_start("Do you trust this folder?");
  (void)start("Bob");
  ASSERT_TRUE(until([&] { return lines().size() == 1; }));
  EXPECT_TRUE(lines()[0].starts_with("Bob permission ")) << lines()[0];
  EXPECT_NE(lines()[0].find("Do you trust this folder?"), std::string::npos) << lines()[0];
  shows_at_start("A question of a release to come");
  (void)start("Carol");
  ASSERT_TRUE(until([&] { return lines().size() >= 2; })) << "its text has several lines";
  EXPECT_TRUE(lines()[1].starts_with("Carol question ")) << "also a screen that nobody described: " << lines()[1];
}

TEST_F(FirstRun, AgentWithoutOutputIsStarting) {
  start_program("Bob", {"--profile", "scripted", "sleep", "600"}, "");
  const auto listed = [&] {
    const auto agents = box.ok_json({"agents"});
    return word(array_member(agents, "agents")->at(0).as_object(), "state");
  };
  EXPECT_TRUE(until([&] { return listed() == "starting"; })) << listed();
  EXPECT_EQ(word(box.ok_json({"explain", "Bob"}), "state"), "starting");
  EXPECT_NE(box.ok({"agents"}).find("starting"), std::string::npos);
  const auto record = host::host_of(box.workspace_directory() + "/hosts", "Bob");
  ASSERT_TRUE(record);
  auto host = cli::HostConnection::open(*record);
  ASSERT_TRUE(host && host->request({{"method", "watch"}}));
  const auto seen = host->next(cli::in(Millis{10'000}));
  ASSERT_TRUE(seen) << "what `wait` follows";
  EXPECT_EQ(word(*seen, "event") + " " + word(*seen, "state"), "state starting");
  EXPECT_EQ(box.run({"wait", "Bob", "--until", "idle", "--timeout", "100ms"}).code, 4);
  Texts states;
  for (const auto& event : log("agent.status")) states.push_back(word(event, "state"));
  EXPECT_EQ(states, Texts{"starting"});
}

TEST_F(ScreenPrompts, DraftInComposerIsTyping) {
  auto& bob = start("Bob");
  box.ok({"wait", "Bob", "--until", "idle", "--timeout", "20s"});
  bob.type("half a li");
  EXPECT_EQ(box.ok({"wait", "Bob", "--until", "typing", "--timeout", "20s"}), "Bob is typing\n");
  EXPECT_EQ(word(box.ok_json({"explain", "Bob"}), "state"), "typing");
  const auto last_state = [&] {
    const auto told = log("agent.status");
    return told.empty() ? "" : word(told.back(), "state");
  };
  const auto listed = [&] {
    const auto agents = box.ok_json({"agents"});
    return word(array_member(agents, "agents")->at(0).as_object(), "state");
  };
  EXPECT_TRUE(until([&] { return listed() == "typing"; })) << listed();
  EXPECT_NE(box.ok({"agents"}).find("typing"), std::string::npos);
  EXPECT_TRUE(until([&] { return last_state() == "typing"; })) << last_state();
  bob.type(std::string(9, '\x7f'));
  box.ok({"wait", "Bob", "--until", "idle", "--timeout", "20s"});
  EXPECT_TRUE(until([&] { return listed() == "idle" && last_state() == "idle"; })) << listed() << last_state();
}

TEST_F(FirstRun, UnknownScreenIsReportedAndNotTypedInto) {
  shows_at_start("A question of a release to come");
  (void)start("Bob");
  const auto question = asked("questions");
  EXPECT_TRUE(word(question, "question").starts_with("the agent shows a screen that is not understood:\n"));
  EXPECT_NE(word(question, "question").find("A question of a release to come"), std::string::npos);
  EXPECT_FALSE(bool_member(question, "canAnswer").value_or(true));
  EXPECT_EQ(box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"}), "Bob is blocked\n");
  EXPECT_NE(box.ok({"questions"}).find("agent-relay attach Bob"), std::string::npos);
  EXPECT_NE(box.ok({"explain", "Bob"}).find("agent-relay attach Bob"), std::string::npos);
  const auto message_id = send("Bob", "hello");
  EXPECT_NE(box.run({"answer", "Bob", "No"}).code, 0);
  EXPECT_TRUE(is_pending_because(message_id, "the screen is not understood"));
  EXPECT_EQ(typed("Bob", 'h'), 0u);
  EXPECT_TRUE(answers().empty());
}

TEST_F(ScreenPrompts, RulesNeverApproveScreenPrompts) {
  box.write(box.home() + "/config.toml",
            "[[permissions]]\ntool = \"run\"\ncommand = \"make deploy\"\naction = \"approve\"\n");
  auto& bob = start("Bob");
  bob.type("deploy\r");
  (void)asked();
  let_pass(Millis{500});
  EXPECT_TRUE(answers().empty());
}

/// The daemon that `command` starts inside an agent, which stays there for the test.
struct StartedInside : ScreenPrompts {
  std::unique_ptr<Background> agent;

  void daemon_from(const std::string& command) {
    box.ok({"down", "--all"});
    agent = box.start({"--no-start", "-n", "Starter", "sh", "-c", command});
    ASSERT_TRUE(until([&] { return box.daemon_pid() > 0 && box.run({"--no-start", "agents"}).code == 0; }))
        << agent->err();
  }
  void expect_the_user_answers() {
    auto& bob = start("Bob");
    bob.type("deploy\r");
    EXPECT_EQ(word(asked(), "command"), "make deploy");
    const auto approved = box.run({"approve", "Bob"});
    EXPECT_EQ(approved.code, 0) << approved.err;
    EXPECT_TRUE(until([&] { return answers() == Texts{"Yes"}; }));
  }
};

TEST_F(StartedInside, UserApprovesThroughADaemonThatAnAgentStarted) {
  daemon_from(program() + " up --no-http; sleep 600");
  expect_the_user_answers();
}

TEST_F(StartedInside, UserApprovesWhileTheCommandThatStartedTheDaemonStillRuns) {
  daemon_from(program() + " events --follow");
  expect_the_user_answers();
}

TEST_F(StartedInside, UserApprovesThroughADaemonInTheForegroundOfAnAgent) {
  daemon_from(program() + " up --foreground --no-http");
  expect_the_user_answers();
}

TEST_F(ScreenPrompts, HostAnswersWithoutDaemon) {
  auto& bob = start("Bob");
  box.ok({"down", "--all"});
  bob.type("deploy\r");
  box.ok({"wait", "Bob", "--until", "blocked", "--timeout", "20s"});
  ASSERT_EQ(open().size(), 1u);
  EXPECT_EQ(word(asked(), "summary"), "Run make deploy?");
  box.ok({"approve", "Bob"});
  EXPECT_EQ(answers(), Texts{"Yes"});
}

}  // namespace
}  // namespace relay::cli_tests
