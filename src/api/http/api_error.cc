#include "api/http/api_error.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "client/errors.h"
#include "protocol/send.h"

namespace relay::api {
namespace {

constexpr Millis kSoon{1'000};

struct Row {
  std::string_view code;
  int status;
  bool again = false;
};

/// Every code of ERROR and NACK that the API can be told. docs/api.md has the same table for people.
constexpr std::array kRows = {
    Row{"BAD_REQUEST", 400},         // the request
    Row{"REFUSED", 403},             // the recipient's policy
    Row{"NOT_FOUND", 404},           //
    Row{"UNKNOWN_RECIPIENT", 404},   //
    Row{"STALE", 409},               // not as things stand
    Row{"NOT_OWNER", 409},           //
    Row{"UNSUPPORTED", 409},         //
    Row{"LOOP", 409},                //
    Row{"EXPIRED", 409},             //
    Row{"TOO_LARGE", 413},           //
    Row{"BUSY", 429, true},          // too much at once
    Row{"RATE_LIMITED", 429, true},  //
    Row{"STORAGE", 503, true},       // trouble of the relay's
    Row{"INTERNAL", 503, true},      //
    Row{"UNAVAILABLE", 503, true},   //
    Row{"TIMEOUT", 504, true},       //
};

}  // namespace

net::ServerResponse to_response(const ApiError& refusal) {
  auto answer = net::error_response(refusal.status, refusal.code, refusal.message);
  if (refusal.retry_after) {
    const auto seconds =
        std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(*refusal.retry_after).count());
    answer.headers.push_back({"Retry-After", format("{}", seconds)});
  }
  if (refusal.status == 426) answer.headers.push_back({"Upgrade", "websocket"});
  if (refusal.status == 401) answer.headers.push_back({"WWW-Authenticate", "Bearer"});
  return answer;
}

ApiError bad_request(std::string message) { return {400, "BAD_REQUEST", std::move(message), {}}; }
ApiError not_found(std::string message) { return {404, "NOT_FOUND", std::move(message), {}}; }
ApiError conflict(std::string_view code, std::string message) {
  return {409, std::string{code}, std::move(message), {}};
}

ApiError refusal_by_code(std::string_view code, std::string message) {
  for (const auto& row : kRows)
    if (row.code == code)
      return {row.status, std::string{code}, std::move(message), row.again ? std::optional{kSoon} : std::nullopt};
  return {409, code.empty() ? "FAILED" : std::string{code}, std::move(message), {}};
}

ApiError to_api_error(const Error& error) {
  using client::Errc;
  if (const auto said = protocol::nack_code_of(error)) return refusal_by_code(name_of(*said), error.message());
  if (is(error, Errc::TimedOut)) return refusal_by_code("TIMEOUT", error.message());
  if (is(error, Errc::Full)) return refusal_by_code("BUSY", error.message());
  if (is(error, Errc::TooLarge)) return refusal_by_code("TOO_LARGE", error.message());
  if (is(error, Errc::BadMessage)) return refusal_by_code("BAD_REQUEST", error.message());
  return refusal_by_code("UNAVAILABLE", error.message());
}

std::optional<ApiError> refusal_in(const json::object& answer) {
  const auto error = string_member(answer, "error");
  const auto success = bool_member(answer, "success");
  if (success.value_or(!error)) return std::nullopt;
  const auto code = string_member(answer, "code");
  if (!code && !success) return refusal_by_code("STORAGE", error.value_or("the store did not answer"));
  return refusal_by_code(code.value_or(""), error.value_or("the relay gave no reason"));
}

}  // namespace relay::api
