/// The response to a query that the store could not answer: a message and a code of the wire (wire.md 10.1).
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/send.h"
#include "records/query_errors.h"
#include "text/json_writer.h"

namespace relay::broker {

inline void write_query_error(text::JsonWriter& payload, const Error& error) {
  const auto code = is(error, records::QueryErrc::NotFound)    ? name_of(protocol::ErrorCode::NotFound)
                    : is(error, records::QueryErrc::Ambiguous) ? name_of(protocol::NackCode::BadRequest)
                                                               : name_of(protocol::NackCode::Storage);
  payload.field("error", error.message()).field("code", code);
}

/// The whole response.
inline std::string query_error_payload(const Error& error) {
  text::JsonWriter payload;
  write_query_error(payload, error);
  return payload.take();
}

}  // namespace relay::broker
