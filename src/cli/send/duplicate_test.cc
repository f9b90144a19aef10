#include "cli/send/duplicate.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "base/format.h"
#include "net/testing/temporary_directory.h"
#include "protocol/envelope.h"

namespace relay::cli {
namespace {

struct Row {
  std::string state, proof, reason = {};
};

json::object delivery(const std::vector<Row>& rows) {
  json::array history;
  for (const auto& row : rows)
    history.emplace_back(json::object{{"at", 1}, {"state", row.state}, {"proof", row.proof}, {"reason", row.reason}});
  return {{"deliveryId", "d-1"},
          {"to", "Bob"},
          {"state", rows.back().state},
          {"proof", rows.back().proof},
          {"history", std::move(history)}};
}

/// The result of a duplicate that waits for `until`: `pending`, `reached`, or the reason of the failure.
std::string result_for(WaitFor until, const std::vector<Row>& rows) {
  SendResult result;
  if (!apply_history(result, until, delivery(rows))) return "pending";
  return result.kind == SendResult::Kind::Reached ? "reached" : result.reason;
}

const Row kQueued{"queued", "stored"}, kAccepted{"accepted", "accepted"}, kWritten{"accepted", "written"},
    kSubmitted{"delivered", "submitted"}, kSeen{"delivered", "seen"},
    kExpired{"expired", "stored", "its deadline passed"}, kDoubt{"in_doubt", "written", "the host ended"},
    kCancelled{"cancelled", "accepted", "not wanted"};

TEST(DuplicateTest, LateDeliveryCounts) {
  EXPECT_EQ(result_for(WaitFor::Delivered, {kQueued, kAccepted, kDoubt, kSubmitted}), "reached");
  EXPECT_EQ(result_for(WaitFor::Delivered, {kQueued, kExpired, kSubmitted}), "reached");
  EXPECT_EQ(result_for(WaitFor::Seen, {kQueued, kCancelled, kSubmitted}), "pending");
  EXPECT_EQ(result_for(WaitFor::Seen, {kQueued, kCancelled, kSubmitted, kSeen}), "reached");
  SendResult result;
  ASSERT_TRUE(apply_history(result, WaitFor::Delivered, delivery({kQueued, kAccepted, kDoubt, kSubmitted})));
  EXPECT_EQ(result.steps.size(), 2U) << "without the in_doubt entry";
}

TEST(DuplicateTest, FinalStateHasReason) {
  EXPECT_EQ(result_for(WaitFor::Delivered, {kQueued, kExpired}), "its deadline passed");
  EXPECT_EQ(result_for(WaitFor::Accepted, {kQueued, kAccepted, kCancelled}), "not wanted")
      << "even after it was accepted";
  EXPECT_EQ(result_for(WaitFor::Answered, {kQueued, kWritten, kDoubt}), "pending") << "an answer may still come";
}

TEST(DuplicateTest, PendingStateIsCurrent) {
  EXPECT_EQ(result_for(WaitFor::Accepted, {kQueued}), "pending");
  EXPECT_EQ(result_for(WaitFor::Accepted, {kQueued, kAccepted}), "reached");
  EXPECT_EQ(result_for(WaitFor::Accepted, {kQueued, kAccepted, {"deferred", "accepted", "the agent is working"}}),
            "reached");
  EXPECT_EQ(result_for(WaitFor::Accepted, {kQueued, {"deferred", "stored", "paused"}}), "pending");
  EXPECT_EQ(result_for(WaitFor::Accepted, {kQueued, kAccepted, kQueued}), "pending") << "requeued";
  EXPECT_EQ(result_for(WaitFor::Delivered, {kQueued, kAccepted, kWritten}), "pending");
}

/// A daemon that answers `answered` frames of a duplicate and then hangs; the user presses Ctrl-C.
class HangingDaemon {
 public:
  explicit HangingDaemon(int answered) : answered_{answered} {
    context.project.socket.primary = context.project.socket.fallback = directory_.file("relay.sock");
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strcpy(address.sun_path, context.project.socket.primary.c_str());
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_.get(), 2), 0);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    interrupts_.reset(ends[0]);
    keyboard_.reset(ends[1]);
    thread_ = std::jthread{[this] { run(); }};
  }

  Result<SendResult> send_duplicate(WaitFor until) {
    request_.from = "Alice";
    request_.to = "Bob";
    request_.text = "color?";
    request_.id = "q-1";
    request_.timeout = Millis{60'000};
    request_.until = until;
    return result_of_duplicate(context, request_, {.id = "m-1"}, [](const SendResult&) {}, interrupts_.get());
  }

  Context context;

 private:
  void run() {
    std::vector<UniqueFd> peers;
    std::vector<protocol::FrameReader> readers(2);
    for (int received = 0;;) {
      std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
      for (const auto& peer : peers) watched.push_back({peer.get(), POLLIN, 0});
      if (::poll(watched.data(), watched.size(), 10'000) <= 0) return;
      if (watched[0].revents != 0) peers.emplace_back(::accept(listener_.get(), nullptr, nullptr));
      for (std::size_t i = 0; i + 1 < watched.size(); ++i) {
        if (watched[i + 1].revents == 0) continue;
        char bytes[4096];
        const auto count = ::recv(peers[i].get(), bytes, sizeof(bytes), 0);
        if (count <= 0) return;
        readers[i].push({bytes, static_cast<std::size_t>(count)});
        while (const auto frame = readers[i].next().value_or(std::nullopt)) {
          if (received++ == answered_) return interrupt(peers);
          answer(peers[i].get(), *frame);
        }
      }
    }
  }
  void interrupt(std::vector<UniqueFd>& peers) {
    open_peers_ = std::move(peers);
    EXPECT_EQ(::write(keyboard_.get(), "c", 1), 1);
  }
  static void answer(int peer, std::string_view frame) {
    const auto request = protocol::parse_envelope(frame).value();
    const bool hello = request.type == protocol::MessageType::Hello;
    if (!hello && request.type != protocol::MessageType::Trace) return;
    constexpr std::string_view kTrace =
        R"({"message":{"id":"m-1","senderId":"q-1","from":"Alice","to":"Bob","body":"color?"},"deliveries":[]})";
    const auto json = format(R"({{"v":1,"type":"{}","id":"{}","ts":1,"payload":{}}})",
                             hello ? "WELCOME" : "TRACE_RESPONSE", request.id, hello ? "{}" : kTrace);
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, json);
    EXPECT_EQ(::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  const int answered_;
  net::testing::TemporaryDirectory directory_;
  SendRequest request_;
  UniqueFd listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}, interrupts_, keyboard_;
  std::vector<UniqueFd> open_peers_;
  std::jthread thread_;
};

TEST(DuplicateTest, InterruptEndsEveryWaitForHangingDaemon) {
  for (int answered = 0; answered < 5; ++answered) {  // HELLO, HELLO, EVENTS_SUBSCRIBE, TRACE, MESSAGES_QUERY
    const auto result = HangingDaemon{answered}.send_duplicate(WaitFor::Answered);
    ASSERT_TRUE(result) << answered << ": " << result.error().message();
    EXPECT_EQ(result->kind, SendResult::Kind::TimedOut) << answered;
    EXPECT_EQ(result->reason, "interrupted") << answered;
    EXPECT_EQ(result->id, "m-1");
  }
}

}  // namespace
}  // namespace relay::cli
