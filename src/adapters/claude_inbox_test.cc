#include "adapters/claude_inbox.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::adapters {
namespace {

using net::testing::run_until;
using protocol::DeliveryMode;
using Texts = std::vector<std::string>;

constexpr pid_t kAgent = 4502;
constexpr const char* kSession = "47649650-e4f1-4292-9cf9-0eb95c7a65fe";
constexpr const char* kOther = "d4934ca6-e137-4fa3-9bcb-612b781e972b";

struct ClaudeInboxTest : ::testing::Test {
  net::testing::TemporaryDirectory home;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  std::unique_ptr<net::Listener> listener;
  std::vector<std::unique_ptr<net::testing::Recorder>> writers;  // connections to the inbox
  ClaudeInbox inbox{loop, home.path(), kAgent};
  Texts outcomes;  // "accepted", or the error

  void SetUp() override { std::filesystem::create_directory(home.file("sessions")); }

  std::string socket() const { return home.file("inbox.sock"); }
  void listen() {
    auto made = network.listen(socket(), [this](std::unique_ptr<net::Stream> stream) {
      writers.push_back(std::make_unique<net::testing::Recorder>(std::move(stream)));
    });
    ASSERT_TRUE(made);
    listener = *std::move(made);
  }
  void write_session_file(pid_t pid, const std::string& text) {
    std::ofstream{home.file(format("sessions/{}.json", pid))} << text;
  }
  /// As Claude Code 2.1.325 writes it.
  void add_session(pid_t pid, const std::string& session, bool with_socket = true) {
    json::object all{
        {"pid", pid},           {"sessionId", session}, {"cwd", "/home/agent/proj"}, {"startedAt", 1794728879382},
        {"version", "2.1.325"}, {"peerProtocol", 1},    {"kind", "interactive"},     {"entrypoint", "cli"},
        {"status", "idle"}};
    if (with_socket) all["messagingSocketPath"] = socket();
    write_session_file(pid, json::serialize(all));
  }
  void put(std::string text, const std::string& session = kSession, DeliveryMode mode = DeliveryMode::OnIdle) {
    inbox.put({.key = "d-1", .text = std::move(text), .mode = mode}, session, [this](const Result<void>& outcome) {
      outcomes.push_back(outcome ? "accepted" : outcome.error().message());
    });
  }
  bool finished(std::size_t count = 1) {
    return run_until(loop, [&] { return outcomes.size() == count; });
  }
  /// The bytes received by the inbox, once its writers have disconnected.
  std::string received() {
    EXPECT_TRUE(run_until(
        loop, [&] { return std::ranges::all_of(writers, [](const auto& each) { return !each->closed.empty(); }); }));
    std::string all;
    for (const auto& each : writers) all += each->received;
    return all;
  }
  /// Nothing was written, and the error is one line that contains `text`.
  void expect_failure(const std::string& text) {
    ASSERT_TRUE(finished());
    EXPECT_NE(outcomes[0].find(text), std::string::npos) << outcomes[0];
    EXPECT_EQ(outcomes[0].find('\n'), std::string::npos);
    EXPECT_EQ(received(), "");
  }
};

TEST_F(ClaudeInboxTest, WritesOneLineAndDisconnects) {
  listen();
  add_session(kAgent, kSession);
  put("Relay message from Bob [1]:\nhello \"Alice\"");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"accepted"});
  ASSERT_TRUE(run_until(loop, [&] { return writers.size() == 1; }));
  EXPECT_EQ(received(),
            R"({"type":"user","message":{"role":"user","content":"Relay message from Bob [1]:\nhello \"Alice\""},)"
            R"("msg_id":"d-1","priority":"next"})"
            "\n");
}

TEST_F(ClaudeInboxTest, OnlyImmediateTextInterrupts) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::NextMessage, DeliveryMode::NextToolCall})
    EXPECT_NE(inbox_line({.key = "d", .text = "t", .mode = mode}).find(R"("priority":"next")"), std::string::npos);
  EXPECT_NE(inbox_line({.key = "d", .text = "t", .mode = DeliveryMode::Immediate}).find(R"("priority":"now")"),
            std::string::npos);
}

