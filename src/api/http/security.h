/// Decides who may use the server, from the headers and the peer of a request. Pure.
///
/// Why so strict on loopback: every program on the machine can connect, and so can every web page in the user's
///   browser. Without a token the kernel must report the peer as a process of the same user. A foreign name in `Host`
///   is DNS rebinding. A foreign `Origin` or `Sec-Fetch-Site` is a page of another site (CSRF). A request that changes
///   state must be JSON, which an HTML form cannot send.
/// Invariants: the token is compared in constant time and appears in no response and no log. No response has
///   `Access-Control-Allow-Origin: *`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/api_error.h"
#include "net/server_request.h"
#include "protocol/peer_origin.h"

namespace relay::api {

inline constexpr std::size_t kMaxTokenBytes = 512;

/// The access settings of the server.
struct AccessPolicy {
  std::string address = "127.0.0.1";
  std::string second_address = {};  // where it also listens; see other_loopback
  std::uint16_t port = 0;
  std::string token = {};  // empty: no token is needed
  uid_t owner = 0;
  std::vector<std::string> origins = {};  // other sites that the user allowed: "http://localhost:5173"
};

enum class Access : std::uint8_t {
  Authenticated,        // needs the token, or the same user
  AuthenticatedStream,  // also accepts `?token=`, because a browser cannot send the header
  Public,               // has no private data and needs no token
};

/// The numeric form of a configured address: `localhost` becomes 127.0.0.1, brackets around IPv6 are removed.
std::string normalize_address(std::string_view address);

/// The other of the two addresses of `localhost`; empty for any other address.
///
/// Why the server listens at both: another program at the free one would be `localhost` to a browser, and its pages
///   would have the origin of this server.
std::string_view other_loopback(std::string_view address);

/// Checks the settings. Listening beyond this machine needs a token.
Result<void> check_access_policy(const AccessPolicy& policy);

/// Checks Host, Origin and Sec-Fetch-Site of every request, preflights and unknown paths included. Empty when allowed.
std::optional<ApiError> check_origin(const net::ServerRequest& request, const AccessPolicy& policy);
/// Checks the token or the user of the peer, and that a write is JSON. Empty when allowed.
std::optional<ApiError> authorize(const net::ServerRequest& request, const AccessPolicy& policy, Access access);

/// Checks the process that sent a write: it is the user's, or a process inside an agent on a route that allows agents.
/// A caller of unknown origin has passed the checks above and counts as the user. No caller means that its process has
/// exited. Empty when allowed.
///
/// Why a token does not replace this check: an agent may read the token from a file or the environment.
enum class AgentCallers : std::uint8_t { Refused, Allowed };
std::optional<ApiError> check_caller(const std::optional<protocol::PeerOrigin>& caller, AgentCallers allowed);

/// True for methods that change state.
bool is_write(std::string_view method);

/// True for a peer that is neither the owner nor has the token. It gets one response, and its connection is closed.
bool is_untrusted(const net::ServerRequest& request, const AccessPolicy& policy);

/// The CORS headers for an allowed page; empty without an `Origin`.
std::vector<net::HttpHeader> cors_headers(const net::ServerRequest& request);
/// The response to OPTIONS, after check_origin has passed.
net::ServerResponse preflight_response(const net::ServerRequest& request, std::string_view allowed_methods);

bool is_loopback(std::string_view address);

}  // namespace relay::api
