// Everyday use: automatic start of the daemon, an agent's name as a command, other directories, worktrees, the inbox, the
// examples of the help.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "cli/framework/command.h"
#include "cli/sandbox.h"
#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

struct Everyday : ::testing::Test {
  /// Adds an offline agent.
  void add_agent(const std::string& name) {
    box.run({"chat", "--name", name});
    box.ok({"agents", "--all"});
  }
  std::vector<json::object> inbox(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"inbox"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<json::object> messages;
    const auto answer = box.ok_json(words);
    for (const auto& value : *array_member(answer, "messages")) messages.push_back(value.as_object());
    return messages;
  }
  std::string shell(const std::string& script) const {
    return format("cd {} && HOME={} AGENT_RELAY_HOME={} PATH={}:$PATH sh -c '{}' >/dev/null 2>&1", box.project(),
                  box.home(), box.home(), fs::path{program()}.parent_path().string(), script);
  }

  Sandbox box;
};

TEST_F(Everyday, CommandStartsDaemonWhenNeeded) {
  EXPECT_EQ(box.run({"status"}).code, 3) << "a command that only reports does not start it";
  EXPECT_EQ(box.run({"--no-start", "agents"}).code, 3);
  EXPECT_EQ(box.run({"agents", "--no-start"}).code, 3);
  EXPECT_LE(box.daemon_pid(), 0);
  const auto listed = box.run({"agents", "--all"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_FALSE(listed.err.contains("started")) << "only on a terminal";
  EXPECT_GT(box.daemon_pid(), 0);
  box.ok({"status"});
}

TEST_F(Everyday, CommandOpensWorkspaceInRunningDaemon) {
  box.ok({"up"});
  const auto pid = box.daemon_pid();
  box.enter_project("other");
  EXPECT_EQ(box.run({"--no-start", "log"}).code, 3);
  box.ok({"log"});
  EXPECT_EQ(box.daemon_pid(), pid);
}

TEST_F(Everyday, RunStartsDaemonUnlessForbidden) {
  EXPECT_EQ(box.run({"run", "--no-start", "true"}).code, 0);
  EXPECT_LE(box.daemon_pid(), 0);
  EXPECT_EQ(box.run({"run", "true"}).code, 0);
  EXPECT_GT(box.daemon_pid(), 0);
}

TEST_F(Everyday, AgentNameAsCommandRunsIt) {
  const auto bin = box.project() + "/bin";
  fs::create_directories(bin);
  for (const auto* name : {"claude", "mine"}) {
    box.write(bin + "/" + name, "#!/bin/sh\nshift $(($# - 1))\necho ran with $1\n");
    ASSERT_EQ(::chmod((bin + "/" + name).c_str(), 0700), 0);
  }
  box.set("PATH", bin + ":" + std::getenv("PATH"));
  const auto ran = box.run({"claude", "hello"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "ran with hello\n");
  EXPECT_EQ(box.run({"mine", "hello"}).code, 2) << "a program without a profile needs `run`";
}

TEST_F(Everyday, DirectoryOptionSelectsProject) {
  box.enter_project("other");
  const auto other = box.project();
  box.ok({"up"});
  box.enter_project("project");
  EXPECT_TRUE(box.ok({"-C", other, "status"}).contains(other));
  box.set("AGENT_RELAY_PROJECT", box.project());
  EXPECT_TRUE(box.ok({"-C", "..", "-C", "other", "status"}).contains(other)) << "options override variables";
  const auto missing = box.run({"-C", "/no/such/directory", "status"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.err.contains("cannot change to the directory /no/such/directory")) << missing.err;
  EXPECT_EQ(box.run({"-C"}).code, 2);
}

TEST_F(Everyday, WorkspacesAreListedOpenAndClosed) {
  EXPECT_TRUE(box.run({"workspaces"}).err.contains("no project has a workspace yet"));
  box.ok({"up"});
  box.enter_project("other");
  box.ok({"up"});
  box.ok({"down"});
  const auto listed = box.ok_json({"workspaces"});
  const auto& rows = *array_member(listed, "workspaces");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("open"), true) << "open ones come first";
  EXPECT_TRUE(string_member(rows[0].as_object(), "root")->ends_with("/project"));
  EXPECT_EQ(rows[1].at("open"), false);
  EXPECT_FALSE(string_member(rows[1].as_object(), "lastUsed").value_or("").empty());
  EXPECT_TRUE(box.ok({"workspaces"}).contains("/other    closed"));
  box.ok({"down", "--all"});
  EXPECT_EQ(array_member(box.ok_json({"workspaces"}), "workspaces")->size(), 2U) << "without a daemon too";
}

TEST_F(Everyday, LinkedWorktreesShareWorkspace) {
  const auto main = box.project(), side = fs::path{main}.parent_path().string() + "/side";
  fs::remove_all(main + "/.git");
  const auto git = format(
      "cd {} && git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m first "
      "&& git worktree add -q ../side 2>/dev/null",
      main);
  ASSERT_EQ(std::system(git.c_str()), 0);
  box.ok({"up"});
  EXPECT_EQ(string_member(*object_member(box.ok_json({"-C", side, "status"}), "project"), "root"), main);
  box.set("AGENT_RELAY_WORKSPACE", "worktree");
  EXPECT_EQ(box.run({"-C", side, "status"}).code, 3) << "it is another workspace now";
}

TEST_F(Everyday, InboxMarksMessagesReadUnlessPeeked) {
  add_agent("tester");
  box.ok({"send", "tester", "first", "--from", "ada"});
  box.ok({"inbox", "--peek"});
  auto messages = inbox({"--peek"});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].at("unread"), true) << "--peek leaves it unread";
  const auto printed = box.ok({"inbox"});
  EXPECT_TRUE(printed.starts_with("* ")) << printed;
  box.ok({"send", "tester", "second", "--from", "ada"});
  messages = inbox();
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(string_member(messages[0], "body"), "second") << "unread messages come first";
  EXPECT_EQ(messages[1].at("unread"), false);
  EXPECT_EQ(string_member(messages[1], "status"), "delivered");
  EXPECT_TRUE(inbox({"--unread"}).empty());
  EXPECT_TRUE(box.ok({"trace", *string_member(messages[1], "id")}).contains("read in the inbox"));
}

TEST_F(Everyday, InboxOfAnotherAgentStaysUnread) {
  add_agent("Bob");
  box.ok({"send", "Bob", "for Bob", "--from", "ada"});
  box.ok({"inbox", "Bob"});
  EXPECT_EQ(inbox({"Bob"}).at(0).at("unread"), true);
}

TEST_F(Everyday, BroadcastWithoutRecipientIsReported) {
  const auto sent = box.run({"send", "*", "is this read?", "--from", "ada"});
  EXPECT_EQ(sent.code, 0) << "it is stored";
  EXPECT_TRUE(sent.err.contains("there is no recipient")) << sent.err;
}

TEST_F(Everyday, MessageToEmptyChannelExplainsJoin) {
  const auto sent = box.run({"send", "#nochan", "is this read?", "--from", "ada"});
  EXPECT_EQ(sent.code, 0) << "it is stored";
  EXPECT_TRUE(sent.err.contains("#nochan has no other member")) << sent.err;
  EXPECT_TRUE(sent.err.contains("agent-relay channels join '#nochan'")) << sent.err;
  const auto result = box.ok_json({"send", "#nochan", "again", "--from", "ada"});
  EXPECT_EQ(string_member(result, "status"), "stored");
  EXPECT_EQ(integer_member(result, "recipients"), 0);
}

TEST_F(Everyday, WrongWaitValueIsUsageErrorAndSendsNothing) {
  add_agent("tester");
  for (const auto* word : {"submitted", "written", "read"}) {
    const auto ran = box.run({"send", "tester", "hi", "--wait", word, "--from", "ada"});
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_TRUE(ran.err.contains("accepted|delivered|seen")) << ran.err;
  }
  EXPECT_TRUE(inbox({"--peek"}).empty());
}

TEST_F(Everyday, UnknownProfileIsUsageErrorWithList) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"run", "--profile", "bogus", "true"},
                                                                 {"extract", "--profile", "bogus"}}) {
    const auto ran = box.run(words);
    EXPECT_EQ(ran.code, 2) << words.front() << ": " << ran.err;
    EXPECT_TRUE(ran.err.contains("unknown profile 'bogus'; known profiles: ")) << ran.err;
  }
}

