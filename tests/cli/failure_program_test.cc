// Failures of commands: the same cause has the same exit code in every command, one error line, and JSON with --json.
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

using Words = std::vector<std::string>;

TEST(Failures, SendAndChatShareExitCodes) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  EXPECT_EQ(box.run({"send", "Nobody", "x"}).code, 5);
  EXPECT_EQ(box.run({"chat", "--name", "Alice"}, "@Nobody x\n").code, 5);

  for (const Words& words : {Words{"send", "Bob", "x", "--from", "a b"},
                             {"send", "a b", "x"},
                             {"send", "", "x"},
                             {"send", "Bob", "x", "--from", ""},
                             {"chat", "--name", "a b"},
                             {"chat", "--name", ""},
                             {"chat", "--name", "Alice", "--to", "a b"}})
    EXPECT_EQ(box.run(words).code, 2) << words.at(0) << " " << words.at(1);

  const std::string large(1'100'000, 'x');
  EXPECT_EQ(box.run({"send", "Bob", "-"}, large).code, 5);
  EXPECT_EQ(box.run({"send", "Bob", "-"}, large.substr(0, 1'047'000)).code, 5) << "the daemon's own limit";
  EXPECT_EQ(box.run({"chat", "--name", "Alice", "--to", "Bob"}, large + "\n").code, 5);
}

TEST(Failures, UnansweredSendReportsIdForRepeat) {
  Sandbox box;
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  ::kill(box.daemon_pid(), SIGSTOP);
  const auto unknown = box.run({"send", "Bob", "only once"});
  ::kill(box.daemon_pid(), SIGCONT);
  EXPECT_EQ(unknown.code, 4) << unknown.err;
  const std::string command = "agent-relay send --id ";
  const auto at = unknown.err.find(command);
  ASSERT_NE(at, std::string::npos) << unknown.err;
  const auto id =
      unknown.err.substr(at + command.size(), unknown.err.find(' ', at + command.size()) - at - command.size());
  ASSERT_TRUE(eventually([&] { return box.ok({"log"}).find("only once") != std::string::npos; })) << "stored later";
  box.ok({"send", "--id", id, "Bob", "only once"});
  const auto log = box.ok({"log"});
  EXPECT_EQ(log.find("only once"), log.rfind("only once")) << log;
}

TEST(Failures, SecondChatUnderNameReportsOwner) {
  Sandbox box;
  box.ok({"up"});
  const auto first = box.start({"chat", "--name", "Alice"});
  ASSERT_TRUE(box.is_connected("Alice"));
  const auto second = box.run({"chat", "--name", "Alice", "--json"});
  EXPECT_EQ(second.code, 5);
  EXPECT_EQ(second.err, "agent-relay: the name Alice is in use by another program here (pid " +
                            std::to_string(first->pid()) + "); stop that one, or choose another with --name\n");
  const auto answer = parse_json_object(second.out).value();
  EXPECT_EQ(string_member(*object_member(answer, "error"), "code"), "NOT_OWNER");
}

TEST(Failures, UsageErrorStatesExpectedValue) {
  Sandbox box;
  const std::pair<Words, std::string> cases[] = {
      {{"send", "Bob", "x", "--from", ""}, "--from needs a name, for example: --from Alice"},
      {{"send", "Bob", "x", "--timeout"}, "--timeout needs TIME, for example: --timeout 30s"},
      {{"send", "Bob", "x", "--timeout", "--wait"}, "--timeout needs TIME, for example: --timeout 30s"},
      {{"send", "Bob", "x", "--kind"}, "--kind needs KIND, for example: --kind message"},
      {{"log", "--limit"}, "--limit needs N, for example: --limit 10"},
      {{"read", ""}, "give at least its first 4 characters, such as 7kq2"},
      {{"trace", "7kq"}, "\"7kq\" is too short for an id"},
      {{"trace", ""}, "agent-relay log shows the ids"}};
  for (const auto& [words, expected] : cases) {
    const auto ran = box.run(words);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  }
}

/// The command fails with that exit code and prints one object with the error code and the message.
void expect_json_failure(Sandbox& box, Words words, int code, const std::string& error_code) {
  words.emplace_back("--json");
  const auto ran = box.run(words);
  EXPECT_EQ(ran.code, code) << words.front() << ": " << ran.err;
  const auto answer = parse_json_object(ran.out);
  ASSERT_TRUE(answer) << words.front() << " printed no JSON object: " << ran.out;
  const auto* error = object_member(*answer, "error");
  ASSERT_NE(error, nullptr) << ran.out;
  EXPECT_EQ(string_member(*error, "code"), error_code) << words.front();
  EXPECT_EQ("agent-relay: " + string_member(*error, "message").value() + "\n", ran.err);
}

TEST(Failures, AreJsonWithJsonOption) {
  Sandbox box;
  for (const Words& words : {Words{"status"},
                             {"agents", "--no-start"},
                             {"send", "Bob", "x", "--no-start"},
                             {"--no-start", "inbox"},
                             {"--no-start", "log"},
                             {"--no-start", "read", "abcd"},
                             {"--no-start", "trace", "abcd"},
                             {"--no-start", "search", "x"},
                             {"--no-start", "chat", "--name", "Bob"}})
    expect_json_failure(box, words, 3, "NO_DAEMON");
  for (const Words& words : {Words{"log", "--limit", "many"}, {"read", "z"}, {"send", "Bob"}, {"stauts"}})
    expect_json_failure(box, words, 2, "USAGE");
  box.ok({"up"});
  box.ok({"chat", "--name", "Bob"});
  expect_json_failure(box, {"read", "zzzzzzzz"}, 1, "FAILED");
  expect_json_failure(box, {"trace", "zzzzzzzz"}, 1, "FAILED");
  expect_json_failure(box, {"log", "Bbo"}, 1, "FAILED");
  expect_json_failure(box, {"send", "Bbo", "x"}, 5, "UNKNOWN_RECIPIENT");
  expect_json_failure(box, {"send", "Bob", "x", "--wait", "--timeout", "50ms"}, 4, "TIMED_OUT");
  box.write(box.home() + "/config.toml", "durabilty = 'power'\n");
  expect_json_failure(box, {"config"}, 1, "FAILED");
  EXPECT_NE(box.run({"config"}).err.find("did you mean durability?"), std::string::npos);
}

TEST(Failures, JsonOptionInTextIsText) {
  Sandbox box;
  EXPECT_EQ(box.run({"send", "Bob", "--", "--json"}).out, "");
}

}  // namespace
}  // namespace relay::cli_tests
