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

// Output of `codex app-server` 0.166.0.
constexpr const char* kInitialized =
    R"j({"id":0,"result":{"userAgent":"agent-relay/0.166.0 (Debian 12.0.0; x86_64) xterm (agent-relay; 1)","codexHome":"/home/agent/.codex","platformFamily":"unix","platformOs":"linux"}})j";
constexpr const char* kNotification =
    R"({"method":"remoteControl/status/changed","params":{"status":"disabled","serverName":"vm","installationId":"0382c779-c423-42e7-ade7-5c5e2fb6cbd8","environmentId":null},"emittedAtMs":1794775259613})";
constexpr const char* kQueued =
    R"({"id":1,"result":{"queuedSubmission":{"id":"01a1e0f1-fefb-7c00-a4b1-abe01902f385","input":[{"type":"text","text":"hello","text_elements":[]}],"clientUserMessageId":"d-hello"}}})";
constexpr const char* kNoThread =
    R"({"error":{"code":-32603,"message":"failed to read thread: invalid thread-store request: no rollout found for thread id 01a1de40-5663-7222-84c7-ba350712453e"},"id":1})";
constexpr const char* kThread = "01a1de40-5663-7222-84c7-ba350712453e";
constexpr CodexTimeouts kLongTimeouts{.response = Millis{60'000}, .keep_alive = Millis{60'000}};

struct CodexQueueTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  net::AsioLoop loop;
  std::unique_ptr<CodexQueue> queue;
  Texts outcomes;  // "hello", or "hello: " and the error
  Texts withdrawn;
  int withdrawals = 0;  // reports of withdrawn texts

  /// A `codex` that logs its requests: `receive` reads one line, `send` writes one.
  void codex(const std::string& script, CodexTimeouts timeouts = kLongTimeouts) {
    const auto path = directory.file("codex");
    std::ofstream{path} << "#!/bin/sh\nrequests=" << directory.file("requests")
                        << "\necho \"$@\" >> $requests\n"
                           "receive() { read -r line && printf '%s\\n' \"$line\" >> $requests; }\n"
                           "send() { printf '%s\\n' \"$1\"; }\n"
                        << script;
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    queue = std::make_unique<CodexQueue>(
        loop,
        pty::Command{
            .argv = {path, "--model", "x"}, .environment = pty::inherited_environment(), .directory = directory.path()},
        [this](const Texts& deliveries) {
          withdrawn.insert(withdrawn.end(), deliveries.begin(), deliveries.end());
          ++withdrawals;
        },
        timeouts);
  }
  static std::string send(const char* line) { return std::string{"send '"} + line + "'\n"; }
  /// Up to the first `thread/queue/add`.
  static std::string opening() { return "receive\n" + send(kInitialized) + send(kNotification) + "receive\nreceive\n"; }

  void put(std::string text) {
    const NativeDelivery delivery{.key = "d-" + text, .text = text};
    queue->put(delivery, kThread, [this, text](const Result<void>& outcome) {
      outcomes.push_back(text + (outcome ? "" : ": " + outcome.error().message()));
    });
  }
  bool finished(std::size_t count = 1) {
    return run_until(loop, [&] { return outcomes.size() == count; });
  }
  Texts requests() const {
    std::ifstream file{directory.file("requests")};
    Texts lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(CodexQueueTest, QueuesTextWithDeliveryAsItsId) {
  codex(opening() + send(kQueued) + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"hello"});
  const auto lines = requests();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "app-server");  // without the user's arguments
  EXPECT_EQ(string_member(*parse_json_object(lines[1]), "method"), "initialize");
  EXPECT_EQ(lines[2], R"({"method":"initialized"})");
  EXPECT_EQ(lines[3],
            R"({"id":1,"method":"thread/queue/add","params":{"threadId":"01a1de40-5663-7222-84c7-ba350712453e",)"
            R"("clientUserMessageId":"d-hello","input":[{"type":"text","text":"hello"}]}})");
}

TEST_F(CodexQueueTest, FailureHasCodexsReason) {
  codex(opening() + send(kNoThread) + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_TRUE(outcomes[0].starts_with("hello: Codex did not queue it: failed to read thread")) << outcomes[0];
}

TEST_F(CodexQueueTest, RejectedHandshakeIsFailure) {
  codex("receive\n" + send(R"({"error":{"code":-32600,"message":"too old"},"id":0})") + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"hello: Codex rejected the handshake: too old"});
}

