#include "host/screen/agent_keys.h"

#include <string>

namespace relay::host {

void AgentKeys::press(const terminal::Key& key) { input_.write(terminal::encode_key(key, screen_.modes())); }

void AgentKeys::interrupt() { input_.write(rules_.interrupt); }

void AgentKeys::paste(std::string_view text) { input_.write(terminal::encode_paste(text, screen_.modes())); }

void AgentKeys::erase(std::size_t characters) {
  const auto key = terminal::encode_key({.name = terminal::NamedKey::Backspace}, screen_.modes());
  std::string keys;
  for (std::size_t i = 0; i < characters; ++i) keys += key;
  input_.write(keys);
}

}  // namespace relay::host