TEST_F(Everyday, AsciiLocaleGetsAsciiMarks) {
  add_agent("tester");
  box.ok({"send", "tester", std::string(3000, 'x'), "--from", "ada"});
  const auto is_ascii = [](const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  EXPECT_TRUE(box.ok({"log"}).contains("ada → tester"));
  box.set("LC_ALL", "C");
  const auto log = box.ok({"log"});
  EXPECT_TRUE(log.contains("ada -> tester") && log.contains("... (3000 bytes; agent-relay read ")) << log;
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"log"}, {"inbox", "--peek"}, {"events"}, {"agents", "--all"}, {"status"}, {"dead", "--help"}, {"--help"}}) {
    const auto ran = box.run(words);
    EXPECT_TRUE(is_ascii(ran.out + ran.err)) << words.front() << "\n" << ran.out;
  }
}

TEST_F(Everyday, ExamplesOfHelpWorkInFreshProject) {
  for (const auto* name : {"agents", "channels", "config", "cost", "doctor", "inbox", "openapi", "permissions",
                           "questions", "skill", "up", "status", "workspaces", "down"}) {
    const std::string example{cli::find_command(name)->example};
    auto script = example;
    for (auto at = script.find('\''); at != std::string::npos; at = script.find('\'')) script[at] = '"';
    EXPECT_EQ(WEXITSTATUS(std::system(shell(script).c_str())), 0) << example;
  }
}

TEST_F(Everyday, ExampleOfOverviewWorksInFreshProject) {
  const auto help = box.ok({"--help"});
  const std::string prefix = "example: ", then = ", then elsewhere: ";
  const auto at = help.find(prefix), middle = help.find(then), end = help.find('\n', middle);
  ASSERT_NE(middle, std::string::npos) << help;
  const auto first = help.substr(at + prefix.size(), middle - at - prefix.size());
  const auto second = help.substr(middle + then.size(), end - middle - then.size());
  const auto bin = box.project() + "/bin";
  fs::create_directories(bin);
  box.write(bin + "/claude", "#!/bin/sh\necho the agent runs\nexec cat\n");
  ASSERT_EQ(::chmod((bin + "/claude").c_str(), 0700), 0);
  box.set("PATH", bin + ":" + fs::path{program()}.parent_path().string() + ":" + std::getenv("PATH"));
  Terminal agent{box, Terminal::Program{{"/bin/sh", "-c", first}}};
  ASSERT_TRUE(agent.shows("the agent runs")) << first << agent.screen();
  ASSERT_TRUE(eventually([&] { return box.run({"--no-start", "agents"}).out.contains("Bob"); })) << first;
  Terminal elsewhere{box, Terminal::Program{{"/bin/sh", "-c", second}}};
  EXPECT_EQ(elsewhere.finish(), 0) << second << elsewhere.screen();
  const auto message = box.ok_json({"log"});
  EXPECT_EQ(string_member(message, "to"), "Bob");
  EXPECT_EQ(string_member(message, "body"), "hello");
}

}  // namespace
}  // namespace relay::cli_tests
