/// What agents of this project ask, and how it is answered: by way of the daemon, which knows risks, rules and times, or
/// without one through the doors of their hosts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/framework/context.h"

namespace relay::cli {

/// Every open prompt of that kind (`permission`, `question`; empty: both), oldest first. All have `agent`, `id` (short),
/// `requestId`, `kind`, `summary`, `requestedAt`, `canAnswer`; from the daemon also what PROMPTS_RESPONSE tells.
Result<std::vector<json::object>> open_prompts(const Context& context, std::string_view kind);

struct PromptAnswer {
  std::string agent = {};
  std::string prompt = {};  // empty: the only one that is open
  std::string_view kind = {};
  bool allow = true;
  std::string message = {};
  std::vector<std::string> answers = {};
};

/// The prompt that was answered.
Result<json::object> answer_prompt(const Context& context, const PromptAnswer& answer);

}  // namespace relay::cli
