/// A prompt that an agent puts to its user: a permission, or a question with choices.
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
  bool multiple = false;                  // several choices may be selected
};

struct Prompt {
  std::string id = {};  // the adapter's, short, unique in this host's life
  PromptKind kind = PromptKind::Permission;
  std::string tool = {};       // the agent's name for it
  std::string summary = {};    // one line for the user: the effect of an approval
  std::string input = {};      // the tool's input as JSON
  bool partial = false;        // `input` is only its first part
  std::string directory = {};  // the agent's working directory; empty: not reported
  std::vector<Question> questions = {};
  std::string_view via = {};  // the interface of an answer
};

struct PromptAnswer {
  enum class Decision : std::uint8_t { Approve, Deny };
  Decision decision = Decision::Approve;
  std::string message = {};               // with Deny: for the model
  std::vector<std::string> answers = {};  // to the questions, in their order
};

/// How a prompt ended.
struct PromptOutcome {
  std::string_view by = {};      // `user`, the interface of the relay's answer, or `nobody: ` and a reason
  bool still_on_screen = false;  // the agent's dialog is open, and only the user can answer it
  std::optional<PromptAnswer::Decision> decision = {};  // the user's, if the agent reports it
};

/// A tool call in one line: its command, the file it touches, else its input.
std::string summary_of(std::string_view tool, const json::object& input);

}  // namespace relay::adapters
