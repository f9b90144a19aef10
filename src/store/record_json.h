/// Lists and small structures within a row, as JSON text. Private to src/store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/records.h"

namespace relay::store {

std::string to_json(const protocol::Capabilities& capabilities);
std::string to_json(const std::vector<std::string>& texts);
std::string to_json(const std::vector<AgentName>& names);
std::string to_json(const std::vector<std::uint64_t>& numbers);
std::string to_json(const std::vector<records::ShadowBinding>& shadows);
std::string to_json(const std::vector<records::Vote>& votes);

/// Text that does not parse means a damaged row.
Result<protocol::Capabilities> capabilities_from_json(const std::string& text);
Result<std::vector<std::string>> texts_from_json(const std::string& text);
Result<std::vector<AgentName>> names_from_json(const std::string& text);
Result<std::vector<std::uint64_t>> numbers_from_json(const std::string& text);
Result<std::vector<records::ShadowBinding>> shadows_from_json(const std::string& text);
Result<std::vector<records::Vote>> votes_from_json(const std::string& text);
Result<std::vector<protocol::DeliveryPolicyRule>> policy_from_json(const std::string& text);

/// The idempotency key in a message's payload_meta; empty when there is none.
std::string idempotency_key_in(const std::string& payload_meta);

}  // namespace relay::store
