#include "api/http/api_error.h"

#include <gtest/gtest.h>

#include <map>

#include "client/errors.h"
#include "protocol/send.h"

namespace relay::api {
namespace {

using protocol::ErrorCode;

int status_of(std::string_view code) { return api_error_by_code(code, "why").status; }

TEST(ApiError, EveryWireCodeHasAStatus) {
  const std::map<protocol::NackCode, int> statuses = {{protocol::NackCode::BadRequest, 400},
                                                      {protocol::NackCode::Refused, 403},
                                                      {protocol::NackCode::UnknownRecipient, 404},
                                                      {protocol::NackCode::NotFound, 404},
                                                      {protocol::NackCode::Stale, 409},
                                                      {protocol::NackCode::NotOwner, 409},
                                                      {protocol::NackCode::Unsupported, 409},
                                                      {protocol::NackCode::Loop, 409},
                                                      {protocol::NackCode::Expired, 409},
                                                      {protocol::NackCode::TooLarge, 413},
                                                      {protocol::NackCode::Busy, 429},
                                                      {protocol::NackCode::RateLimited, 429},
                                                      {protocol::NackCode::Storage, 503}};
  for (int i = 0; i <= static_cast<int>(protocol::NackCode::Storage); ++i) {
    const auto each = static_cast<protocol::NackCode>(i);
    EXPECT_EQ(status_of(name_of(each)), statuses.at(each)) << name_of(each);
  }
  EXPECT_EQ(status_of(name_of(ErrorCode::NotFound)), 404);
  EXPECT_EQ(status_of(name_of(ErrorCode::Internal)), 503);
  EXPECT_EQ(status_of(name_of(ErrorCode::Timeout)), 504);
  EXPECT_EQ(api_error_by_code("", "the program ended at once"), conflict("FAILED", "the program ended at once"));
}

TEST(ApiError, RetryableErrorsHaveRetryAfter) {
  for (const auto* code : {"BUSY", "RATE_LIMITED", "STORAGE", "INTERNAL", "UNAVAILABLE", "TIMEOUT"})
    EXPECT_TRUE(api_error_by_code(code, "why").retry_after) << code;
  for (const auto* code : {"BAD_REQUEST", "NOT_FOUND", "STALE", "REFUSED", "TOO_LARGE"})
    EXPECT_FALSE(api_error_by_code(code, "why").retry_after) << code;
}

/// The HTTP error of an ERROR or NACK.
TEST(ApiError, DaemonErrorsKeepTheirCode) {
  const auto status_of = [](std::string_view code) {
    return to_api_error(client::refused_by_daemon(code, "why").error()).status;
  };
  EXPECT_EQ(status_of("BAD_REQUEST"), 400);
  EXPECT_EQ(status_of("NOT_FOUND"), 404);
  EXPECT_EQ(status_of("UNAUTHORIZED"), 409) << "the claim token of a name, not the API token";
  EXPECT_EQ(status_of("BUSY"), 429);
  EXPECT_EQ(status_of("RATE_LIMITED"), 429);
  EXPECT_EQ(status_of("INTERNAL"), 503);
  EXPECT_EQ(status_of("TIMEOUT"), 504);
  EXPECT_EQ(status_of("SOMETHING_NEW"), 503) << "nothing shows that the request is wrong";
}

TEST(ApiError, LostDaemonIsAServerError) {
  using client::Errc;
  for (const auto code : {Errc::NoDaemon, Errc::Lost, Errc::NotReady, Errc::Refused})
    EXPECT_EQ(to_api_error(fail(code, "why").error()).status, 503) << describe(code);
}

}  // namespace
}  // namespace relay::api
