#include "api/http/security.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/format.h"
#include "net/http_server.h"
#include "net/request_target.h"

namespace relay::api {
namespace {

using net::ServerRequest;

constexpr std::string_view kBearer = "Bearer ";
constexpr std::uint16_t kHttpPort = 80;

bool constant_time_equal(std::string_view presented, std::string_view token) {
  return presented.size() == token.size() && CRYPTO_memcmp(presented.data(), token.data(), token.size()) == 0;
}

bool is_any_address(std::string_view address) { return address == "0.0.0.0" || address == "::"; }

std::string url_host(std::string_view address) {
  return address.find(':') == std::string_view::npos ? std::string{address} : format("[{}]", address);
}

/// The Host values of this server, such as `localhost:3888`. An address where it does not listen is not among them:
/// another user's program may listen there.
std::vector<std::string> own_hosts(const AccessPolicy& policy) {
  std::vector<std::string> names = {url_host(policy.address)};
  if (!policy.second_address.empty()) names.push_back(url_host(policy.second_address));
  if (!other_loopback(policy.address).empty()) names.emplace_back("localhost");
  std::vector<std::string> hosts;
  for (const auto& name : names) {
    hosts.push_back(format("{}:{}", name, policy.port));
    if (policy.port == kHttpPort) hosts.push_back(name);
  }
  return hosts;
}

bool is_own_host(std::string_view host, const AccessPolicy& policy) {
  // The names of a server on all addresses are unknown. The token decides then; no web page has it.
  if (is_any_address(policy.address)) return true;
  const auto hosts = own_hosts(policy);
  return std::any_of(hosts.begin(), hosts.end(), [&](const auto& own) { return net::equals_ignore_case(own, host); });
}

bool is_allowed_site(std::string_view origin, const AccessPolicy& policy) {
  return std::any_of(policy.origins.begin(), policy.origins.end(),
                     [&](const auto& allowed) { return net::equals_ignore_case(allowed, origin); });
}

bool is_own_origin(std::string_view origin, std::string_view host, const AccessPolicy& policy) {
  constexpr std::string_view kScheme = "http://";
  if (!origin.starts_with(kScheme)) return false;
  const auto site = origin.substr(kScheme.size());
  if (is_any_address(policy.address)) return net::equals_ignore_case(site, host);
  return is_own_host(site, policy);
}

ApiError forbidden(std::string_view code, std::string message) {
  return {403, std::string{code}, std::move(message), {}};
}
ApiError unauthorized(std::string message) { return {401, "UNAUTHORIZED", std::move(message), {}}; }

std::optional<std::string> presented_token(const ServerRequest& request, Access access) {
  if (const auto header = request.headers.find("Authorization")) {
    if (header->size() > kBearer.size() && net::equals_ignore_case(header->substr(0, kBearer.size()), kBearer))
      return std::string{header->substr(kBearer.size())};
    return std::nullopt;
  }
  if (access != Access::AuthenticatedStream || request.method != "GET") return std::nullopt;
  const auto query = net::QueryParameters::parse(request.query);
  const auto token = query ? query->find("token") : std::nullopt;
  return token ? std::optional{std::string{*token}} : std::nullopt;
}

bool is_json(std::string_view type) {
  const auto end = type.find_first_of("; \t");
  return net::equals_ignore_case(type.substr(0, end), "application/json");
}

std::optional<ApiError> authenticate(const ServerRequest& request, const AccessPolicy& policy, Access access) {
  if (!policy.token.empty()) {
    const auto token = access == Access::Public ? std::optional{policy.token} : presented_token(request, access);
    if (!token) return unauthorized("a token is required; send the header \"Authorization: Bearer TOKEN\"");
    if (!constant_time_equal(*token, policy.token))
      return unauthorized("the token is not the one the daemon was started with (AGENT_RELAY_API_TOKEN)");
    return std::nullopt;
  }
  if (!request.peer.uid)
    return unauthorized(
        "cannot determine the user of the calling program; start the daemon with AGENT_RELAY_API_TOKEN and send the "
        "token");
  if (*request.peer.uid != policy.owner)
    return forbidden("OTHER_USER", "without a token, only programs of the user who runs the daemon are accepted");
  return std::nullopt;
}

}  // namespace

bool is_write(std::string_view method) { return method != "GET" && method != "HEAD" && method != "OPTIONS"; }

std::string normalize_address(std::string_view address) {
  if (net::equals_ignore_case(address, "localhost")) return "127.0.0.1";
  if (address.starts_with('[') && address.ends_with(']')) return std::string{address.substr(1, address.size() - 2)};
  return std::string{address};
}

std::string_view other_loopback(std::string_view address) {
  if (address == "127.0.0.1") return "::1";
  return address == "::1" ? "127.0.0.1" : "";
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

Result<void> check_access_policy(const AccessPolicy& policy) {
  if (policy.token.size() > kMaxTokenBytes)
    return fail(format("AGENT_RELAY_API_TOKEN has {} bytes; the limit is {}", policy.token.size(), kMaxTokenBytes));
  if (policy.token.find_first_of(" \t\r\n") != std::string::npos)
    return fail("AGENT_RELAY_API_TOKEN must not contain white space; choose another");
  if (!is_loopback(policy.address) && !net::is_ip_address(policy.address))
    return fail(
        format("http.address is \"{}\", which is not an IP address; use a numeric address such as 127.0.0.1 or ::1",
               policy.address));
  if (policy.token.empty() && !is_loopback(policy.address))
    return fail(format(
        "{} is reachable from other machines and needs a token; set AGENT_RELAY_API_TOKEN or listen on 127.0.0.1",
        policy.address));
  for (const auto& origin : policy.origins)
    if (origin == "*" || origin.find("://") == std::string::npos)
      return fail(format("\"{}\" is not an origin; list each site, for example http://localhost:5173", origin));
  return {};
}

std::optional<ApiError> check_origin(const ServerRequest& request, const AccessPolicy& policy) {
  if (request.headers.count("Host") != 1) return bad_request("a request needs exactly one Host header");
  const auto host = *request.headers.find("Host");
  if (!is_own_host(host, policy))
    return forbidden("HOST_NOT_ALLOWED",
                     format("the Host header is not a name of this server; use http://127.0.0.1:{}", policy.port));
  for (const auto* name : {"Origin", "Sec-Fetch-Site", "Authorization"})
    if (request.headers.count(name) > 1) return bad_request(format("a request has at most one {} header", name));
  const auto origin = request.headers.find("Origin");
  if (origin && is_allowed_site(*origin, policy)) return std::nullopt;
  if (origin && !is_own_origin(*origin, host, policy))
    return forbidden("ORIGIN_NOT_ALLOWED",
                     "pages of other sites may not use this server; allow a site in the setting http.origins");
  const auto site = request.headers.find("Sec-Fetch-Site");
  if (site && *site != "same-origin" && *site != "none")
    return forbidden("CROSS_SITE",
                     "pages of other sites may not use this server; allow a site in the setting http.origins");
  return std::nullopt;
}

bool is_untrusted(const ServerRequest& request, const AccessPolicy& policy) {
  return authenticate(request, policy, Access::AuthenticatedStream).has_value();
}

std::optional<ApiError> authorize(const ServerRequest& request, const AccessPolicy& policy, Access access) {
  if (auto error = authenticate(request, policy, access)) return error;
  if (!is_write(request.method)) return std::nullopt;
  const auto type = request.headers.find("Content-Type");
  if (type ? is_json(*type) : request.body.empty()) return std::nullopt;
  return ApiError{
      415, "NOT_JSON", "a request that changes state must be JSON; send \"Content-Type: application/json\"", {}};
}

std::optional<ApiError> check_caller(const std::optional<protocol::PeerOrigin>& caller, AgentCallers allowed) {
  if (!caller)
    return forbidden("CALLER_GONE",
                     "the caller closed its connection before it was identified; keep the connection open until the "
                     "response arrives");
  if (!caller->is_agent() || allowed == AgentCallers::Allowed) return std::nullopt;
  return forbidden(
      "INSIDE_AGENT",
      format("only the user may do this, and the request comes from a process inside {}; ask the user to do "
             "it in their own shell or browser",
             caller->agent.empty() ? std::string{"an agent"} : format("the agent {}", caller->agent)));
}

std::vector<net::HttpHeader> cors_headers(const ServerRequest& request) {
  const auto origin = request.headers.find("Origin");
  if (!origin) return {};
  return {{"Access-Control-Allow-Origin", std::string{*origin}}, {"Vary", "Origin"}};
}

net::ServerResponse preflight_response(const ServerRequest& request, std::string_view allowed_methods) {
  net::ServerResponse response{.status = 204, .headers = cors_headers(request)};
  response.headers.push_back({"Allow", std::string{allowed_methods}});
  if (response.headers.size() > 1) {
    response.headers.push_back({"Access-Control-Allow-Methods", std::string{allowed_methods}});
    response.headers.push_back({"Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"});
    response.headers.push_back({"Access-Control-Max-Age", "600"});
  }
  return response;
}

}  // namespace relay::api
