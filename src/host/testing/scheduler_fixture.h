/// A scheduler in a test, with the test as injector, native interface and receipt reporter. Every step is one line.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/testing/memory_directory.h"
#include "host/delivery/scheduler.h"

namespace relay::host::testing {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;

struct SchedulerFixture : ::testing::Test, InjectionSlot, adapters::DeliveryTarget, ReceiptReporter {
  using Lines = std::vector<std::string>;

  client::testing::MemoryDirectory disk;
  IntentLog intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  DeliveryScheduler scheduler{intent, *this, this, *this};
  DeliveryScheduler::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  Lines steps;
  std::optional<Delivery> gate;
  bool typing = false;   // the one at the gate has started
  bool sending = false;  // and its Enter is due
  OnAccepted on_accepted;
  protocol::Receipt last;

  void deliver(const adapters::NativeDelivery& native, OnAccepted done) override {
    steps.push_back(format("native {}", native.text));
    on_accepted = std::move(done);
  }
  void add(Delivery delivery) override {
    steps.push_back(format("type {}", delivery.text));
    gate = std::move(delivery);
  }
  bool can_accept() const override { return !gate; }
  std::optional<Delivery> reclaim() override { return typing ? std::nullopt : std::exchange(gate, std::nullopt); }
  std::optional<SteadyTime> sending_until() const override {
    return sending ? std::optional{SteadyTime{2h}} : std::nullopt;
  }
  bool has_interrupted() const override { return gate && gate->injection.has_interrupted(); }
  void gate_interrupts() {
    rules.interrupt = "\x1b";
    gate->injection = Injection{rules, Injection::InterruptPolicy::Interrupt};
    ASSERT_EQ(gate->injection.decide({.now = view.now + 1h, .state = State::Working}).step, InjectionStep::Interrupt);
  }
  void report(const client::DeliveryRef& ref, protocol::Receipt receipt) override {
    last = receipt;
    steps.push_back(format("{} {}{}{}{}{}", ref.id, name_of(receipt.status), receipt.proof.empty() ? "" : " ",
                           receipt.proof, receipt.reason.empty() ? "" : ": ", receipt.reason));
  }

  Delivery delivery(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) {
    return {.ref = {.id = id},
            .from = "Alice",
            .message = id,
            .text = "text of " + id,
            .mode = mode,
            .injection = Injection{rules}};
  }
  void receive(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) { scheduler.add(delivery(id, mode)); }
  void receive_from(const std::string& from, const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle,
                    protocol::Priority priority = protocol::Priority::Normal) {
    auto made = delivery(id, mode);
    made.ref.lane = {mode, priority};
    made.from = from;
    scheduler.add(std::move(made));
  }
  void receive_from_user(const std::string& id, bool silent = false) {
    auto made = delivery(id);
    made.from = "human";
    made.as_user = true;
    made.silent = silent;
    scheduler.add(std::move(made));
  }
  void receive_silent(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) {
    auto made = delivery(id, mode);
    made.silent = true;
    scheduler.add(std::move(made));
  }
  void support(DeliveryMode mode, DeliveryTiming timing, std::string_view via) {
    view.can.output = "transcript";
    view.can.by(mode) = {timing, via};
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = state;
    (void)scheduler.deliver(view);
  }
  /// The native interface accepts it.
  void deliver_natively(const std::string& id) {
    receive(id);
    after(1s, State::Idle);
    on_accepted({});
  }
  void report_input(std::string_view text, std::string_view via, std::string_view id) {
    EvidenceMatcher input{text};
    scheduler.on_model_input(input, via, id);
  }
  void fetch(const Lines& ids) {
    (void)scheduler.fetch(ids);
    scheduler.on_fetched();
  }
  Lines take_steps() { return std::exchange(steps, {}); }
};

}  // namespace relay::host::testing
