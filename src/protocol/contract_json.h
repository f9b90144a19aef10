/// Parts of the contract's JSON that messages and events share. Internal to protocol/.
#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/contract.h"
#include "protocol/payload_fields.h"
#include "text/json_writer.h"

namespace relay::protocol::detail {

/// An identity, or "system".
Result<AgentIdentity> parse_identity(const Field& field);
void write_identity(text::JsonWriter& writer, std::string_view key, const AgentIdentity& identity);

void write_message_members(text::JsonWriter& writer, const RelayMessage& message);

}  // namespace relay::protocol::detail
