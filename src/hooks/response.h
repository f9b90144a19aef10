/// What a hook says back to its agent, and how that agent wants to hear it.
///
/// Why per agent: Codex refuses a whole result for one field it does not take; Gemini has its own events and cannot be
///   allowed anything by a hook; Claude takes the most.
/// Invariants: write_answer says all of an answer's verdict or nothing: where an agent cannot be told, the person at
///   the keyboard decides. A tool is never allowed with another input than the one meant.
/// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/event.h"

namespace relay::hooks {

/// Claude puts away what is longer than 10 000 characters, Codex what is longer than about 2 500 tokens.
inline constexpr std::size_t kMaxContextBytes = 9000;

enum class HookDecision : std::uint8_t { None, Allow, Deny };

struct HookResponse {
  std::string context = {};                    // for the model to read; empty: nothing
  HookDecision decision = HookDecision::None;  // of a permission
  std::string message = {};                    // with Deny: what the model is told
  std::string updated_input = {};  // with Allow: a JSON object in place of tool_input; only Claude takes one

  friend bool operator==(const HookResponse&, const HookResponse&) = default;
};

json::object to_json(const HookResponse& answer);
Result<HookResponse> response_from(const json::object& object);

/// What to print on the hook's stdout; empty when there is nothing to say, or no way to say it to that agent there.
std::string write_response(const HookEvent& event, const HookResponse& answer);

/// Whether that agent reads text for its model from that event's answer.
bool accepts_context(const HookEvent& event);

}  // namespace relay::hooks