TEST_F(CodexQueueTest, ExitBeforeHandshakeIsFailure) {
  codex("exit 3\n");
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_TRUE(outcomes[0].starts_with("hello: codex app-server: it ")) << outcomes[0];
}

TEST_F(CodexQueueTest, FailedStartIsFailure) {
  codex("");
  std::filesystem::remove(directory.file("codex"));
  put("hello");
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_TRUE(outcomes[0].starts_with("hello: ")) << outcomes[0];
}

TEST_F(CodexQueueTest, WrittenTextCountsAsAccepted) {
  codex(opening() + "exit 0\n");
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"hello"});
}

TEST_F(CodexQueueTest, LinesThatAreNoResponseAreIgnored) {
  codex("receive\n" + send("warning: something") + send(kInitialized) + "receive\nreceive\n" + send(kNotification) +
        send("{\"id\":1") + send("[]") +
        send(R"({"id":1,"method":"item/commandExecution/requestApproval","params":{}})") +
        send(R"({"id":77,"result":{}})") + send(R"({"id":"1","result":{}})") + send(kNoThread) + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_NE(outcomes[0].find("no rollout found"), std::string::npos) << outcomes[0];
}

TEST_F(CodexQueueTest, HandshakeTimesOut) {
  codex("while receive; do :; done\n", {.response = Millis{20}, .keep_alive = Millis{60'000}});
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"hello: codex app-server did not answer in time"});
}

TEST_F(CodexQueueTest, TextWithoutResponseCountsAsAccepted) {
  codex(opening() + "while receive; do :; done\n", {.response = Millis{2'000}, .keep_alive = Millis{60'000}});
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"hello"});
  EXPECT_EQ(requests().size(), 4U);
}

TEST_F(CodexQueueTest, QueuedTextIsWithdrawn) {
  codex(opening() + send(kQueued) + "receive\n" + send(R"({"id":2,"result":{"deleted":true}})") + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  queue->pause();
  EXPECT_TRUE(queue->is_withdrawing());
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_FALSE(queue->is_withdrawing());
  EXPECT_EQ(withdrawn, Texts{"d-hello"});
  EXPECT_EQ(requests().at(4),
            R"({"id":2,"method":"thread/queue/delete","params":{"threadId":"01a1de40-5663-7222-84c7-ba350712453e",)"
            R"("queuedSubmissionId":"01a1e0f1-fefb-7c00-a4b1-abe01902f385"}})");
}

TEST_F(CodexQueueTest, TextTakenByCodexIsNotWithdrawn) {
  codex(opening() + send(kQueued) + "receive\n" + send(R"({"id":2,"result":{"deleted":false}})") + "receive\n" +
        send(R"({"id":3,"result":{}})") + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  queue->pause();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  queue->resume();
  put("next");
  ASSERT_TRUE(finished(2));
  EXPECT_TRUE(withdrawn.empty());
}

TEST_F(CodexQueueTest, TextSeenByModelIsNotDeleted) {
  codex(opening() + send(kQueued) + "receive\n" + send(R"({"id":2,"result":{}})") + "receive\n");
  put("hello");
  ASSERT_TRUE(finished());
  queue->on_model_input("hello");
  queue->pause();
  EXPECT_EQ(withdrawals, 1);
  queue->resume();
  put("next");
  ASSERT_TRUE(finished(2));
  EXPECT_EQ(requests().size(), 5U);
  EXPECT_NE(requests().at(4).find("thread/queue/add"), std::string::npos);
}

std::string queued(int id) {
  return format(R"(send '{{"id":{},"result":{{"queuedSubmission":{{"id":"q{}"}}}}}}')"
                "\n",
                id, id);
}
std::string deleted(int id, bool yes = true) {
  return format(R"(send '{{"id":{},"result":{{"deleted":{}}}}}')"
                "\n",
                id, yes);
}

TEST_F(CodexQueueTest, TextsAreWithdrawnTogetherInOrder) {
  codex("receive\n" + send(kInitialized) + "receive\nreceive\nreceive\n" + queued(1) + queued(2) +
        "receive\nreceive\n" + deleted(4) + deleted(3) + "receive\n");
  put("one");
  put("two");
  ASSERT_TRUE(finished(2));
  queue->pause();
  put("three");  // not written: it would overtake the others
  EXPECT_EQ(withdrawals, 0);
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_EQ(withdrawn, (Texts{"d-one", "d-two", "d-three"}));
  EXPECT_EQ(outcomes, (Texts{"one", "two"}));
}

TEST_F(CodexQueueTest, TextQueuedDuringPauseIsWithdrawn) {
  codex("receive\n" + send(kInitialized) + "receive\nreceive\n" + queued(1) + "receive\n" + deleted(2) + "receive\n");
  put("hello");
  queue->pause();
  EXPECT_EQ(withdrawals, 0) << "its response is still missing";
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_EQ(outcomes, Texts{"hello"});
  EXPECT_EQ(withdrawn, Texts{"d-hello"});
}

TEST_F(CodexQueueTest, DeleteWithoutResponseIsRepeated) {
  codex("if [ ! -e first ]; then touch first\n" + opening() + queued(1) + "receive\nexit 0; fi\n" + opening() +
            deleted(3) + "receive\n",
        {.response = Millis{60'000}, .keep_alive = Millis{60'000}, .retry = Millis{1}});
  put("hello");
  ASSERT_TRUE(finished());
  queue->pause();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 2; }));
  EXPECT_EQ(withdrawn, Texts{"d-hello"});
}

