/// Why a request was not done, as an HTTP client hears it: a status, a code for programs, a sentence for people.
///
/// What the daemon says no to has codes of its own (wire.md 7.3, 8.2); one table says which status each of them is. Nothing
/// that a client can get wrong is a status of 500 or above: those say that the relay, not the request, is in trouble, and
/// they come with Retry-After.
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

/// {"error":{"code","message"}} with its status, and Retry-After where trying again helps.
net::ServerResponse to_response(const ApiError& error);

ApiError bad_request(std::string message);
ApiError not_found(std::string message);
ApiError conflict(std::string_view code, std::string message);

/// By the table; what has no code was tried and did not work (FAILED, 409).
ApiError api_error_by_code(std::string_view code, std::string message);
/// Nobody answered (client::Errc), or what the daemon said instead (client::refused_by_daemon).
ApiError to_api_error(const Error& error);
/// A `*_RESULT` that did not succeed, or a response with `error`; nothing when all is well.
std::optional<ApiError> api_error_in(const json::object& response);

}  // namespace relay::api
