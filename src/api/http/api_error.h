/// An error response: a status, a code for programs and a message for users.
///
/// One table maps the codes of the wire (wire.md 7.3, 8.2) to statuses. A mistake of the client is always below 500. A
/// status of 500 or above means that the relay has failed; those with a known cause carry Retry-After.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "net/http_response.h"

namespace relay::api {

struct ApiError {
  int status = 400;
  std::string code = {};
  std::string message = {};
  std::optional<Millis> retry_after = {};

  bool operator==(const ApiError&) const = default;
};

template <class T = void>
using ApiResult = std::expected<T, ApiError>;

/// {"error":{"code","message"}} with the status, and Retry-After when `retry_after` is set.
net::ServerResponse to_response(const ApiError& error);

ApiError bad_request(std::string message);
ApiError not_found(std::string message);
ApiError conflict(std::string_view code, std::string message);

/// The status comes from the table. A failure without a code is FAILED, 409.
ApiError api_error_by_code(std::string_view code, std::string message);
/// Maps a transport error (client::Errc) or an error reported by the daemon (client::refused_by_daemon).
ApiError to_api_error(const Error& error);
/// The error of a `*_RESULT` without success or of a response with `error`; empty on success.
std::optional<ApiError> api_error_in(const json::object& response);

}  // namespace relay::api
