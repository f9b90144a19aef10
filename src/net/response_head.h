/// The head of a response: status line and headers. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "base/result.h"
#include "net/http_response.h"
#include "net/request_reader.h"

namespace relay::net {

/// How the client finds the end of the body.
struct Framing {
  enum class Kind { Length, Chunks, Close, NoBody } kind = Kind::NoBody;
  std::size_t length = 0;  // of Kind::Length
};

/// Statuses whose responses have no body: 1xx, 204, 304.
bool has_no_body(int status);

/// An error is the reason why the head cannot be written.
Result<std::string> response_head(const ServerResponse& response, Framing framing, HttpVersion version,
                                  KeepAlive keep_alive);

/// 101, with the accept key for the client's key.
Result<std::string> websocket_head(std::string_view client_key, std::string_view protocol);

}  // namespace relay::net
