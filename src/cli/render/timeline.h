/// The delivery history of a message as text: a timeline for each recipient, and the outcome.
///
///   to Bob  d-7kq2m9xb  on-idle
///     ●  14:03:07.389       +0 ms  queued      proof: stored
///     ●  14:03:07.390       +1 ms  accepted    proof: accepted
///     │  3 s later
///     ●  14:03:10.981      +3.5 s  accepted    proof: written    via inbox
///     ●  14:03:10.986      +3.5 s  delivered   proof: seen       via inbox
///     │                            hook UserPromptSubmit
///     ╰─ Bob's agent saw it 3.5 s after you sent it
///
/// Pure: the input is a TRACE response, the output is text. Sanitizes everything from the wire.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/framework/context.h"

namespace relay::cli {

/// The parameters of the drawing; tests pass their own.
struct RenderContext {
  std::size_t columns = 80;
  bool unicode = true;
  Styler paint{false};
  WallMs now = 0;
  std::string reader;  // the user: messages from this name are "you sent"
};
RenderContext render_context_of(const Context& context);

std::string timeline(const json::object& trace, const RenderContext& render);

/// The last line of a delivery without the drawing: "Bob's agent saw it 1.2 s after you sent it".
std::string outcome_text(const json::object& delivery, const json::object& message, const RenderContext& render);

/// No delivery will change by itself.
bool is_final_state(const json::object& trace);
bool is_final_state(std::string_view state);

}  // namespace relay::cli
