#include <gtest/gtest.h>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

/// A workspace with the offline agent Bob.
class Messaging : public ::testing::Test {
 protected:
  Messaging() {
    box_.ok({"up"});
    join("Bob");
  }

  void join(const std::string& name) { box_.ok({"chat", "--name", name}); }

  /// A chat that stays connected until the test ends.
  std::unique_ptr<Background> listen(const std::string& name) {
    auto chat = box_.start({"chat", "--name", name, "--listen"});
    EXPECT_TRUE(box_.is_connected(name));
    return chat;
  }

  std::string newest_id() {
    const auto out = box_.ok({"log", "--limit", "1", "--json"});
    return string_member(parse_json_object(out).value(), "id").value();
  }

  Sandbox box_;
};

TEST_F(Messaging, MessageToOfflineAgentStaysInInbox) {
  EXPECT_TRUE(box_.ok({"send", "Bob", "hello", "there", "--from", "Alice"}).starts_with("sent to Bob  "));
  const auto inbox = box_.ok_json({"inbox", "Bob", "--unread"});
  ASSERT_EQ(array_member(inbox, "messages")->size(), 1U);
  const auto& message = array_member(inbox, "messages")->at(0).as_object();
  EXPECT_EQ(string_member(message, "from"), "Alice");
  EXPECT_EQ(string_member(message, "body"), "hello there");
  EXPECT_NE(box_.ok({"inbox", "Bob"}).find("Alice → Bob"), std::string::npos);
  EXPECT_NE(box_.ok({"agents", "--all"}).find("Bob    offline"), std::string::npos)
      << "aligned with the longer name of Alice";
  EXPECT_NE(box_.ok({"status"}).find("1 message pending"), std::string::npos);
}

TEST_F(Messaging, PrintedIdFindsMessage) {
  const auto line = box_.ok({"send", "Bob", "find me"});
  ASSERT_TRUE(line.starts_with("sent to Bob  ")) << line;
  const auto id = line.substr(13, line.size() - 14);
  EXPECT_EQ(id, newest_id());
  EXPECT_NE(box_.ok({"read", id}).find("find me"), std::string::npos);
  EXPECT_NE(box_.ok({"trace", id}).find("to Bob"), std::string::npos);
  const auto sent = box_.ok_json({"send", "Bob", "and me"});
  EXPECT_EQ(string_member(sent, "id"), newest_id());
  EXPECT_EQ(string_member(sent, "status"), "queued") << "Bob is offline";
  EXPECT_EQ(string_member(box_.ok_json({"send", "*", "none"}), "status"), "stored") << "there is no recipient";
  const auto to_all = box_.ok({"send", "*", "all"});
  EXPECT_EQ(to_all, "sent to everyone  " + newest_id() + "\n");
  const auto alice = listen("Alice");
  const auto delivered = box_.ok({"send", "Alice", "ping", "--wait"});
  EXPECT_EQ(delivered, "delivered to Alice  " + newest_id() + "\n");
}

