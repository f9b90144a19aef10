/// JSON-RPC 2.0 as it stands on one line of stdio: a line as a value, values as a line.
///
/// Why strict and forgiving at once: what is no JSON-RPC gets an error its sender can read, and every member we do not
///   know is passed over, so that a client of a later revision is still understood.
/// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace relay::mcp {

inline constexpr std::size_t kMaxMethodBytes = 256;
inline constexpr std::size_t kMaxRequestIdBytes = 1'024;

enum class RpcCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  Internal = -32603,
  Busy = -32000,                // ours: more is open than we hold
  ResourceNotFound = -32002,    // legacy revisions; later ones say InvalidParams
  UnsupportedVersion = -32022,  // from 2026-07-28 on
};

struct RpcRequest {
  json::value id;  // a text or a number, given back as it came
  std::string method;
  json::object params;
};
struct RpcNotification {
  std::string method;
  json::object params;
};
struct RpcResponse {};  // to a question we never ask
struct RpcError {
  json::value id;  // null when it could not be told
  RpcCode code = RpcCode::InvalidRequest;
  std::string message;
};
using RpcMessage = std::variant<RpcRequest, RpcNotification, RpcResponse, RpcError>;

RpcMessage read_message(const json::value& value);

/// The id of a request of which only the first and the last bytes are known; null when they do not show it. Most clients
/// write it as the first or as the last member.
json::value id_of_cut_line(std::string_view beginning, std::string_view end);

/// Without the end of the line; never with one inside.
std::string result_line(const json::value& id, json::object result);
std::string error_line(const json::value& id, RpcCode code, std::string_view message, json::object data = {});
std::string notification_line(std::string_view method, json::object params);

}  // namespace relay::mcp
