/// The ledger of one message as a person reads it: a line of time for each recipient, and a verdict in words.
///
///   to Bob  d-7kq2m9xb  on-idle
///     ●  14:03:07.120       +0 ms  queued      proof: stored
///     ●  14:03:07.141      +21 ms  accepted    proof: accepted   by inbox
///     │  4 s later
///     ●  14:03:11.320      +4.2 s  delivered   proof: seen       by inbox
///     │                            transcript 0199…
///     ╰─ Bob's agent has seen it 4.2 s after you sent it
///
/// Pure: an answer to TRACE goes in, text comes out. Everything from the wire is sanitised here.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/framework/context.h"

namespace relay::cli {

/// What the drawing needs to know beside the answer; a test gives its own.
struct RenderContext {
  std::size_t columns = 80;
  bool unicode = true;
  Styler paint{false};
  WallMs now = 0;
  std::string reader;  // whoever looks: what they sent themselves is called so
};
RenderContext canvas_of(const Context& context);

std::string timeline(const json::object& trace, const RenderContext& canvas);

/// The last line of a delivery without its drawing: "Bob's agent has seen it 1.2 s after you sent it".
std::string outcome_text(const json::object& delivery, const json::object& message, const RenderContext& canvas);

/// Nothing more will happen to any of its deliveries by itself.
bool is_final_state(const json::object& trace);
bool is_final_state(std::string_view state);

}  // namespace relay::cli
