#include "api/http/security.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::api {
namespace {

constexpr uid_t kMe = 1000;

net::ServerRequest request(std::string method, std::initializer_list<net::HttpHeader> headers = {}) {
  net::ServerRequest made{.method = std::move(method), .path = "/api/v1/agents"};
  made.peer = {.address = "127.0.0.1", .port = 40'000, .uid = kMe};
  bool named = false;
  for (const auto& header : headers) {
    named = named || header.name == "Host";
    made.headers.add(header.name, header.value);
  }
  if (!named) made.headers.add("Host", "127.0.0.1:3888");
  return made;
}

AccessPolicy policy(std::string token = {}) { return {.port = 3888, .token = std::move(token), .owner = kMe}; }

std::string code(const std::optional<ApiError>& error) { return error ? error->code : "allowed"; }
std::string origin_code(const net::ServerRequest& http_request, const AccessPolicy& by = policy()) {
  return code(check_origin(http_request, by));
}
std::string authorize_code(const net::ServerRequest& http_request, const AccessPolicy& by = policy(),
                           Access access = Access::Authenticated) {
  return code(authorize(http_request, by, access));
}

TEST(Security, ForeignHostNamesAreRefused) {
  for (const auto* host : {"127.0.0.1:3888", "localhost:3888", "LOCALHOST:3888"})
    EXPECT_EQ(origin_code(request("GET", {{"Host", host}})), "allowed") << host;
  for (const auto* host : {"evil.example:3888", "127.0.0.1", "localhost:80", "localhost:3889",
                           "127.0.0.1:3888.evil.example", "127.0.0.2:3888", "", "localhost:3888@evil.example"})
    EXPECT_EQ(origin_code(request("GET", {{"Host", host}})), "HOST_NOT_ALLOWED") << host;
  EXPECT_EQ(origin_code(request("GET", {{"Host", "localhost:3888"}, {"Host", "evil.example"}})), "BAD_REQUEST");
}

TEST(Security, DefaultPortMayBeOmittedFromHost) {
  auto by = policy();
  by.port = 80;
  EXPECT_EQ(origin_code(request("GET", {{"Host", "localhost"}}), by), "allowed");
}

TEST(Security, PagesOfOtherSitesAreRefused) {
  for (const auto* origin : {"https://evil.example", "null", "http://localhost:5173", "http://localhost",
                             "https://localhost:3888", "http://localhost:3888.evil.example"})
    EXPECT_EQ(origin_code(request("POST", {{"Origin", origin}})), "ORIGIN_NOT_ALLOWED") << origin;
  for (const auto* site : {"cross-site", "same-site", "anything"})
    EXPECT_EQ(origin_code(request("GET", {{"Sec-Fetch-Site", site}})), "CROSS_SITE") << site;
  for (const auto* origin : {"http://localhost:3888", "http://127.0.0.1:3888"})
    EXPECT_EQ(origin_code(request("POST", {{"Origin", origin}, {"Sec-Fetch-Site", "same-origin"}})), "allowed")
        << origin;
  EXPECT_EQ(origin_code(request("GET", {{"Sec-Fetch-Site", "none"}})), "allowed") << "typed into the address bar";
}

TEST(Security, AddressWithoutListenerIsAForeignHost) {
  const auto host = request("GET", {{"Host", "[::1]:3888"}});
  const auto origin = request("POST", {{"Origin", "http://[::1]:3888"}});
  EXPECT_EQ(origin_code(host), "HOST_NOT_ALLOWED");
  EXPECT_EQ(origin_code(origin), "ORIGIN_NOT_ALLOWED");
  auto both = policy();
  both.second_address = "::1";
  EXPECT_EQ(origin_code(host, both), "allowed");
  EXPECT_EQ(origin_code(origin, both), "allowed");
  auto elsewhere = policy();
  elsewhere.address = "127.0.0.2";
  EXPECT_EQ(origin_code(request("GET", {{"Host", "127.0.0.2:3888"}}), elsewhere), "allowed");
  for (const auto* other : {"localhost:3888", "127.0.0.1:3888", "[::1]:3888"})
    EXPECT_EQ(origin_code(request("GET", {{"Host", other}}), elsewhere), "HOST_NOT_ALLOWED") << other;
}

TEST(Security, RepeatedSecurityHeadersAreRefused) {
  for (const auto* name : {"Sec-Fetch-Site", "Origin", "Authorization"}) {
    const auto twice = request("GET", {{name, "same-origin"}, {name, "cross-site"}});
    EXPECT_EQ(origin_code(twice), "BAD_REQUEST") << name;
  }
  EXPECT_EQ(origin_code(request("GET", {{"Sec-Fetch-Site", "same-origin, cross-site"}})), "CROSS_SITE");
}

TEST(Security, ConfiguredOriginIsAllowed) {
  auto by = policy();
  by.origins = {"http://localhost:5173"};
  const auto http_request = request("GET", {{"Origin", "http://localhost:5173"}, {"Sec-Fetch-Site", "same-site"}});
  EXPECT_EQ(origin_code(http_request, by), "allowed");
  EXPECT_EQ(
      cors_headers(http_request),
      (std::vector<net::HttpHeader>{{"Access-Control-Allow-Origin", "http://localhost:5173"}, {"Vary", "Origin"}}));
  EXPECT_TRUE(cors_headers(request("GET")).empty());
  EXPECT_EQ(origin_code(request("GET", {{"Origin", "http://localhost:5174"}}), by), "ORIGIN_NOT_ALLOWED");
}

TEST(Security, WithoutTokenThePeerMustBeTheSameUser) {
  auto http_request = request("GET");
  EXPECT_EQ(authorize_code(http_request), "allowed");
  http_request.peer.uid = kMe + 1;
  EXPECT_EQ(authorize_code(http_request), "OTHER_USER");
  http_request.peer.uid.reset();
  EXPECT_EQ(authorize_code(http_request), "UNAUTHORIZED");
  EXPECT_NE(authorize(http_request, policy(), Access::Authenticated)->message.find("AGENT_RELAY_API_TOKEN"),
            std::string::npos);
}

TEST(Security, WithTokenEveryCallerNeedsIt) {
  const auto by = policy("s3cret");
  EXPECT_EQ(authorize_code(request("GET"), by), "UNAUTHORIZED");
  for (const auto* header : {"Bearer s3cret", "bearer s3cret"})
    EXPECT_EQ(authorize_code(request("GET", {{"Authorization", header}}), by), "allowed");
  for (const auto* header : {"Bearer s3cre", "Bearer s3cret2", "Bearer ", "Bearer", "Basic s3cret", "s3cret", ""})
    EXPECT_EQ(authorize_code(request("GET", {{"Authorization", header}}), by), "UNAUTHORIZED") << header;
  auto other = request("GET", {{"Authorization", "Bearer s3cret"}});
  other.peer.uid.reset();
  EXPECT_EQ(authorize_code(other, by), "allowed") << "from another machine";
  EXPECT_EQ(authorize_code(request("GET"), by, Access::Public), "allowed");
}

TEST(Security, TokenInTheQueryCountsOnlyForStreams) {
  const auto by = policy("s3cret");
  auto http_request = request("GET");
  http_request.query = "token=s3cret";
  EXPECT_EQ(authorize_code(http_request, by, Access::AuthenticatedStream), "allowed");
  EXPECT_EQ(authorize_code(http_request, by, Access::Authenticated), "UNAUTHORIZED");
  http_request.query = "token=other";
  EXPECT_EQ(authorize_code(http_request, by, Access::AuthenticatedStream), "UNAUTHORIZED");
  http_request.query = "token=%ZZ";
  EXPECT_EQ(authorize_code(http_request, by, Access::AuthenticatedStream), "UNAUTHORIZED");
}

TEST(Security, ErrorsNeverRepeatAToken) {
  const auto error =
      authorize(request("GET", {{"Authorization", "Bearer wrong"}}), policy("right"), Access::Authenticated);
  EXPECT_EQ(error->message.find("wrong"), std::string::npos);
  EXPECT_EQ(error->message.find("right"), std::string::npos);
}

TEST(Security, WritesMustBeJson) {
  for (const auto* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""})
    EXPECT_EQ(authorize_code(request("POST", {{"Content-Type", type}})), "NOT_JSON") << type;
  auto named = request("POST");
  named.body = "{}";
  EXPECT_EQ(authorize_code(named), "NOT_JSON") << "a body without a type";
  for (const auto* type : {"application/json", "Application/JSON; charset=utf-8"})
    EXPECT_EQ(authorize_code(request("POST", {{"Content-Type", type}})), "allowed") << type;
  EXPECT_EQ(authorize_code(request("DELETE")), "allowed") << "no body";
  EXPECT_EQ(authorize_code(request("GET", {{"Content-Type", "text/plain"}})), "allowed");
}

TEST(Security, ListeningBeyondThisMachineNeedsAToken) {
  auto by = policy();
  EXPECT_TRUE(check_access_policy(by));
  by.address = "0.0.0.0";
  EXPECT_FALSE(check_access_policy(by));
  by.token = "s3cret";
  EXPECT_TRUE(check_access_policy(by));
  by.token = "two words";
  EXPECT_FALSE(check_access_policy(by));
  by.token = std::string(kMaxTokenBytes + 1, 'x');
  EXPECT_FALSE(check_access_policy(by));
  auto all = policy();
  all.origins = {"*"};
  EXPECT_FALSE(check_access_policy(all)) << "no wildcard";
}

TEST(Security, AddressIsNumericOrLocalhost) {
  EXPECT_EQ(normalize_address("localhost"), "127.0.0.1");
  EXPECT_EQ(normalize_address("LocalHost"), "127.0.0.1");
  EXPECT_EQ(normalize_address("[::1]"), "::1");
  EXPECT_EQ(normalize_address("10.0.0.7"), "10.0.0.7");
  for (const auto* name : {"example.org", "10.0.0.256", "", "*"}) {
    const auto checked = check_access_policy({.address = name, .token = "s3cret"});
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_EQ(
        checked.error().message(),
        format("http.address is \"{}\", which is not an IP address; use a numeric address such as 127.0.0.1 or ::1",
               name));
  }
}

TEST(Security, PeerWithoutOwnershipOrTokenIsUntrusted) {
  net::ServerRequest request{.method = "GET", .path = "/docs"};
  AccessPolicy by{.port = 3888, .owner = 1000};
  EXPECT_TRUE(is_untrusted(request, by)) << "the user is unknown";
  request.peer.uid = 1001;
  EXPECT_TRUE(is_untrusted(request, by));
  request.peer.uid = 1000;
  EXPECT_FALSE(is_untrusted(request, by));
  by.token = "s3cret";
  EXPECT_TRUE(is_untrusted(request, by));
  request.headers.add("Authorization", "Bearer s3cret");
  EXPECT_FALSE(is_untrusted(request, by));
}

TEST(Security, WildcardAddressAcceptsAnyHostAndItsOwnPages) {
  auto by = policy("s3cret");
  by.address = "0.0.0.0";
  EXPECT_EQ(origin_code(request("GET", {{"Host", "build-machine:3888"}}), by), "allowed");
  EXPECT_EQ(origin_code(request("GET", {{"Host", "build-machine:3888"}, {"Origin", "http://build-machine:3888"}}), by),
            "allowed");
  EXPECT_EQ(origin_code(request("GET", {{"Host", "build-machine:3888"}, {"Origin", "http://evil.example"}}), by),
            "ORIGIN_NOT_ALLOWED");
}

TEST(Security, PreflightNamesMethodsAndOrigin) {
  const auto answer = preflight_response(request("OPTIONS", {{"Origin", "http://localhost:3888"}}), "GET, POST");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.headers.front(), (net::HttpHeader{"Access-Control-Allow-Origin", "http://localhost:3888"}));
  EXPECT_EQ(preflight_response(request("OPTIONS"), "GET").headers, (std::vector<net::HttpHeader>{{"Allow", "GET"}}));
}

