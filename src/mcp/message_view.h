/// Messages as tool results: text for the model and the same as JSON. Bounded.
#pragma once

#include "mcp/relay_client.h"
#include "mcp/server.h"

namespace relay::mcp {

inline constexpr std::size_t kMaxBodiesBytes = 64 * 1024;  // of all messages in one result
inline constexpr std::size_t kMaxBodyBytes = 16 * 1024;    // of one

/// `nothing` is the text for an empty page.
ToolResult render_messages(const InboxPage& page, std::string_view nothing);
json::object messages_json(const InboxPage& page);

}  // namespace relay::mcp
