#include "api/http/api_error.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "client/errors.h"
#include "protocol/send.h"

namespace relay::api {
namespace {

constexpr Millis kRetryAfter{1'000};

struct Row {
  std::string_view code;
  int status;
  bool retryable = false;
};

/// Every ERROR and NACK code that can reach the API. docs/api.md has the same table.
constexpr std::array kRows = {
    Row{"BAD_REQUEST", 400},         // the request is wrong
    Row{"REFUSED", 403},             // refused by the recipient's policy
    Row{"NOT_FOUND", 404},           //
    Row{"UNKNOWN_RECIPIENT", 404},   //
    Row{"STALE", 409},               // conflicts with the current state
    Row{"NOT_OWNER", 409},           //
    Row{"UNSUPPORTED", 409},         //
    Row{"LOOP", 409},                //
    Row{"EXPIRED", 409},             //
    Row{"TOO_LARGE", 413},           //
    Row{"BUSY", 429, true},          // too many requests
    Row{"RATE_LIMITED", 429, true},  //
    Row{"STORAGE", 503, true},       // the relay has failed
    Row{"INTERNAL", 503, true},      //
    Row{"UNAVAILABLE", 503, true},   //
    Row{"TIMEOUT", 504, true},       //
};

}  // namespace

net::ServerResponse to_response(const ApiError& error) {
  auto response = net::error_response(error.status, error.code, error.message);
  if (error.retry_after) {
    const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(*error.retry_after).count());
    response.headers.push_back({"Retry-After", format("{}", seconds)});
  }
  if (error.status == 426) response.headers.push_back({"Upgrade", "websocket"});
  if (error.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

ApiError bad_request(std::string message) { return {400, "BAD_REQUEST", std::move(message), {}}; }
ApiError not_found(std::string message) { return {404, "NOT_FOUND", std::move(message), {}}; }
ApiError conflict(std::string_view code, std::string message) {
  return {409, std::string{code}, std::move(message), {}};
}

ApiError api_error_by_code(std::string_view code, std::string message) {
  for (const auto& row : kRows)
    if (row.code == code)
      return {row.status, std::string{code}, std::move(message),
              row.retryable ? std::optional{kRetryAfter} : std::nullopt};
  return {409, code.empty() ? "FAILED" : std::string{code}, std::move(message), {}};
}

ApiError to_api_error(const Error& error) {
  using client::Errc;
  if (const auto code = protocol::nack_code_of(error)) return api_error_by_code(name_of(*code), error.message());
  if (is(error, Errc::TimedOut)) return api_error_by_code("TIMEOUT", error.message());
  if (is(error, Errc::Full)) return api_error_by_code("BUSY", error.message());
  if (is(error, Errc::TooLarge)) return api_error_by_code("TOO_LARGE", error.message());
  if (is(error, Errc::BadMessage)) return api_error_by_code("BAD_REQUEST", error.message());
  return api_error_by_code("UNAVAILABLE", error.message());
}

std::optional<ApiError> api_error_in(const json::object& response) {
  const auto error = string_member(response, "error");
  const auto success = bool_member(response, "success");
  if (success.value_or(!error)) return std::nullopt;
  const auto code = string_member(response, "code");
  if (!code && !success) return api_error_by_code("STORAGE", error.value_or("the store did not respond"));
  return api_error_by_code(code.value_or(""), error.value_or("the relay gave no reason"));
}

}  // namespace relay::api
