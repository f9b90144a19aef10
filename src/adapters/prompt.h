/// Something an agent asks its person: a permission, or a question with choices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace relay::adapters {

enum class PromptKind : std::uint8_t { Permission, Question };
std::string_view name_of(PromptKind kind);

struct Question {
  std::string text = {};
  std::vector<std::string> choices = {};  // labels; empty: free text
  bool several = false;
};

struct Prompt {
  std::string id = {};  // ours, short, unique in this host's life
  PromptKind kind = PromptKind::Permission;
  std::string tool = {};       // as the agent calls it
  std::string summary = {};    // one line for a person: what would happen
  std::string input = {};      // the tool's input as JSON
  bool partial = false;        // and only the beginning of it
  std::string directory = {};  // where the agent is; empty: that is not told
  std::vector<Question> questions = {};
  std::string_view via = {};  // how an answer goes
};

struct PromptAnswer {
  enum class Decision : std::uint8_t { Allow, Deny };
  Decision verdict = Decision::Allow;
  std::string message = {};               // with Deny: for the model
  std::vector<std::string> answers = {};  // to the questions, in their order
};

/// How a prompt ended.
struct PromptOutcome {
  std::string_view by = {};                            // `person`, the way our answer went, or `nobody` and why
  bool still_asked = false;                            // on the agent's screen, where only a person can answer
  std::optional<PromptAnswer::Decision> verdict = {};  // a person's, where the agent tells
};

/// What a tool would do, in one line: its command, the file it touches, else its input.
std::string summary_of(std::string_view tool, const json::object& input);

}  // namespace relay::adapters
