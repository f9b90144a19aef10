/// Programs that are agents by callbacks, on the real daemon: every mode at its moment, every answer's consequence.
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
  Agent(std::string its_name, net::AsioLoop& its_loop, std::function<void()> when_changed)
      : name{std::move(its_name)}, network{its_loop}, changed{std::move(when_changed)} {}

  std::string name;
  net::UnixNetwork network;
  std::function<void()> changed;
  SystemRandom random;
  client::Outbox outbox{client::Numbering::Epoch, {}, random};
  std::function<session::MessageReceipt(const session::MessageContext&)> reply = [](const auto&) {
    return session::MessageReceipt{.status = ReceiptStatus::Delivered};
  };
  std::vector<std::string> heard;
  std::vector<session::MessageContext> contexts;
  std::vector<session::MessageReceipt> receipts;
  std::vector<session::ReceiptCallback> unanswered;  // kept when `reply` is empty
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
                       session::ReceiptCallback answer) override {
    heard.push_back(message.text);
    contexts.push_back(context);
    if (reply)
      answer(reply(context));
    else
      unanswered.push_back(std::move(answer));
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
  std::function<bool()> wanted;
  Agent alice{"Alice", loop, [this] { look(); }};
  Agent bob{"Bob", loop, [this] { look(); }};

  void look() {
    if (wanted && wanted()) loop.stop();
  }
  /// Lets things happen until it is so; false when patience ran out.
  bool until(std::function<bool()> condition) {
    wanted = std::move(condition);
    if (!wanted()) {
      const auto give_up = loop.after(kTimeout, [this] { loop.stop(); });
      loop.run();
    }
    return std::exchange(wanted, nullptr)();
  }
  void join(Agent& agent) {
    session::RunnerOptions options;
    options.link.socket_path = daemon.socket();
    auto made =
        session::SessionRunner::create(loop, agent.network, agent.random, agent.outbox, std::move(options), agent);
    ASSERT_TRUE(made) << made.error().message();
    agent.runner = *std::move(made);
    agent.runner->start();
    ASSERT_TRUE(until([&] { return agent.connected; }));
  }
  /// Everything the daemon had for that agent at this moment has come.
  void reach(Agent& agent, bool tool_call) {
    bool reached = false;
    auto on_reached = [&] {
      reached = true;
      look();
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

using Texts = std::vector<std::string>;

TEST_F(CallbackSession, HearsEachModeAtItsMoment) {
  bob.runner->set_status(Status::Active);
  reach(bob, false);
  for (const auto mode : protocol::kDeliveryModes)
    ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = std::string{name_of(mode)}}, {.mode = mode}));
  ASSERT_TRUE(until([&] { return alice.stored == 5 && !bob.heard.empty(); }));
  reach(bob, true);
  EXPECT_EQ(bob.heard, (Texts{"immediate", "next-tool-call"}));
  reach(bob, false);
  EXPECT_EQ(bob.heard, (Texts{"immediate", "next-tool-call", "next-message"}));
  bob.runner->set_status(Status::Idle);
  ASSERT_TRUE(until([&] { return bob.heard.size() == 4; }));
  EXPECT_EQ(bob.heard.back(), "on-idle");
  EXPECT_EQ(daemon.command({"flush", "Bob"}).exit_code, 0);
  ASSERT_TRUE(until([&] { return bob.heard.size() == 5; }));
  EXPECT_EQ(bob.heard.back(), "manual");
  EXPECT_EQ(bob.contexts.back().mode, DeliveryMode::OnIdle);
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 5; }));
  for (const auto& receipt : alice.receipts) EXPECT_EQ(receipt.status, ReceiptStatus::Delivered);
}

TEST_F(CallbackSession, WhatFailedComesAgainUnderTheSameId) {
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

TEST_F(CallbackSession, WhatWasUnansweredAtAReleaseIsInDoubtAndComesToNobodyElse) {
  bob.reply = nullptr;
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "hi"}));
  ASSERT_TRUE(until([&] { return bob.heard.size() == 1; }));
  bob.runner->release("enough");
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 1; }));
  EXPECT_EQ(alice.receipts[0].status, ReceiptStatus::InDoubt);
  Agent again{"Bob", loop, [this] { look(); }};
  join(again);
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "and you?"}));
  ASSERT_TRUE(until([&] { return alice.receipts.size() == 2; }));
  EXPECT_EQ(again.heard, Texts{"and you?"});
  again.runner->release("done");
}

TEST_F(CallbackSession, WhatWasKeptAtAReleaseComesToTheNextOfThatName) {
  bob.reply = [](const session::MessageContext&) {
    return session::MessageReceipt{.status = ReceiptStatus::Deferred, .reason = "later"};
  };
  ASSERT_TRUE(alice.runner->send({.to = "Bob", .text = "hi"}));
  ASSERT_TRUE(until([&] { return bob.heard.size() == 1; }));
  bob.runner->release("enough");
  Agent again{"Bob", loop, [this] { look(); }};
  join(again);
  ASSERT_TRUE(until([&] { return again.heard.size() == 1 && alice.receipts.size() == 1; }));
  EXPECT_EQ(again.contexts[0].id, bob.contexts[0].id);
  EXPECT_EQ(again.contexts[0].attempt, 1U);
  EXPECT_EQ(alice.receipts[0].status, ReceiptStatus::Delivered);
  again.runner->release("done");
}

/// Two who answer whatever they hear with the next words, until one of them is refused or has heard enough.
struct LongTalk : CallbackSession {
  void talk(std::size_t turns, std::function<std::string()> words) {
    std::size_t said = 0;
    const auto say_to = [&](Agent& from, const std::string& to) {
      ++said;
      EXPECT_TRUE(from.runner->send({.to = to, .text = words()}));
    };
    std::size_t answered_by_alice = alice.heard.size(), answered_by_bob = bob.heard.size();
    const auto begin = said;
    say_to(alice, "Bob");
    ASSERT_TRUE(until([&] {
      while (answered_by_bob < bob.heard.size() && said < begin + turns) ++answered_by_bob, say_to(bob, "Alice");
      while (answered_by_alice < alice.heard.size() && said < begin + turns) ++answered_by_alice, say_to(alice, "Bob");
      return !alice.refused.empty() || !bob.refused.empty() || alice.heard.size() + bob.heard.size() >= turns;
    }));
  }
};

TEST_F(LongTalk, OfFiveHundredHonestTurnsIsNotStopped) {
  broker::testing::HonestTalk words{broker::testing::Style::Review, 1};
  talk(500, [&] { return words.next(); });
  EXPECT_EQ(alice.heard.size() + bob.heard.size(), 500u);
  EXPECT_EQ(alice.refused, Texts{});
  EXPECT_EQ(bob.refused, Texts{});
}

TEST_F(LongTalk, OfThanksIsStoppedWithinTenExchangesAndSaysWhy) {
  talk(500, [] { return "Thank you very much!"; });
  EXPECT_LE(alice.heard.size() + bob.heard.size(), 20u);
  ASSERT_EQ(alice.refused.size() + bob.refused.size(), 1u);
  const auto why = (alice.refused.empty() ? bob : alice).refused.front();
  EXPECT_NE(why.find("agent-relay loops reset"), std::string::npos) << why;
}

}  // namespace
}  // namespace relay::integration
