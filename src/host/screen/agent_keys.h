/// Encodes the host's own keys and pastes for the modes of the agent's terminal.
///
/// Ownership: borrows screen, input and rules, which outlive it. Threading: loop thread only.
#pragma once

#include <string_view>

#include "host/delivery/injector.h"
#include "host/screen/agent_input.h"
#include "profiles/profile.h"
#include "terminal/keys.h"
#include "terminal/screen.h"

namespace relay::host {

class AgentKeys final : public InjectorActions {
 public:
  AgentKeys(const terminal::Screen& screen, AgentInput& input, const profiles::TypingRules& rules)
      : screen_{screen}, input_{input}, rules_{rules} {}

  void press(const terminal::Key& key);
  void interrupt() override;
  void paste(std::string_view text) override;
  void press_enter() override { press({.name = terminal::NamedKey::Enter}); }
  void erase(std::size_t characters) override;

 private:
  const terminal::Screen& screen_;
  AgentInput& input_;
  const profiles::TypingRules& rules_;
};

}  // namespace relay::host
