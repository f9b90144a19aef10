/// Embedded agents (src/session) on the real daemon: when each mode is delivered, what each receipt causes.
#include <gtest/gtest.h>

#include "base/format.h"
#include "broker/testing/benign_conversations.h"
#include "integration/daemon_process.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"
#include "session/session_runner.h"

namespace relay::integration {
namespace {

using protocol::DeliveryMode;
using protocol::MessageType;
using protocol::ReceiptStatus;
using session::Status;

constexpr Millis kTimeout{10'000};

struct Agent final : session::AgentSession {
  Agent(std::string agent_name, net::AsioLoop& loop, std::function<void()> on_change)
      : name{std::move(agent_name)}, network{loop}, changed{std::move(on_change)} {}

  std::string name;
  net::UnixNetwork network;
  std::function<void()> changed;
  SystemRandom random;
  client::Outbox outbox{client::Numbering::Epoch, {}, random};
  std::function<session::MessageReceipt(const session::MessageContext&)> reply = [](const auto&) {
    return session::MessageReceipt{.status = ReceiptStatus::Delivered};
  };
  std::vector<std::string> received;
  std::vector<session::MessageContext> contexts;
  std::vector<session::MessageReceipt> receipts;
  std::vector<session::ReceiptCallback> unanswered;  // collected when `reply` is empty
  std::vector<std::string> refused;
  std::size_t stored = 0;
  bool connected = false;
  std::unique_ptr<session::SessionRunner> runner;

  session::AgentIdentity identity() const override { return protocol::identity_of(name); }
  session::AgentSessionCapabilities capabilities() const override {
    session::AgentSessionCapabilities can;
    can.delivery.modes = protocol::DeliveryModes::all();
    return can;
  }
  void receive_message(const session::RelayMessage& message, const session::MessageContext& context,
                       session::ReceiptCallback on_receipt) override {
    received.push_back(message.text);
    contexts.push_back(context);
    if (reply)
      on_receipt(reply(context));
    else
      unanswered.push_back(std::move(on_receipt));
    changed();
  }
  void release(const std::string&) override { connected = false; }
  void on_receipt(const session::MessageReceipt& receipt) override {
    receipts.push_back(receipt);
    if (receipt.status == ReceiptStatus::Failed) refused.push_back(receipt.reason);
    changed();
  }
  void on_stored(const protocol::Ack&) override {
    ++stored;
    changed();
  }
  void on_connected() override {
    connected = true;
    changed();
  }
};

struct CallbackSession : ::testing::Test {
  DaemonProcess daemon;
  net::AsioLoop loop;
  std::function<bool()> condition_;
  Agent alice{"Alice", loop, [this] { check(); }};
  Agent bob{"Bob", loop, [this] { check(); }};

  void check() {
    if (condition_ && condition_()) loop.stop();
  }
  /// Runs the loop until the condition holds; false after the timeout.
  bool until(std::function<bool()> condition) {
    condition_ = std::move(condition);
    if (!condition_()) {
      const auto timer = loop.after(kTimeout, [this] { loop.stop(); });
      loop.run();
    }
    return std::exchange(condition_, nullptr)();
  }
  void join(Agent& agent) {
    session::RunnerOptions options;
    options.link.socket_path = daemon.socket();
    auto created =
        session::SessionRunner::create(loop, agent.network, agent.random, agent.outbox, std::move(options), agent);
    ASSERT_TRUE(created) << created.error().message();
    agent.runner = *std::move(created);
    agent.runner->start();
    ASSERT_TRUE(until([&] { return agent.connected; }));
  }
  /// Reaches a boundary of the agent's turn: all deliveries that are due there have arrived.
  void reach(Agent& agent, bool tool_call) {
    bool reached = false;
    auto on_reached = [&] {
      reached = true;
      check();
    };
    ASSERT_TRUE(tool_call ? agent.runner->before_next_tool_call(std::move(on_reached))
                          : agent.runner->before_next_message(std::move(on_reached)));
    ASSERT_TRUE(until([&] { return reached; }));
  }
  void SetUp() override {
    ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
    join(bob);
    join(alice);
  }
};

using Strings = std::vector<std::string>;

TEST_F(CallbackSession, DeliversEachModeWhenItIsDue) {
  bob.runner->set_status(Status::Active);
  reach(bob, false);
  for (const auto mode : protocol::kDeliveryModes)
    ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = std::string{name_of(mode)}}, {.mode = mode}));
  ASSERT_TRUE(until([&] { return alice.stored == 5 && !bob.received.empty(); }));
  reach(bob, true);
  EXPECT_EQ(bob.received, (Strings{"immediate", "next-tool-call"}));
  reach(bob, false);
  EXPECT_EQ(bob.received, (Strings{"immediate", "next-tool-call", "next-message"}));
  bob.runner->set_status(Status::Idle);
  ASSERT_TRUE(until([&] { return bob.received.size() == 4; }));
  EXPECT_EQ(bob.received.back(), "on-idle");
  EXPECT_EQ(daemon.command({"flush", "Bob"}).exit_code, 0);
  ASSERT_TRUE(until([&] { return bob.received.size() == 5; }));
  EXPECT_EQ(bob.received.back(), "manual");
  EXPECT_EQ(bob.contexts.back().mode, DeliveryMode::OnIdle);
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 5; }));
  for (const auto& receipt : alice.receipts) EXPECT_EQ(receipt.status, ReceiptStatus::Delivered);
}

