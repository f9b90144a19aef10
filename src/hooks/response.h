/// The response of a hook, in the form that its agent reads.
///
/// Why per agent: Codex refuses a whole response for one unknown field; Gemini has its own events and does not let a
///   hook approve anything; Claude accepts most fields.
/// Invariants: write_response writes a decision completely or not at all: where an agent has no form for it, the user
///   at the keyboard decides. A tool is never approved with an input other than the intended one.
/// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/event.h"

namespace relay::hooks {

/// Claude moves text of more than 10 000 characters into a file, Codex text of more than about 2 500 tokens.
inline constexpr std::size_t kMaxContextBytes = 9000;

enum class HookDecision : std::uint8_t { None, Allow, Deny };

struct HookResponse {
  std::string context = {};                    // for the model to read; empty: nothing
  HookDecision decision = HookDecision::None;  // of a permission
  std::string message = {};                    // with Deny: the text for the model
  std::string updated_input = {};              // with Approve: a JSON object that replaces tool_input; Claude only

  friend bool operator==(const HookResponse&, const HookResponse&) = default;
};

json::object to_json(const HookResponse& answer);
Result<HookResponse> response_from(const json::object& object);

/// The text for the hook's stdout; empty when there is nothing to write or the agent has no form for it.
std::string write_response(const HookEvent& event, const HookResponse& answer);

/// Does the agent read text for its model from the response to that event?
bool accepts_context(const HookEvent& event);

}  // namespace relay::hooks
