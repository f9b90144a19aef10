#include "adapters/codex_queue.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "adapters/testing/hook_payloads.h"
#include "adapters/testing/recorder.h"
#include "base/format.h"
#include "base/json.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::adapters {
namespace {

using net::testing::run_until;
using Texts = std::vector<std::string>;

// What `codex app-server` 0.166.0 said.
constexpr const char* kGreets =
    R"j({"id":0,"result":{"userAgent":"agent-relay/0.166.0 (Debian 12.0.0; x86_64) xterm (agent-relay; 1)","codexHome":"/home/agent/.codex","platformFamily":"unix","platformOs":"linux"}})j";
constexpr const char* kTells =
    R"({"method":"remoteControl/status/changed","params":{"status":"disabled","serverName":"vm","installationId":"0382c779-c423-42e7-ade7-5c5e2fb6cbd8","environmentId":null},"emittedAtMs":1794775259613})";
constexpr const char* kQueued =
    R"({"id":1,"result":{"queuedSubmission":{"id":"01a1e0f1-fefb-7c00-a4b1-abe01902f385","input":[{"type":"text","text":"hello","text_elements":[]}],"clientUserMessageId":"d-hello"}}})";
constexpr const char* kNoThread =
    R"({"error":{"code":-32603,"message":"failed to read thread: invalid thread-store request: no rollout found for thread id 01a1de40-5663-7222-84c7-ba350712453e"},"id":1})";
constexpr const char* kThread = "01a1de40-5663-7222-84c7-ba350712453e";
constexpr CodexTimeouts kPatient{.timeout = Millis{60'000}, .keep_alive = Millis{60'000}};

struct CodexQueueTest : ::testing::Test {
  net::testing::TemporaryDirectory place;
  net::AsioLoop loop;
  std::unique_ptr<CodexQueue> queue;
  Texts outcomes;  // "hello", or "hello: " and the reason
  Texts withdrawn;
  int withdrawals = 0;  // that were reported

  /// A `codex` that writes down what it is asked: `hear` reads one line, `say` writes one.
  void codex(const std::string& script, CodexTimeouts pace = kPatient) {
    const auto path = place.file("codex");
    std::ofstream{path} << "#!/bin/sh\nasked=" << place.file("asked")
                        << "\necho \"$@\" >> $asked\n"
                           "hear() { read -r line && printf '%s\\n' \"$line\" >> $asked; }\n"
                           "say() { printf '%s\\n' \"$1\"; }\n"
                        << script;
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    queue = std::make_unique<CodexQueue>(
        loop,
        pty::Command{
            .argv = {path, "--model", "x"}, .environment = pty::inherited_environment(), .directory = place.path()},
        [this](const Texts& deliveries) {
          withdrawn.insert(withdrawn.end(), deliveries.begin(), deliveries.end());
          ++withdrawals;
        },
        pace);
  }
  static std::string say(const char* line) { return std::string{"say '"} + line + "'\n"; }
  /// As far as the first text that is queued.
  static std::string opening() { return "hear\n" + say(kGreets) + say(kTells) + "hear\nhear\n"; }