TEST_F(CallbackSession, FailedDeliveryIsRetriedUnderTheSameId) {
  bob.reply = [](const session::MessageContext& context) {
    return context.attempt == 1
               ? session::MessageReceipt{.status = ReceiptStatus::Failed, .reason = "not yet", .retryable = true}
               : session::MessageReceipt{.status = ReceiptStatus::Delivered, .proof = "seen"};
  };
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "hi"}));
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 1; }));
  ASSERT_EQ(bob.contexts.size(), 2U);
  EXPECT_EQ(bob.contexts[0].id, bob.contexts[1].id);
  EXPECT_EQ(bob.contexts[1].attempt, 2U);
  EXPECT_EQ(alice.receipts[0].status, ReceiptStatus::Delivered);
  EXPECT_EQ(alice.receipts[0].proof, "seen");
}

TEST_F(CallbackSession, UnansweredDeliveryAtAReleaseIsInDoubtAndNotRedelivered) {
  bob.reply = nullptr;
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "hi"}));
  ASSERT_TRUE(until([&] { return bob.received.size() == 1; }));
  bob.runner->release("enough");
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 1; }));
  EXPECT_EQ(alice.receipts[0].status, ReceiptStatus::InDoubt);
  Agent again{"Bob", loop, [this] { check(); }};
  join(again);
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "and you?"}));
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 2; }));
  EXPECT_EQ(again.received, Strings{"and you?"});
  again.runner->release("done");
}

TEST_F(CallbackSession, DeferredDeliveryGoesToTheNextSessionOfTheName) {
  bob.reply = [](const session::MessageContext&) {
    return session::MessageReceipt{.status = ReceiptStatus::Deferred, .reason = "later"};
  };
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "hi"}));
  ASSERT_TRUE(until([&] { return bob.received.size() == 1; }));
  bob.runner->release("enough");
  Agent again{"Bob", loop, [this] { check(); }};
  join(again);
  ASSERT_TRUE(until([&] { return again.received.size() == 1 && alice.receipts.size() == 1; }));
  EXPECT_EQ(again.contexts[0].id, bob.contexts[0].id);
  EXPECT_EQ(again.contexts[0].attempt, 1U);
  EXPECT_EQ(alice.receipts[0].status, ReceiptStatus::Delivered);
  again.runner->release("done");
}

/// Two agents that reply to every message until one is refused or all turns are done.
struct LongConversation : CallbackSession {
  void converse(std::size_t turns, std::function<std::string()> next_text) {
    std::size_t sent = 0;
    const auto send_to = [&](Agent& from, const std::string& to) {
      ++sent;
      EXPECT_TRUE(from.runner->send({.to = to, .text = next_text()}));
    };
    std::size_t replies_by_alice = alice.received.size(), replies_by_bob = bob.received.size();
    send_to(alice, "Bob");
    ASSERT_TRUE(until([&] {
      while (replies_by_bob < bob.received.size() && sent < turns) ++replies_by_bob, send_to(bob, "Alice");
      while (replies_by_alice < alice.received.size() && sent < turns) ++replies_by_alice, send_to(alice, "Bob");
      return !alice.refused.empty() || !bob.refused.empty() || alice.received.size() + bob.received.size() >= turns;
    }));
  }
};

TEST_F(LongConversation, OfFiveHundredVariedTurnsIsNotStopped) {
  broker::testing::BenignConversation conversation{broker::testing::Style::Review, 1};
  converse(500, [&] { return conversation.next(); });
  EXPECT_EQ(alice.received.size() + bob.received.size(), 500u);
  EXPECT_EQ(alice.refused, Strings{});
  EXPECT_EQ(bob.refused, Strings{});
}

TEST_F(LongConversation, OfThanksIsStoppedWithinTenExchangesWithAReason) {
  converse(500, [] { return "Thank you very much!"; });
  EXPECT_LE(alice.received.size() + bob.received.size(), 20u);
  ASSERT_EQ(alice.refused.size() + bob.refused.size(), 1u);
  const auto reason = (alice.refused.empty() ? bob : alice).refused.front();
  EXPECT_NE(reason.find("agent-relay loops reset"), std::string::npos) << reason;
}

}  // namespace
}  // namespace relay::integration