TEST_F(Messaging, EmptyInboxIsSuccess) {
  const auto ran = box_.run({"inbox", "Bob"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(array_member(box_.ok_json({"inbox", "Bob"}), "messages")->empty());
}

TEST_F(Messaging, UnknownNameIsRefusedWithNearest) {
  const auto ran = box_.run({"send", "Bbo", "hello"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_NE(ran.err.find("did you mean Bob? agent-relay agents --all lists"), std::string::npos) << ran.err;
  const auto far = box_.run({"send", "Zacharias", "hello"});
  EXPECT_EQ(far.code, 5);
  EXPECT_NE(far.err.find("agent-relay agents --all"), std::string::npos) << far.err;
  const auto as_json = box_.run({"send", "Bbo", "hello", "--json"});
  const auto answer = parse_json_object(as_json.out).value();
  EXPECT_EQ(string_member(*object_member(answer, "error"), "code"), "UNKNOWN_RECIPIENT");
}

TEST_F(Messaging, ConnectedNameCannotBeUsed) {
  const auto alice = listen("Alice");
  const auto ran = box_.run({"send", "Bob", "forged", "--from", "Alice"});
  EXPECT_EQ(ran.code, 5) << ran.err;
  EXPECT_NE(ran.err, "");
}

TEST_F(Messaging, WaitEndsWithProofOrTimeout) {
  const auto alice = listen("Alice");
  const auto sent = box_.ok_json({"send", "Alice", "ping", "--wait"});
  EXPECT_EQ(string_member(sent, "status"), "delivered");
  EXPECT_TRUE(alice->prints("tester: ping"));
  const auto late = box_.run({"send", "Bob", "ping", "--wait", "--timeout", "100ms"});
  EXPECT_EQ(late.code, 4);
  EXPECT_NE(late.err.find("stored, to be delivered later"), std::string::npos) << late.err;
  EXPECT_NE(late.err.find("agent-relay trace " + newest_id()), std::string::npos) << late.err;
}

TEST_F(Messaging, TextMayComeFromStdin) {
  box_.ok({"send", "Bob", "-"}, "line one\nline two\n");
  EXPECT_NE(box_.ok({"read", newest_id()}).find("\nline one\nline two\n"), std::string::npos);
  box_.ok({"send", "Bob", "-"}, std::string(500'000, 'x'));
  EXPECT_NE(box_.ok({"read", newest_id()}).find(std::string(500'000, 'x')), std::string::npos);
  const auto large = box_.run({"send", "Bob", "-"}, std::string(2'000'000, 'x'));
  EXPECT_EQ(large.code, 5) << "the same exit code as from the daemon";
  EXPECT_NE(large.err.find("larger than 1048576 bytes"), std::string::npos) << large.err;
  EXPECT_EQ(box_.run({"send", "Bob", "-"}, "").code, 2) << "empty text";
  EXPECT_EQ(box_.run({"send", "Bob", "-"}, "\xff\xfe").code, 2) << "not UTF-8";
}

TEST_F(Messaging, MessageIsReadByIdPrefix) {
  box_.ok({"send", "Bob", "the whole text", "--topic", "build", "--thread", "t1", "--kind", "action"});
  const auto id = newest_id();
  const auto page = box_.ok({"read", id.substr(0, 5)});
  for (const auto* part : {"the whole text", "topic    build", "thread   t1", "kind     action"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in " << page;
  EXPECT_EQ(string_member(box_.ok_json({"read", id}), "body"), "the whole text");
  const auto unknown = box_.run({"read", id == "zzzzzzzz" ? "yyyyyyyy" : "zzzzzzzz"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err, "");
  EXPECT_NE(box_.run({"read", "z"}).code, 0) << "too short";
}

TEST_F(Messaging, TraceShowsHistory) {
  const auto alice = listen("Alice");
  box_.ok({"send", "Alice", "hello", "--wait"});
  const auto id = newest_id();
  const auto trace = box_.ok({"trace", id});
  for (const auto* part : {"to Alice", "queued", "proof: stored", "delivered", "proof: accepted"})
    EXPECT_NE(trace.find(part), std::string::npos) << part << " in " << trace;
  const auto as_json = box_.ok_json({"trace", id});
  EXPECT_EQ(array_member(as_json, "deliveries")->size(), 1U);
  const auto unknown = box_.run({"trace", "zzzzzzzz"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err, "");
}

TEST_F(Messaging, LogShowsConversationInOrder) {
  join("Alice");
  box_.ok({"send", "Bob", "one", "--from", "Carol"});
  box_.ok({"send", "Alice", "two", "--from", "Carol"});
  box_.ok({"send", "Bob", "three", "--from", "Dave"});
  const auto all = box_.ok({"log"});
  EXPECT_LT(all.find("one"), all.find("two"));
  EXPECT_LT(all.find("two"), all.find("three"));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3);
  EXPECT_EQ(box_.ok({"log", "Alice"}).find("one"), std::string::npos);
  EXPECT_NE(box_.ok({"log", "Carol"}).find("one"), std::string::npos);
  const auto last = box_.ok({"log", "--limit", "1"});
  EXPECT_NE(last.find("three"), std::string::npos);
  EXPECT_EQ(last.find("two"), std::string::npos);
  EXPECT_EQ(box_.ok({"log", "--limit", "0"}), "");
}

TEST_F(Messaging, LogAndInboxOfUnknownNameFail) {
  for (const auto* command : {"log", "inbox"}) {
    const auto ran = box_.run({command, "Bbo"});
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_NE(ran.err.find("no agent is named 'Bbo'; did you mean Bob?"), std::string::npos) << ran.err;
    EXPECT_EQ(box_.run({command, "Bob"}).code, 0) << "an agent without messages";
  }
  EXPECT_EQ(box_.run({"inbox"}).code, 0) << "your own inbox, before you have joined";
}

TEST_F(Messaging, SearchFindsWords) {
  box_.ok({"send", "Bob", "the login test is flaky"});
  box_.ok({"send", "Bob", "the build is green"});
  ASSERT_TRUE(eventually([&] { return box_.run({"search", "flaky", "login"}).code == 0; }))
      << "the index is built in the background";
  const auto found = box_.ok({"search", "flaky", "login"});
  EXPECT_NE(found.find("the login test is flaky"), std::string::npos);
  EXPECT_EQ(found.find("green"), std::string::npos);
  EXPECT_EQ(box_.run({"search", "absent"}).code, 1);
  EXPECT_EQ(array_member(box_.ok_json({"search", "green"}), "messages")->size(), 1U);
}

TEST_F(Messaging, ForeignTextCannotControlTerminal) {
  box_.ok({"send", "Bob", "-"}, "\x1b]0;owned\x07\x1b[2Jcleared\r");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"log"}, {"inbox", "Bob"}, {"read", newest_id()}}) {
    const auto out = box_.ok(words);
    EXPECT_EQ(out.find('\x1b'), std::string::npos) << words.front();
    EXPECT_EQ(out.find('\x07'), std::string::npos) << words.front();
    EXPECT_NE(out.find("^[]0;owned^G"), std::string::npos) << out;
  }
}

TEST_F(Messaging, MessageExpires) {
  box_.ok({"send", "Bob", "expires soon", "--ttl", "1ms"});
  EXPECT_TRUE(eventually([&] { return box_.ok({"trace", newest_id()}).find("expired") != std::string::npos; }));
  for (const auto* ttl : {"0", "31d", "soon"}) EXPECT_EQ(box_.run({"send", "Bob", "x", "--ttl", ttl}).code, 2) << ttl;
}

TEST_F(Messaging, BroadcastReachesEveryAgent) {
  const auto alice = listen("Alice"), carol = listen("Carol");
  box_.ok({"send", "*", "to all"});
  EXPECT_TRUE(alice->prints("to all"));
  EXPECT_TRUE(carol->prints("to all"));
  EXPECT_EQ(box_.run({"send", "*", "to all", "--wait"}).code, 2);
}

TEST_F(Messaging, AgentsAreListed) {
  const auto alice = listen("Alice");
  EXPECT_EQ(box_.ok({"agents"}).find("Bob"), std::string::npos) << "Bob is offline";
  EXPECT_EQ(array_member(box_.ok_json({"agents", "--all"}), "agents")->size(), 2U)
      << "the command itself is not listed";
  EXPECT_EQ(box_.ok({"agents", "--all", "--names"}), "Alice\nBob\n");
}

TEST(Usage, ErrorsExitWithTwoAndOneLine) {
  Sandbox box;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"stauts"},
                                                {"send"},
                                                {"send", "Bob"},
                                                {"send", "Bob", "x", "--wiat"},
                                                {"log", "--limit", "-1"},
                                                {"log", "--limit", "many"},
                                                {"inbox", "--limit", "0"},
                                                {"send", "Bob", "x", "--timeout", "soon"},
                                                {"up", "--storage", "tape"},
                                                {"completion", "tcsh"},
                                                {"chat", "--name", "a b"},
                                                {"-n", "Alice"},
                                                {"send", "Bob", "x", "--kind", "poem"}}) {
    const auto ran = box.run(words);
    EXPECT_EQ(ran.code, 2) << words.front() << ": " << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(Usage, CommandsExitWithThreeWithoutDaemon) {
  Sandbox box;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status"},
                                                {"agents"},
                                                {"send", "Bob", "x"},
                                                {"inbox"},
                                                {"log"},
                                                {"log", "--follow"},
                                                {"read", "abcd"},
                                                {"trace", "abcd"},
                                                {"search", "x"},
                                                {"chat", "--name", "Bob"}}) {
    auto without_start = words;
    without_start.insert(without_start.begin(), "--no-start");
    const auto ran = box.run(without_start);
    EXPECT_EQ(ran.code, 3) << words.front();
    EXPECT_NE(ran.err.find("it is not running; start it with: agent-relay up"), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace relay::cli_tests
