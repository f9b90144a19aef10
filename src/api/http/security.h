/// Who may ask, decided from the facts of a request before anything else looks at it. Pure.
///
/// Why so strict on loopback: every program of the machine can connect there, and so can every web page that the person
///   looks at, in the person's name. So without a token the kernel must say that the asking program is the same user's;
///   a name in `Host` that is not ours is another site's that was pointed at us (DNS rebinding); an `Origin` or a
///   `Sec-Fetch-Site` that is not ours is a page that tries to use us (CSRF); and a body is JSON, which no form can send.
/// Invariants: the token is compared in constant time and appears in no answer and no log. No answer is for every origin.
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

/// What the server was started with.
struct AccessPolicy {
  std::string address = "127.0.0.1";
  std::string second_address = {};  // of the same server; see other_loopback
  std::uint16_t port = 0;
  std::string token = {};  // empty: none is asked for
  uid_t owner = 0;
  std::vector<std::string> origins = {};  // of other sites that the person allowed: "http://localhost:5173"
};

enum class Access : std::uint8_t {
  Authenticated,        // the token, or the same user
  AuthenticatedStream,  // the same; the token may come as `?token=`, since browsers send no header there
  Public,               // tells nothing of anybody: no token is asked for
};

/// An address as people write it, in numbers: `localhost` is 127.0.0.1, brackets around IPv6 are left out.
std::string normalize_address(std::string_view address);

/// Of the two addresses that `localhost` may mean, the other one; empty for any other address.
///
/// Why both: whoever listens at the one we leave free is `localhost` to a browser, and its pages have our origin.
std::string_view other_loopback(std::string_view address);

/// Can a server be started with these? Listening beyond this machine needs a token.
Result<void> check_access_policy(const AccessPolicy& policy);

/// Nothing when it may go on. What holds for every request, preflights and unknown paths too: where it comes from.
std::optional<ApiError> check_origin(const net::ServerRequest& request, const AccessPolicy& policy);
/// Nothing when it may go on: whose it is, and that it is JSON.
std::optional<ApiError> authorize(const net::ServerRequest& request, const AccessPolicy& policy, Access access);

/// Nothing when it may go on: a request that changes something is the user's, or, where agents may do it, an agent's under
/// its name. A caller that cannot be told apart has passed the checks above and counts as the user; none is gone.
///
/// Why a token makes no difference: it may be in a file or an environment that the agent can read, and the agent is
///   still not the user.
enum class AgentCallers : std::uint8_t { Refused, Allowed };
std::optional<ApiError> check_caller(const std::optional<protocol::PeerOrigin>& caller, AgentCallers allowed);

/// Does it change something?
bool is_write(std::string_view method);

/// Neither the owner's program nor one that knows the token: it is answered once, and its connection is not kept.
bool is_untrusted(const net::ServerRequest& request, const AccessPolicy& policy);

/// The headers by which a browser lets an allowed page read the answer; empty without an `Origin`.
std::vector<net::HttpHeader> cors_headers(const net::ServerRequest& request);
/// The answer to OPTIONS, when objection_to_origin had nothing to say.
net::ServerResponse preflight_response(const net::ServerRequest& request, std::string_view allowed_methods);

bool is_loopback(std::string_view address);

}  // namespace relay::api