TEST_F(CodexQueueTest, DeleteIsNotRepeatedAfterResume) {
  codex(opening() + queued(1) + "receive\nexit 0\n",
        {.response = Millis{60'000}, .keep_alive = Millis{60'000}, .retry = Millis{1}});
  put("hello");
  ASSERT_TRUE(finished());
  queue->pause();
  queue->resume();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  bool later = false;
  const auto after = loop.after(Millis{10}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  EXPECT_EQ(withdrawals, 1);
  EXPECT_TRUE(withdrawn.empty());
}

TEST_F(CodexQueueTest, ModelInputSettlesOneOfTwoEqualTexts) {
  codex("receive\n" + send(kInitialized) + "receive\nreceive\nreceive\n" + queued(1) + queued(2) + "receive\n" +
        deleted(3) + "receive\n");
  put("again");
  put("again");
  ASSERT_TRUE(finished(2));
  queue->on_model_input("again");
  queue->pause();
  ASSERT_TRUE(run_until(loop, [&] { return withdrawals == 1; }));
  EXPECT_EQ(withdrawn, Texts{"d-again"});
}

TEST_F(CodexQueueTest, OneServerQueuesManyTexts) {
  codex(opening() + send(kQueued) + "receive\n" + send(R"({"id":2,"result":{}})") + "receive\n");
  put("one");
  put("two");
  ASSERT_TRUE(finished(2));
  EXPECT_EQ(outcomes, (Texts{"one", "two"}));
  EXPECT_EQ(requests().size(), 5U);  // one start
}

TEST_F(CodexQueueTest, ExitedServerIsStartedAgain) {
  codex("receive\n" + send(kInitialized) +
        "receive\nreceive\nid=${line#*:}\nsend \"{\\\"id\\\":${id%%,*},\\\"result\\\":{}}\"\n");
  put("one");
  ASSERT_TRUE(finished());
  put("two");
  ASSERT_TRUE(finished(2));
  put("three");
  ASSERT_TRUE(finished(3));
  EXPECT_EQ(outcomes, (Texts{"one", "two", "three"}));
}

TEST_F(CodexQueueTest, IdleServerIsStopped) {
  codex(opening() + send(kQueued) + "while receive; do :; done\n",
        {.response = Millis{60'000}, .keep_alive = Millis{1}});
  put("hello");
  ASSERT_TRUE(finished());
  bool later = false;
  const auto after = loop.after(Millis{10}, [&] { later = true; });
  ASSERT_TRUE(run_until(loop, [&] { return later; }));
  put("again");
  ASSERT_TRUE(run_until(loop, [&] { return requests().size() == 8U; })) << "a second one was started";
}

TEST(Codex, ShowsItsDialogSoonForUserAtTerminal) {
  net::AsioLoop loop;
  testing::Recorder recorder;
  const auto adapter = make_adapter("codex", loop);
  pty::Command command{.argv = {"codex"}, .environment = {}, .directory = {}};
  LaunchContext context;
  context.attended = true;
  adapter->prepare(command, context);
  adapter->start(recorder, 1);
  std::vector<hooks::HookResponse> answers;
  adapter->on_hook(testing::hook_event("codex/PermissionRequest-Bash"), 1,
                   [&](const hooks::HookResponse& answer) { answers.push_back(answer); });
  EXPECT_EQ(recorder.prompts.size(), 1U);
  EXPECT_TRUE(answers.empty()) << "the relay may still answer";
  ASSERT_TRUE(run_until(loop, [&] { return !answers.empty(); }));
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}});
}

}  // namespace
}  // namespace relay::adapters
