#include <gtest/gtest.h>
#include <signal.h>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

std::unique_ptr<Background> join(Sandbox& box, const std::string& name, const std::string& to) {
  auto chat = box.start({"chat", "--name", name, "--to", to});
  EXPECT_TRUE(box.is_connected(name));
  return chat;
}

TEST(Chat, TwoUsersExchangeMessages) {
  Sandbox box;
  box.ok({"up"});
  const auto alice = join(box, "Alice", "Bob"), bob = join(box, "Bob", "Alice");
  alice->type("hello\n");
  EXPECT_TRUE(bob->prints("Alice: hello"));
  bob->type("hello yourself\n@* and everyone\n");
  EXPECT_TRUE(alice->prints("Bob: hello yourself"));
  EXPECT_TRUE(alice->prints("Bob (to *): and everyone"));
}

TEST(Chat, HasUserAuthorityUnderAnyName) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  box.ok({"chat", "--name", "Alice", "--to", "Bob"}, "typed by the user\n");
  const auto message = [&] { return box.ok_json({"log", "--limit", "1"}); };
  EXPECT_EQ(string_member(message(), "from"), "Alice");
  EXPECT_EQ(string_member(message(), "as"), "user");
  EXPECT_TRUE(box.ok({"trace", *string_member(message(), "id")}).contains("as the user"));
  box.ok({"chat", "--name", "Bob", "--to", "Alice"}, "answered to that name\n");
  EXPECT_TRUE(box.ok({"chat", "--name", "Alice", "--listen", "--count", "1"}).contains("Bob: answered to that name"));

  box.run({"run", "-n", "Inner", program(), "chat", "--name", "Eve", "--to", "Bob"}, "typed inside an agent\n");
  EXPECT_EQ(string_member(message(), "body"), "typed inside an agent");
  EXPECT_EQ(string_member(message(), "as").value_or("peer"), "peer");
}

TEST(Chat, ReportsClosedWorkspace) {
  Sandbox box;
  box.ok({"up"});
  const auto alice = join(box, "Alice", "Bob");
  box.ok({"down"});
  EXPECT_TRUE(alice->prints_error("the workspace was closed (agent-relay down); reconnecting")) << alice->err();
  box.ok({"up"});
  EXPECT_TRUE(alice->prints_error("the workspace is open again")) << alice->err();
  box.ok({"down", "--all"});
  EXPECT_TRUE(alice->prints_error("the daemon is stopping; reconnecting")) << alice->err();
}

TEST(Chat, ExitsAtEndOfInputAfterEveryAck) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  box.ok({"chat", "--name", "Alice", "--to", "Bob"}, "one\ntwo\nthree");
  const auto messages = box.ok({"chat", "--name", "Bob", "--listen", "--count", "3"});
  EXPECT_LT(messages.find("one"), messages.find("two"));
  EXPECT_LT(messages.find("two"), messages.find("three"));
}

TEST(Chat, StopsAfterCount) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  box.ok({"chat", "--name", "Alice", "--to", "Bob"}, "one\ntwo\nthree\n");
  const auto first = box.ok({"chat", "--name", "Bob", "--listen", "--count", "2"});
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 2) << first;
  const auto second = box.ok({"chat", "--name", "Bob", "--listen", "--count", "1"});
  EXPECT_NE(second.find("Alice: three"), std::string::npos) << second;
}

TEST(Chat, LinesTypedWithoutDaemonArriveOnce) {
  Sandbox box;
  box.ok({"up"});
  const auto alice = join(box, "Alice", "Bob"), bob = join(box, "Bob", "Alice");
  alice->type("first\n");
  ASSERT_TRUE(bob->prints("Alice: first"));
  box.kill_daemon();
  ASSERT_TRUE(alice->prints_error("reconnecting"));
  alice->type("while offline 1\nwhile offline 2\n");
  box.ok({"up"});
  ASSERT_TRUE(bob->prints("Alice: while offline 2"));
  EXPECT_TRUE(alice->prints_error("reconnected to the daemon"));
  const auto messages = bob->out();
  EXPECT_LT(messages.find("Alice: first"), messages.find("Alice: while offline 1"));
  for (const auto* line : {"Alice: first", "Alice: while offline 1", "Alice: while offline 2"})
    EXPECT_EQ(messages.find(line), messages.rfind(line)) << line;
}

