/// Records the reports of an adapter, in order.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adapters/adapter.h"

namespace relay::adapters::testing {

class Recorder final : public Listener, public OutputListener, public DeliveryListener {
 public:
  OutputListener& output() override { return *this; }
  DeliveryListener& deliveries() override { return *this; }
  void on_assistant_text(std::string_view markdown, std::string_view) override { texts.emplace_back(markdown); }
  void on_model_input(std::string_view text, std::string_view via, std::string_view id) override {
    inputs.emplace_back(text);
    input_sources.push_back(std::string{via} + " " + std::string{id});
  }
  void on_state_reported() override { ++state_reports; }
  void on_capabilities() override { ++capabilities; }
  void on_prompt(const Prompt& prompt) override { prompts.push_back(prompt); }
  void on_prompt_closed(const std::string& id, const PromptOutcome& outcome) override {
    closed.push_back(id + " by " + std::string{outcome.by});
    outcomes.push_back(outcome);
  }
  void on_event(const events::Event& event, WallMs at) override { agent_events.emplace_back(event, at); }
  void on_usage(const TokenUsage& sample) override { usage.push_back(sample); }
  void on_failure(std::string_view message, std::string_view) override { failures.emplace_back(message); }
  void on_interface_failed(std::string_view via, std::string reason) override {
    failed.push_back(std::string{via} + ": " + reason);
  }
  void on_interface_recovered(std::string_view via) override { recovered.emplace_back(via); }
  void on_returned(const std::vector<std::string>& deliveries, std::string_view) override {
    returned.insert(returned.end(), deliveries.begin(), deliveries.end());
  }
  std::string take_pending(protocol::DeliveryMode mode, std::size_t) override {
    return std::exchange(pending[mode], {});
  }

  std::map<protocol::DeliveryMode, std::string> pending;  // for a hook to take
  std::vector<std::string> texts, inputs, input_sources, closed, failures, failed, recovered, returned;
  std::vector<Prompt> prompts;
  std::vector<PromptOutcome> outcomes;
  std::vector<TokenUsage> usage;
  std::vector<std::pair<events::Event, WallMs>> agent_events;
  int state_reports = 0, capabilities = 0;
};

}  // namespace relay::adapters::testing
