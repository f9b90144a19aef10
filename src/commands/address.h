/// The address of an inline command: the part between its prefix and its text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::commands {

struct Address {
  std::string to;
  std::optional<std::string> project;
  std::optional<std::string> thread;
  std::optional<std::string> thread_project;
  std::optional<std::string> topic;
  std::string_view rest;  // the text, without blanks at its ends
};

/// `Bob hello`, `web:Bob [thread:review-12] [topic:deploys] hello`. The error is the reason for a CommandError.
Result<Address> read_address(std::string_view text);

/// Splits `project:agent` at the first colon when both sides are not empty; else the whole is a name.
void split_project(std::string_view target, std::string& to, std::optional<std::string>& project);

/// May the word be a topic? It has letters, digits and `_ - . /`.
bool is_topic_word(std::string_view word);

/// A name from an example (`AgentName`), not of an agent.
bool is_placeholder(std::string_view name);

}  // namespace relay::commands
