/// PROMPTS, ANSWER: the prompts of agents and their answers. Off the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::protocol {

Result<std::string> parse_prompts(std::string_view payload);  // the requested agent, or empty: all

enum class PromptDecision : std::uint8_t { Approve, Deny };
std::string_view name_of(PromptDecision decision);

struct AnswerRequest {
  std::string agent = {};
  std::string request = {};  // the id of the event: `requestId`, `questionId`
  std::optional<PromptDecision> decision = {};
  std::vector<std::string> answers = {};  // to a question's parts, in their order
  std::string reason = {};                // for the agent and the log
  std::string by = {};                    // the answering user or component; trusted only from the command line
};
/// Contains a decision, answers, or both.
Result<AnswerRequest> parse_answer(std::string_view payload);
std::string write_answer(const AnswerRequest& answer);

}  // namespace relay::protocol
