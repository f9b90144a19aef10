/// The first bytes of an answer: status line and headers. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "base/result.h"
#include "net/http_response.h"
#include "net/request_reader.h"

namespace relay::net {

/// How the client will know where the body ends.
struct Framing {
  enum class Kind { Length, Chunks, Close, NoBody } kind = Kind::NoBody;
  std::size_t length = 0;  // of Kind::Length
};

/// Statuses whose answers have no body, whatever was said: 1xx, 204, 304.
bool has_no_body(int status);

/// An error says why the answer cannot be written.
Result<std::string> response_head(const ServerResponse& answer, Framing framing, HttpVersion version,
                                  KeepAlive keep_alive);

/// 101, with the answer to the client's key.
Result<std::string> websocket_head(std::string_view client_key, std::string_view protocol);

}  // namespace relay::net
