/// The open prompts of this project's agents, and answers to them: through the daemon, which adds risks, rules and times,
/// or without it through the host sockets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/framework/context.h"

namespace relay::cli {

/// Every open prompt of that kind (`permission`, `question`; empty: both), oldest first. All have `agent`, `id` (short),
/// `requestId`, `kind`, `summary`, `requestedAt`, `canAnswer`; from the daemon also the fields of PROMPTS_RESPONSE.
Result<std::vector<json::object>> open_prompts(const Context& context, std::string_view kind);

struct PromptAnswer {
  std::string agent = {};
  std::string prompt = {};  // empty: the only open one
  std::string_view kind = {};
  bool approve = true;
  std::string message = {};
  std::vector<std::string> answers = {};
};

/// Returns the answered prompt.
Result<json::object> answer_prompt(const Context& context, const PromptAnswer& answer);

}  // namespace relay::cli
