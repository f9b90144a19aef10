/// JSON-RPC 2.0 on lines of stdio: parsing and writing.
///
/// Why strict and lenient: a line that is no JSON-RPC gets an error with a reason, and unknown members are ignored, so
///   that clients of later revisions are understood.
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
  Busy = -32000,                // not from the standard: too many open requests
  ResourceNotFound = -32002,    // legacy revisions; later ones use InvalidParams
  UnsupportedVersion = -32022,  // from 2026-07-28 on
};

struct RpcRequest {
  json::value id;  // a string or a number, returned unchanged
  std::string method;
  json::object params;
};
struct RpcNotification {
  std::string method;
  json::object params;
};
struct RpcResponse {};  // the server sends no requests
struct RpcError {
  json::value id;  // null when it is unknown
  RpcCode code = RpcCode::InvalidRequest;
  std::string message;
};
using RpcMessage = std::variant<RpcRequest, RpcNotification, RpcResponse, RpcError>;

RpcMessage read_message(const json::value& value);

/// The id of a request from its first and last bytes; null when they do not contain it. Most clients write the id as
/// the first or as the last member.
json::value id_of_cut_line(std::string_view prefix, std::string_view suffix);

/// Without a line end, at the end or inside.
std::string result_line(const json::value& id, json::object result);
std::string error_line(const json::value& id, RpcCode code, std::string_view message, json::object data = {});
std::string notification_line(std::string_view method, json::object params);

}  // namespace relay::mcp
