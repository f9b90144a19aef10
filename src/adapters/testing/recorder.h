/// Remembers all that an adapter told, as lines in order.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adapters/adapter.h"

namespace relay::adapters::testing {

class Recorder final : public Listener {
 public:
  void on_assistant_text(std::string_view markdown, std::string_view) override { heard.emplace_back(markdown); }
  void on_model_input(std::string_view text, std::string_view way, std::string_view id) override {
    given.emplace_back(text);
    shown.push_back(std::string{way} + " " + std::string{id});
  }
  void on_state_reported() override { ++known; }
  void on_capabilities() override { ++capabilities; }
  void on_prompt(const Prompt& prompt) override { prompts.push_back(prompt); }
  void on_prompt_closed(const std::string& id, const PromptOutcome& end) override {
    gone.push_back(id + " by " + std::string{end.by});
    ends.push_back(end);
  }
  void on_event(const events::Event& event, WallMs at) override { happened.emplace_back(event, at); }
  void on_usage(const TokenUsage& told) override { usage.push_back(told); }
  void on_failure(std::string_view what, std::string_view) override { failures.emplace_back(what); }
  void on_interface_failed(std::string_view way, std::string why) override {
    broken.push_back(std::string{way} + ": " + why);
  }
  void on_interface_recovered(std::string_view way) override { mended.emplace_back(way); }
  void on_returned(const std::vector<std::string>& deliveries, std::string_view) override {
    returned.insert(returned.end(), deliveries.begin(), deliveries.end());
  }
  std::string take_pending(protocol::DeliveryMode mode, std::size_t) override {
    return std::exchange(waiting[mode], {});
  }

  std::map<protocol::DeliveryMode, std::string> waiting;  // for a hook to take
  std::vector<std::string> heard, given, shown, gone, failures, broken, mended, returned;
  std::vector<Prompt> prompts;
  std::vector<PromptOutcome> ends;
  std::vector<TokenUsage> usage;
  std::vector<std::pair<events::Event, WallMs>> happened;
  int known = 0, capabilities = 0;
};

}  // namespace relay::adapters::testing
