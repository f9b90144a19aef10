#include "api/refusal.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "client/errors.h"

namespace relay::api {
namespace {

constexpr Millis kSoon{1'000};

struct Row {
  std::string_view code;
  int status;
  bool again = false;
};

constexpr std::array kRows = {
    Row{"UNKNOWN_RECIPIENT", 404}, Row{"NOT_FOUND", 404},   Row{"STALE", 409},      Row{"NOT_OWNER", 409},
    Row{"UNSUPPORTED", 409},       Row{"LOOP", 409},        Row{"EXPIRED", 409},    Row{"REFUSED", 403},
    Row{"TOO_LARGE", 413},         Row{"BAD_REQUEST", 400}, Row{"BUSY", 429, true}, Row{"RATE_LIMITED", 429, true},
    Row{"STORAGE", 503, true},
};

}  // namespace

net::ServerAnswer answer_of(const Refusal& refusal) {
  auto answer = net::error_answer(refusal.status, refusal.code, refusal.message);
  if (refusal.retry_after) {
    const auto seconds =
        std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(*refusal.retry_after).count());
    answer.headers.push_back({"Retry-After", format("{}", seconds)});
  }
  if (refusal.status == 401) answer.headers.push_back({"WWW-Authenticate", "Bearer"});
  return answer;
}

Refusal bad_request(std::string message) { return {400, "BAD_REQUEST", std::move(message), {}}; }
Refusal not_found(std::string message) { return {404, "NOT_FOUND", std::move(message), {}}; }
Refusal conflict(std::string_view code, std::string message) {
  return {409, std::string{code}, std::move(message), {}};
}

Refusal refusal_by_code(std::string_view code, std::string message) {
  for (const auto& row : kRows)
    if (row.code == code)
      return {row.status, std::string{code}, std::move(message), row.again ? std::optional{kSoon} : std::nullopt};
  return {409, code.empty() ? "FAILED" : std::string{code}, std::move(message), {}};
}

Refusal refusal_of(const Error& error) {
  using client::Errc;
  if (is(error, Errc::TimedOut)) return {504, "TIMEOUT", error.message(), kSoon};
  if (is(error, Errc::Full)) return {429, "BUSY", error.message(), kSoon};
  if (is(error, Errc::TooLarge)) return {413, "TOO_LARGE", error.message(), {}};
  if (is(error, Errc::Refused) || is(error, Errc::BadMessage)) return {400, "BAD_REQUEST", error.message(), {}};
  return {503, "UNAVAILABLE", error.message(), kSoon};
}

std::optional<Refusal> refusal_in(const json::object& answer) {
  const auto error = string_member(answer, "error");
  const auto success = bool_member(answer, "success");
  if (success.value_or(!error)) return std::nullopt;
  const auto code = string_member(answer, "code");
  if (!code && !success) return Refusal{503, "STORAGE", error.value_or("the store did not answer"), kSoon};
  return refusal_by_code(code.value_or(""), error.value_or("the relay gave no reason"));
}

}  // namespace relay::api
