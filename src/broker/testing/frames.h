/// Reads frames that the broker sends and writes members of frames that it receives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/json.h"

namespace relay::broker::testing {

using Frame = json::object;
using Strings = std::vector<std::string>;

/// A member of this name; empty if it is missing or no string.
std::string string_field(const Frame& object, std::string_view name);
/// A member of this name; -1 if it is missing or no integer.
std::int64_t integer_field(const Frame& object, std::string_view name);

inline const Frame& payload(const Frame& frame) { return frame.at("payload").as_object(); }
std::string type_of(const Frame& frame);
std::string body(const Frame& frame);
/// `payload.code` of a NACK or ERROR.
std::string code_of(const Frame& frame);
/// The `delivery` object of a DELIVER.
const Frame& delivery_block(const Frame& deliver);
std::uint64_t seq_of(const Frame& deliver);
/// The event of an AGENT_EVENT.
Frame event_of(const Frame& frame);

/// `delivered/seen`, `deferred UNSUPPORTED`, `deferred retryable`, …
std::string receipt_summary(const Frame& receipt);

/// Members of HELLO that resume a session.
std::string with_token(const std::string& token);
/// Members of SEND that set the delivery mode, and `more` members of `payload_meta.delivery`.
std::string with_mode(std::string_view mode, std::string_view more = {});

/// Members of SEND whose sender blocks until it is answered, and `more` members of `payload_meta.sync`.
std::string with_blocking(std::string_view correlation_id, std::string_view more = {});

}  // namespace relay::broker::testing
