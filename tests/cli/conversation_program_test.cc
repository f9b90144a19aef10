// Conversations from the command line: questions, topics, channels, attachments and looping agents.
#include <filesystem>

#include "base/format.h"
#include "cli/deliveries.h"

namespace relay::cli_tests {
namespace {

struct Conversations : Deliveries {};

// ---------------------------------------------------------------- questions

TEST_F(Conversations, QuestionIsAnsweredInItsThread) {
  script(R"({"rules": [{"contains": "which color", "reply": "@relay:tester [thread:paint-1] it is blue"}]})");
  start("Bob", {"--status"});
  const auto question = box.run({"send", "Bob", "which color?", "--from", "tester", "--ask", "--thread", "paint-1"});
  EXPECT_EQ(question.code, 0) << question.err;
  EXPECT_EQ(question.out, "it is blue\n");
  const auto as_json = parse_json_object(box.ok({"send", "Bob", "which color?", "--from", "tester", "--ask", "--thread",
                                                 "paint-1", "--json"}))
                           .value();
  EXPECT_EQ(string_member(as_json, "status"), "answered");
  EXPECT_EQ(string_member(as_json, "answer"), "it is blue");
}

TEST_F(Conversations, PlainReplyAnswersTheOnlyQuestion) {
  script(R"({"rules": [{"contains": "which color", "reply": "@relay:tester it is blue"}]})");
  start("Bob", {"--status"});
  const std::vector<std::string> words{"send", "Bob",  "which color?", "--from", "tester",
                                       "--id", "q-17", "--ask",        "--json"};
  const auto answered = parse_json_object(box.ok(words)).value();
  EXPECT_EQ(string_member(answered, "answer"), "it is blue");
  EXPECT_EQ(string_member(answered, "matchedBy"), "only-request");
  EXPECT_EQ(string_member(parse_json_object(box.ok(words)).value(), "answer"), "it is blue")
      << "from the stored answer";
  const auto read = box.ok_json({"read", *string_member(answered, "answerId")});
  EXPECT_TRUE(has(json::serialize(read), "\"replyTo\":\"" + *string_member(answered, "id") + "\""));
}

TEST_F(Conversations, UnansweredQuestionReportsProgress) {
  script(R"({"default": {"reply": "I do not answer."}})");
  start("Bob", {"--status"});
  const auto unanswered = box.run({"send", "Bob", "anyone?", "--ask", "--timeout", "3s"});
  EXPECT_EQ(unanswered.code, 4);
  EXPECT_EQ(unanswered.out, "");
  EXPECT_TRUE(has(unanswered.err, "not answered within 3 s: it was submitted to Bob's agent")) << unanswered.err;
  join("Carol");
  const auto offline = box.run({"send", "Carol", "anyone?", "--ask", "--timeout", "200ms"});
  EXPECT_EQ(offline.code, 4);
  EXPECT_TRUE(has(offline.err, "Carol is offline since ")) << offline.err;
  EXPECT_EQ(box.run({"send", "*", "anyone?", "--ask"}).code, 2);
  EXPECT_EQ(box.run({"send", "Bob", "anyone?", "--ask", "--wait"}).code, 2);
}

TEST_F(Conversations, ReplyNamesAnsweredMessage) {
  const auto asker = box.start({"send", "Bob", "ready?", "--from", "Alice", "--ask", "--timeout", "20s"});
  EXPECT_EQ(asker->finish().code, 5) << "there is no Bob yet";
  join("Bob");
  // Bob is a user at a shell, who reads the question and answers that message.
  const auto again = box.start({"send", "Bob", "ready?", "--from", "Alice", "--ask", "--timeout", "20s"});
  std::string id;
  ASSERT_TRUE(until([&] {
    const auto inbox = box.ok_json({"inbox", "Bob"});
    const auto& messages = *array_member(inbox, "messages");
    if (!messages.empty()) id = *string_member(messages.at(0).as_object(), "id");
    return !id.empty();
  }));
  box.ok({"send", "Alice", "ready", "--from", "Bob", "--reply-to", id});
  const auto ran = again->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "ready\n");
}

// ---------------------------------------------------------------- topics

TEST_F(Conversations, TopicBroadcastReachesSubscribersOnly) {
  auto bob = listen("Bob"), carol = listen("Carol");
  EXPECT_EQ(box.ok({"topics", "subscribe", "deploys", "--name", "Bob"}), "Bob is subscribed to deploys\n");
  EXPECT_TRUE(has(box.ok({"topics"}), "deploys  Bob"));
  box.ok({"send", "*", "v2 is live", "--topic", "deploys"});
  box.ok({"send", "*", "lunch"});
  EXPECT_TRUE(bob->prints("v2 is live"));
  EXPECT_TRUE(carol->prints("lunch"));
  EXPECT_FALSE(has(carol->out(), "v2 is live"));
  EXPECT_TRUE(has(box.ok({"log", "--topic", "deploys"}), "v2 is live"));
  EXPECT_FALSE(has(box.ok({"log", "--topic", "deploys"}), "lunch"));
  EXPECT_FALSE(has(box.ok({"inbox", "Bob", "--topic", "deploys"}), "lunch"));
  const auto event = parse_json_object(box.ok({"events", "--topic", "deploys", "--json"})).value();
  EXPECT_EQ(string_member(event, "topic"), "deploys");
  EXPECT_EQ(box.ok({"topics", "unsubscribe", "deploys", "--name", "Bob"}), "Bob is not subscribed to deploys\n");
  const auto unknown = box.run({"topics", "subscribe", "deploys", "--name", "Nobody"});
  EXPECT_EQ(unknown.code, 5);
  EXPECT_TRUE(has(unknown.err, "no agent is named 'Nobody'")) << unknown.err;
}

TEST_F(Conversations, AgentSubscribesByCommandAndGetsKindAndTopic) {
  script(R"({"rules": [{"contains": "listen to deploys", "reply": "@relay:subscribe deploys"}]})");
  start("Bob", {"--status"});
  box.ok({"send", "Bob", "listen to deploys", "--wait"});
  EXPECT_TRUE(until([&] { return has(box.ok({"topics"}), "deploys  Bob"); }));
  box.ok({"send", "*", "restart it", "--topic", "deploys", "--kind", "action"});
  EXPECT_TRUE(until([&] { return submit_count("Bob", "[kind:action] [topic:deploys]") == 1; }));
}

// ---------------------------------------------------------------- channels, files and loops

TEST_F(Conversations, ChannelReachesOfflineMembers) {
  join("Bob");
  auto alice = listen("Alice");
  EXPECT_EQ(box.ok({"channels", "join", "#dev", "--name", "Alice"}), "Alice joined #dev\n");
  EXPECT_EQ(box.ok({"channels", "join", "dev", "--name", "Bob"}), "Bob joined #dev\n");
  EXPECT_TRUE(has(box.ok({"channels"}), "#dev"));
  const auto members = box.ok({"channels", "members", "#dev"});
  EXPECT_TRUE(has(members, "Alice  connected")) << members;
  EXPECT_TRUE(has(members, "Bob    offline")) << members;
  box.ok({"send", "#dev", "the build is green", "--from", "Carol"});
  EXPECT_TRUE(alice->prints("the build is green"));
  const auto history = box.ok({"channels", "history", "#dev"});
  EXPECT_TRUE(has(history, "the build is green")) << history;
  EXPECT_EQ(array_member(box.ok_json({"channels", "history", "dev"}), "messages")->size(), 1U);
  auto bob = listen("Bob");
  EXPECT_TRUE(bob->prints("the build is green")) << "stored while he was offline";
  EXPECT_EQ(box.ok({"channels", "leave", "#dev", "--name", "Bob"}), "Bob left #dev\n");
  EXPECT_FALSE(has(box.ok({"channels", "members", "#dev"}), "Bob"));
  EXPECT_EQ(box.run({"channels", "paint", "#dev"}).code, 2);
  EXPECT_EQ(box.run({"channels", "join"}).code, 2);
}

TEST_F(Conversations, FilesAreAttachedByReference) {
  join("Bob");
  const auto report = box.write(box.project() + "/my report.txt", "all green\n");
  const auto notes = box.write(box.project() + "/notes", "n");
  const auto id = send("Bob", "see the files", {"--attach", report, "--attach", notes});
  const auto page = box.ok({"read", id});
  EXPECT_TRUE(has(page, "file     my report.txt (10 B)  " + box.project() + "/.agent-relay/attachments/")) << page;
  const auto message = box.ok_json({"read", id});
  const auto& files = *array_member(message, "attachments");
  ASSERT_EQ(files.size(), 2U);
  const auto path = *string_member(files.at(0).as_object(), "path");
  EXPECT_EQ(file_contents(path), "all green\n");
  std::filesystem::create_symlink(report, box.project() + "/link");
  EXPECT_EQ(box.run({"send", "Bob", "x", "--attach", box.project() + "/link"}).code, 1);
  std::filesystem::resize_file(notes, 17 << 20);
  EXPECT_EQ(box.run({"send", "Bob", "x", "--attach", notes}).code, 5);
}

TEST_F(Conversations, LoopingPairIsStoppedAndReset) {
  for (const auto* name : {"Alice", "Bob"}) {
    script(format(R"({{"default": {{"reply": "@relay:{} thank you"}}}})",
                  std::string_view{name} == "Bob" ? "Alice" : "Bob"));
    start(name, {"--status"});
  }
  EXPECT_TRUE(array_member(box.ok_json({"loops"}), "breakers")->empty());
  EXPECT_FALSE(has(box.ok({"status"}), "loops"));
  send("Bob", "thank you");
  json::object loops;
  ASSERT_TRUE(until([&] {
    loops = box.ok_json({"loops"});
    return !array_member(loops, "breakers")->empty();
  })) << box.ok({"log"});
  const auto& breaker = array_member(loops, "breakers")->front().as_object();
  const auto from = *string_member(breaker, "from"), to = *string_member(breaker, "to");
  EXPECT_LE(submit_count("Alice", "thank you") + submit_count("Bob", "thank you"), 20u);
  EXPECT_TRUE(has(box.ok({"loops"}), from + " → " + to + "  stopped ")) << box.ok({"loops"});
  EXPECT_TRUE(has(box.ok({"status"}), "1 pair stopped for looping; see: agent-relay loops"));
  EXPECT_EQ(box.ok({"loops", "reset", from, to}), "reset 1 pair\n");
  EXPECT_EQ(box.run({"loops", "reset", "Alice"}).code, 2);
  EXPECT_EQ(box.run({"loops", "stop"}).code, 2);
}

}  // namespace
}  // namespace relay::cli_tests