TEST_F(ClaudeInboxTest, LongTextArrivesWhole) {
  listen();
  add_session(kAgent, kSession);
  const std::string text(3U << 20, 'x');
  put(text);
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"accepted"});
  EXPECT_EQ(received(), inbox_line({.key = "d-1", .text = text}));
}

TEST_F(ClaudeInboxTest, ConsecutiveTextsEachArriveOnce) {
  listen();
  add_session(kAgent, kSession);
  inbox.put({.key = "a", .text = "first"}, kSession, [&](const Result<void>& outcome) {
    outcomes.push_back(outcome ? "accepted" : outcome.error().message());
    put("second");  // from inside the first completion
  });
  ASSERT_TRUE(finished(2));
  ASSERT_TRUE(run_until(loop, [&] { return writers.size() == 2; }));
  EXPECT_EQ(received(), inbox_line({.key = "a", .text = "first"}) + inbox_line({.key = "d-1", .text = "second"}));
}

TEST_F(ClaudeInboxTest, IsReadyForBurstAndThenAtItsRate) {
  listen();
  add_session(kAgent, kSession);
  std::size_t sent = 0;
  while (inbox.ready_at() <= loop.now().steady && sent < 100) put("x"), ++sent;
  EXPECT_GE(sent, 20U);
  EXPECT_LT(sent, 30U) << "Claude silently drops the thirty-first";
  EXPECT_GT(inbox.ready_at(), loop.now().steady);
  EXPECT_LE(inbox.ready_at() - loop.now().steady, Millis{2'500}) << "not for long";
  ASSERT_TRUE(finished(sent));
}

TEST_F(ClaudeInboxTest, RunsLowBeforeItsBurstIsUsedUp) {
  listen();
  add_session(kAgent, kSession);
  std::size_t sent = 0;
  for (; !inbox.is_running_low() && sent < 100; ++sent) put("x");
  EXPECT_GT(sent, 10U);
  EXPECT_LE(inbox.ready_at(), loop.now().steady) << "it still accepts more at once";
  ASSERT_TRUE(finished(sent));
}

TEST_F(ClaudeInboxTest, FailedWriteDoesNotCountAgainstRate) {
  for (int i = 0; i < 100; ++i) put("x");  // no session file
  EXPECT_LE(inbox.ready_at(), loop.now().steady);
}

TEST_F(ClaudeInboxTest, WithoutSessionIdStartedProcessIsWrittenTo) {
  listen();
  add_session(kAgent, kSession);
  put("hello", "");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"accepted"});
}

TEST_F(ClaudeInboxTest, SessionOfAnotherProcessIsFound) {
  listen();
  add_session(kAgent + 7, kSession);  // the host started a wrapper
  put("hello");
  ASSERT_TRUE(finished());
  EXPECT_EQ(outcomes, Texts{"accepted"});
}

TEST_F(ClaudeInboxTest, WithoutSessionFileNothingIsWritten) {
  listen();
  put("hello");
  expect_failure(format("sessions/{}.json cannot be read", kAgent));
}

TEST_F(ClaudeInboxTest, BrokenSessionFileIsRejected) {
  listen();
  write_session_file(kAgent, R"({"pid":4502,"sessionId":"4764)");
  put("hello");
  expect_failure("is not a session file");
}

TEST_F(ClaudeInboxTest, OlderClaudeHasNoInbox) {
  listen();
  add_session(kAgent, kSession, false);
  put("hello");
  expect_failure("this session of Claude Code has no inbox");
}

TEST_F(ClaudeInboxTest, AnotherSessionIsNeverWrittenTo) {
  listen();
  add_session(kAgent, kOther);
  add_session(kAgent + 1, kOther);
  put("hello");
  expect_failure(kSession);
}

TEST_F(ClaudeInboxTest, FailsWithoutListener) {
  add_session(kAgent, kSession);
  put("hello");
  expect_failure("Claude Code's inbox at " + socket() + " cannot be reached: no one is listening");
}

TEST_F(ClaudeInboxTest, PartlyWrittenLineIsFailure) {
  add_session(kAgent, kSession);
  auto made = network.listen(socket(), [](std::unique_ptr<net::Stream> stream) { stream->close(net::Drain::No); });
  ASSERT_TRUE(made);
  put(std::string(8U << 20, 'x'));  // more than fits the buffer of an unread socket
  expect_failure("did not accept the message");
}

}  // namespace
}  // namespace relay::adapters