TEST(Chat, KilledChatSendsSpooledMessagesNextTime) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  {
    const auto alice = join(box, "Alice", "Bob");
    box.kill_daemon();
    ASSERT_TRUE(alice->prints_error("reconnecting"));
    alice->type("before the kill\n");
    alice->type("and again\n");
    ASSERT_TRUE(eventually([&] {
      return std::system(("grep -q 'and again' -r " + box.workspace_directory() + "/outboxes").c_str()) == 0;
    }));
    alice->signal(SIGKILL);
    EXPECT_EQ(alice->finish().code, 128 + SIGKILL);
  }
  box.ok({"up"});
  const auto ran = box.run({"chat", "--name", "Alice"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("sending 2 messages from the last session first"), std::string::npos) << ran.err;
  const auto messages = box.ok({"chat", "--name", "Bob", "--listen", "--count", "2"});
  EXPECT_LT(messages.find("before the kill"), messages.find("and again"));
}

TEST(Chat, UnknownNameIsReportedAndChatContinues) {
  Sandbox box;
  box.ok({"up"});
  const auto alice = join(box, "Alice", "Nobody");
  alice->type("hello?\n");
  EXPECT_TRUE(alice->prints_error("no agent is named 'Nobody'"));
  alice->end_input();
  EXPECT_EQ(alice->finish().code, 5);
}

TEST(Chat, LineAfterUnknownNameIsNotSentToPreviousRecipient) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Alice"});
  const auto chat = box.start({"chat", "--name", "Eve", "--to", "Alice"});
  chat->type("@Bobb the token is X\n");
  ASSERT_TRUE(chat->prints_error("no agent is named 'Bobb'")) << chat->err();
  chat->type("and the rest\n");
  chat->end_input();
  EXPECT_EQ(chat->finish().code, 5);
  const auto inbox = box.ok({"inbox", "Alice", "--json"});
  EXPECT_EQ(inbox.find("and the rest"), std::string::npos) << inbox;
}

TEST(Chat, FailedLineSetsExitCodeOfScript) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  const auto failed = box.run({"chat", "--name", "Alice"}, "hello?\n@Bob but this\n");
  EXPECT_EQ(failed.code, 2);
  EXPECT_EQ(failed.err, "agent-relay: no recipient; write: @NAME TEXT\n") << "without a greeting";
  EXPECT_EQ(box.run({"chat", "--name", "Alice", "--to", "Bob"}, "/shrug\n").code, 2);
  const auto inbox = box.ok({"inbox", "Bob"});
  EXPECT_EQ(std::count(inbox.begin(), inbox.end(), '\n'), 1) << inbox;
  EXPECT_NE(inbox.find("but this"), std::string::npos) << inbox;
}

TEST(Chat, PrintsJsonForPrograms) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  box.ok({"send", "Bob", "structured", "--from", "Alice", "--topic", "t"});
  const auto out = box.ok({"chat", "--name", "Bob", "--listen", "--count", "1", "--json"});
  const auto message = parse_json_object(out).value();
  EXPECT_EQ(string_member(message, "body"), "structured");
  EXPECT_EQ(string_member(message, "topic"), "t");
}

TEST(Chat, FirstLineToAgentThatAsksIsTheAnswer) {
  Sandbox box;
  box.ok({"up"});
  const auto bob = box.start({"chat", "--name", "Bob"});
  ASSERT_TRUE(box.is_connected("Bob"));
  const auto plan = box.write(box.project() + "/plan.md", "first this");
  const auto question = box.start({"send", "Bob", "which branch?", "--from", "Alice", "--ask", "--attach", plan});
  EXPECT_TRUE(bob->prints_error("Alice waits for an answer; reply with: @Alice TEXT")) << bob->err();
  EXPECT_TRUE(bob->prints("(attached: plan.md, 10 bytes: " + box.project() + "/.agent-relay/attachments/"))
      << bob->out();
  bob->type("@Alice main, of course\nand quickly\n");
  const auto answered = question->finish();
  EXPECT_EQ(answered.code, 0) << answered.err;
  EXPECT_EQ(answered.out, "main, of course\n");
  const auto listener = box.start({"chat", "--name", "Carol", "--listen", "--json"});
  ASSERT_TRUE(box.is_connected("Carol"));
  box.run({"send", "Carol", "and you?", "--from", "Alice", "--ask", "--timeout", "300ms"});
  EXPECT_TRUE(listener->prints(R"("answerExpected":true)")) << listener->out();
}

}  // namespace
}  // namespace relay::cli_tests
