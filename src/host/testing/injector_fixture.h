/// An injector in a test, with the test as composer, silent queue and receipt reporter. Every step is one line.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/testing/memory_directory.h"
#include "host/delivery/injector.h"

namespace relay::host::testing {

using namespace std::chrono_literals;
using profiles::State;

struct InjectorFixture : ::testing::Test, InjectorActions, SilentDeliveries, ReceiptReporter {
  using Lines = std::vector<std::string>;

  client::testing::MemoryDirectory disk;
  IntentLog intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  Injector injector{rules, intent, *this, *this};
  Injector::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  Lines steps;
  std::vector<Delivery> silent;
  std::optional<profiles::Composer> drawn_composer;
  protocol::Receipt last;

  void interrupt() override { steps.push_back("interrupt"); }
  void paste(std::string_view text) override { steps.push_back(format("paste {}", text)); }
  void press_enter() override { steps.push_back("enter"); }
  void erase(std::size_t characters) override { steps.push_back(format("erase {}", characters)); }
  void report(const client::DeliveryRef& ref, protocol::Receipt receipt) override {
    steps.push_back(format("{} {}{}{}{}", ref.id, name_of(receipt.status), receipt.proof == "written" ? " written" : "",
                           receipt.reason.empty() ? "" : ": ", receipt.reason));
    last = receipt;
  }
  std::vector<Delivery> take_silent(std::size_t) override { return std::exchange(silent, {}); }
  void return_silent(std::vector<Delivery> deliveries) override { silent = std::move(deliveries); }

  Delivery delivery(const std::string& id) {
    return {.ref = {.id = id}, .from = "Alice", .message = id, .text = "text of " + id, .injection = Injection{rules}};
  }
  Delivery interrupting(const std::string& id) {
    rules.interrupt = "\x1b";
    auto made = delivery(id);
    made.injection = Injection{rules, Injection::InterruptPolicy::Interrupt};
    return made;
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = state;
    (void)injector.deliver(view, *this);
  }
  /// Pastes the next one, and Enter.
  void type_next() {
    after(1s, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
  }
  void deliver_one() {
    after(10ms, State::Idle);
    type_next();
    if (drawn_composer) drawn_composer->draft.clear();
    after(50ms, State::Working);
  }
  profiles::Composer& show_composer(std::string draft = {}) {
    drawn_composer = profiles::Composer{.focused = true, .draft = std::move(draft)};
    view.composer = &drawn_composer;
    return *drawn_composer;
  }
  void report_input(std::string_view text, std::string_view via, std::string_view id) {
    EvidenceMatcher input{text};
    injector.on_model_input(input, via, id);
  }
  Lines take_steps() { return std::exchange(steps, {}); }
};

}  // namespace relay::host::testing
