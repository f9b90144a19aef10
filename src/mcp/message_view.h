/// Letters as an answer shows them: what a model reads, and the same as a value. Bounded.
#pragma once

#include "mcp/relay_client.h"
#include "mcp/server.h"

namespace relay::mcp {

inline constexpr std::size_t kMaxBodiesBytes = 64 * 1024;  // of all letters in one answer
inline constexpr std::size_t kMaxBodyBytes = 16 * 1024;    // of one

/// `nothing` is said when there are none.
ToolResult render_messages(const InboxPage& mail, std::string_view nothing);
json::object messages_json(const InboxPage& mail);

}  // namespace relay::mcp