TEST(ApiErrors, WireCodesMapToClientErrorStatuses) {
  EXPECT_EQ(api_error_by_code("UNKNOWN_RECIPIENT", "x").status, 404);
  EXPECT_EQ(api_error_by_code("STALE", "x").status, 409);
  EXPECT_EQ(api_error_by_code("UNSUPPORTED", "x").status, 409);
  EXPECT_EQ(api_error_by_code("BUSY", "x").status, 429);
  EXPECT_TRUE(api_error_by_code("BUSY", "x").retry_after);
  EXPECT_EQ(api_error_by_code("STORAGE", "x").status, 503);
  EXPECT_EQ(api_error_by_code("", "x").code, "FAILED");
  EXPECT_EQ(api_error_in(json::object{{"success", true}, {"error", "no"}}), std::nullopt);
  EXPECT_EQ(api_error_in(json::object{{"success", false}, {"error", "no"}, {"code", "STALE"}})->status, 409);
  EXPECT_EQ(api_error_in(json::object{{"error", "the disk is full"}})->status, 503);
  EXPECT_EQ(api_error_in(json::object{{"agents", json::array{}}}), std::nullopt);
  const auto answer = to_response({429, "BUSY", "later", Millis{1}});
  EXPECT_EQ(answer.headers.back(), (net::HttpHeader{"Retry-After", "1"}));
}

}  // namespace
}  // namespace relay::api