  void put(std::string text) {
    const NativeDelivery words{.delivery = "d-" + text, .text = text};
    queue->put(words, kThread, [this, text](const Result<void>& outcome) {
      outcomes.push_back(text + (outcome ? "" : ": " + outcome.error().message()));
    });
  }
  bool decided(std::size_t count = 1) {
    return run_until(loop, [&] { return outcomes.size() == count; });
  }
  Texts asked() const {
    std::ifstream file{place.file("asked")};
    Texts lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(CodexQueueTest, QueuesATextWithTheDeliveryAsItsId) {
  codex(opening() + say(kQueued) + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_EQ(outcomes, Texts{"hello"});
  const auto lines = asked();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "app-server");  // and none of the person's arguments
  EXPECT_EQ(string_member(*parse_json_object(lines[1]), "method"), "initialize");
  EXPECT_EQ(lines[2], R"({"method":"initialized"})");
  EXPECT_EQ(lines[3],
            R"({"id":1,"method":"thread/queue/add","params":{"threadId":"01a1de40-5663-7222-84c7-ba350712453e",)"
            R"("clientUserMessageId":"d-hello","input":[{"type":"text","text":"hello"}]}})");
}

TEST_F(CodexQueueTest, SaysWhatCodexSaidAgainstIt) {
  codex(opening() + say(kNoThread) + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_TRUE(outcomes[0].starts_with("hello: Codex did not queue it: failed to read thread")) << outcomes[0];
}

TEST_F(CodexQueueTest, AGreetingThatIsRefusedIsAFailure) {
  codex("hear\n" + say(R"({"error":{"code":-32600,"message":"too old"},"id":0})") + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_EQ(outcomes, Texts{"hello: Codex did not take our greeting: too old"});
}

TEST_F(CodexQueueTest, ACodexThatDiesBeforeItGreetsTookNothing) {
  codex("exit 3\n");
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_TRUE(outcomes[0].starts_with("hello: codex app-server: it ")) << outcomes[0];
}

TEST_F(CodexQueueTest, ACodexThatCannotBeStartedTookNothing) {
  codex("");
  std::filesystem::remove(place.file("codex"));
  put("hello");
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_TRUE(outcomes[0].starts_with("hello: ")) << outcomes[0];
}

TEST_F(CodexQueueTest, ATextThatWasWrittenCountsAsTaken) {
  codex(opening() + "exit 0\n");
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_EQ(outcomes, Texts{"hello"});
}

TEST_F(CodexQueueTest, WhatIsNoAnswerIsPassedOver) {
  codex("hear\n" + say("warning: something") + say(kGreets) + "hear\nhear\n" + say(kTells) + say("{\"id\":1") +
        say("[]") + say(R"({"id":1,"method":"item/commandExecution/requestApproval","params":{}})") +
        say(R"({"id":77,"result":{}})") + say(R"({"id":"1","result":{}})") + say(kNoThread) + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_NE(outcomes[0].find("no rollout found"), std::string::npos) << outcomes[0];
}

TEST_F(CodexQueueTest, ACodexThatNeverGreetsIsGivenUp) {
  codex("while hear; do :; done\n", {.timeout = Millis{20}, .keep_alive = Millis{60'000}});
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_EQ(outcomes, Texts{"hello: codex app-server did not answer in time"});
}

TEST_F(CodexQueueTest, ATextThatIsNeverAnsweredCountsAsTaken) {
  codex(opening() + "while hear; do :; done\n", {.timeout = Millis{2'000}, .keep_alive = Millis{60'000}});
  put("hello");
  ASSERT_TRUE(decided());
  EXPECT_EQ(outcomes, Texts{"hello"});
  EXPECT_EQ(asked().size(), 4U);
}

TEST_F(CodexQueueTest, TextThatIsStillQueuedIsWithdrawn) {
  codex(opening() + say(kQueued) + "hear\n" + say(R"({"id":2,"result":{"deleted":true}})") + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  queue->pause();
  EXPECT_TRUE(queue->is_withdrawing());
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_FALSE(queue->is_withdrawing());
  EXPECT_EQ(withdrawn, Texts{"d-hello"});
  EXPECT_EQ(asked().at(4),
            R"({"id":2,"method":"thread/queue/delete","params":{"threadId":"01a1de40-5663-7222-84c7-ba350712453e",)"
            R"("queuedSubmissionId":"01a1e0f1-fefb-7c00-a4b1-abe01902f385"}})");
}

TEST_F(CodexQueueTest, TextThatCodexHasTakenIsNotWithdrawn) {
  codex(opening() + say(kQueued) + "hear\n" + say(R"({"id":2,"result":{"deleted":false}})") + "hear\n" +
        say(R"({"id":3,"result":{}})") + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  queue->pause();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  queue->resume();
  put("next");
  ASSERT_TRUE(decided(2));
  EXPECT_TRUE(withdrawn.empty());
}

TEST_F(CodexQueueTest, TextThatTheModelWasGivenIsNotAskedFor) {
  codex(opening() + say(kQueued) + "hear\n" + say(R"({"id":2,"result":{}})") + "hear\n");
  put("hello");
  ASSERT_TRUE(decided());
  queue->on_model_input("hello");
  queue->pause();
  EXPECT_EQ(withdrawals, 1);
  queue->resume();
  put("next");
  ASSERT_TRUE(decided(2));
  EXPECT_EQ(asked().size(), 5U);
  EXPECT_NE(asked().at(4).find("thread/queue/add"), std::string::npos);
}

std::string queued(int id) {
  return format(R"(say '{{"id":{},"result":{{"queuedSubmission":{{"id":"q{}"}}}}}}')"
                "\n",
                id, id);
}
std::string deleted(int id, bool yes = true) {
  return format(R"(say '{{"id":{},"result":{{"deleted":{}}}}}')"
                "\n",
                id, yes);
}

TEST_F(CodexQueueTest, TextsAreWithdrawnTogetherInTheirOrder) {
  codex("hear\n" + say(kGreets) + "hear\nhear\nhear\n" + queued(1) + queued(2) + "hear\nhear\n" + deleted(4) +
        deleted(3) + "hear\n");
  put("one");
  put("two");
  ASSERT_TRUE(decided(2));
  queue->pause();
  put("three");  // is not written: it would be the only one there
  EXPECT_EQ(withdrawals, 0);
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_EQ(withdrawn, (Texts{"d-one", "d-two", "d-three"}));
  EXPECT_EQ(outcomes, (Texts{"one", "two"}));
}

TEST_F(CodexQueueTest, TextThatIsQueuedDuringThePauseIsWithdrawn) {
  codex("hear\n" + say(kGreets) + "hear\nhear\n" + queued(1) + "hear\n" + deleted(2) + "hear\n");
  put("hello");
  queue->pause();
  EXPECT_EQ(withdrawals, 0) << "nobody knows yet what became of it";
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_EQ(outcomes, Texts{"hello"});
  EXPECT_EQ(withdrawn, Texts{"d-hello"});
}

TEST_F(CodexQueueTest, DeleteWithoutAnAnswerIsRepeated) {
  codex("if [ ! -e first ]; then touch first\n" + opening() + queued(1) + "hear\nexit 0; fi\n" + opening() +
            deleted(3) + "hear\n",
        {.timeout = Millis{60'000}, .keep_alive = Millis{60'000}, .retry = Millis{1}});
  put("hello");
  ASSERT_TRUE(decided());
  queue->pause();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 2; }));
  EXPECT_EQ(withdrawn, Texts{"d-hello"});
}

TEST_F(CodexQueueTest, DeleteWithoutAnAnswerIsNotRepeatedOnceCodexTakesFromItsQueue) {
  codex(opening() + queued(1) + "hear\nexit 0\n",
        {.timeout = Millis{60'000}, .keep_alive = Millis{60'000}, .retry = Millis{1}});
  put("hello");
  ASSERT_TRUE(decided());
  queue->pause();
  queue->resume();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  bool later = false;
  const auto after = loop.after(Millis{10}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(withdrawals, 1);
  EXPECT_TRUE(withdrawn.empty());
}

TEST_F(CodexQueueTest, OfTwoEqualTextsTheOtherStaysQueued) {
  codex("hear\n" + say(kGreets) + "hear\nhear\nhear\n" + queued(1) + queued(2) + "hear\n" + deleted(3) + "hear\n");
  put("again");
  put("again");
  ASSERT_TRUE(decided(2));
  queue->on_model_input("again");
  queue->pause();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_EQ(withdrawn, Texts{"d-again"});
}

TEST_F(CodexQueueTest, OneCodexServesManyTexts) {
  codex(opening() + say(kQueued) + "hear\n" + say(R"({"id":2,"result":{}})") + "hear\n");
  put("one");
  put("two");
  ASSERT_TRUE(decided(2));
  EXPECT_EQ(outcomes, (Texts{"one", "two"}));
  EXPECT_EQ(asked().size(), 5U);  // and was started once
}

TEST_F(CodexQueueTest, ACodexThatLeftIsStartedAgain) {
  codex("hear\n" + say(kGreets) + "hear\nhear\nid=${line#*:}\nsay \"{\\\"id\\\":${id%%,*},\\\"result\\\":{}}\"\n");
  put("one");
  ASSERT_TRUE(decided());
  put("two");
  ASSERT_TRUE(decided(2));
  put("three");
  ASSERT_TRUE(decided(3));
  EXPECT_EQ(outcomes, (Texts{"one", "two", "three"}));
}

TEST_F(CodexQueueTest, AnIdleCodexIsEnded) {
  codex(opening() + say(kQueued) + "while hear; do :; done\n", {.timeout = Millis{60'000}, .keep_alive = Millis{1}});
  put("hello");
  ASSERT_TRUE(decided());
  bool later = false;
  const auto after = loop.after(Millis{10}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  put("again");
  ASSERT_TRUE(run_until(loop, [&] { return asked().size() == 8U; })) << "a second one was started";
}

TEST(Codex, ShowsItsDialogSoonWhenAPersonSitsThere) {
  net::AsioLoop loop;
  testing::Recorder told;
  const auto adapter = adapter_for("codex", loop);
  pty::Command command{.argv = {"codex"}, .environment = {}, .directory = {}};
  LaunchContext where;
  where.attended = true;
  adapter->prepare(command, where);
  adapter->start(told, 1);
  std::vector<hooks::HookResponse> answers;
  adapter->on_hook(testing::hook_event("codex/PermissionRequest-Bash"), 1,
                   [&](const hooks::HookResponse& answer) { answers.push_back(answer); });
  EXPECT_EQ(told.prompts.size(), 1U);
  EXPECT_TRUE(answers.empty()) << "for a moment an answer of ours may come";
  ASSERT_TRUE(run_until(loop, [&] { return !answers.empty(); }));
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}});
}

}  // namespace
}  // namespace relay::adapters
