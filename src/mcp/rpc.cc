#include "mcp/rpc.h"

namespace relay::mcp {
namespace {

bool is_request_id(const json::value& id) {
  if (const auto* text = id.if_string()) return text->size() <= kMaxRequestIdBytes;
  return id.is_number();
}

RpcProblem invalid(json::value id, std::string message) {
  return {std::move(id), RpcCode::InvalidRequest, std::move(message)};
}

}  // namespace

RpcMessage read_message(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return invalid(nullptr, "a message is one JSON object per line");
  const auto* id = object->if_contains("id");
  const bool has_id = id != nullptr && is_request_id(*id);
  const json::value known_id = has_id ? *id : json::value(nullptr);
  if (string_member(*object, "jsonrpc") != "2.0") return invalid(known_id, R"("jsonrpc" must be "2.0")");
  if (!object->contains("method")) {
    if (object->contains("result") || object->contains("error")) return RpcResponse{};
    return invalid(known_id, "the message has no \"method\"");
  }
  auto method = string_member(*object, "method");
  if (!method || method->empty() || method->size() > kMaxMethodBytes)
    return invalid(known_id, "\"method\" must be a short text");
  if (id != nullptr && !has_id) return invalid(nullptr, "\"id\" must be a text or a number");
  json::object params;
  if (const auto* given = object->if_contains("params"); given != nullptr && !given->is_null()) {
    if (!given->is_object())
      return RpcProblem{known_id, RpcCode::InvalidParams, "\"params\" must be an object with named members"};
    params = given->get_object();
  }
  if (!has_id) return RpcNotification{*std::move(method), std::move(params)};
  return RpcRequest{known_id, *std::move(method), std::move(params)};
}

std::string result_line(const json::value& id, json::object result) {
  json::object line;
  line["jsonrpc"] = "2.0";
  line["id"] = id;
  line["result"] = std::move(result);
  return json::serialize(line);
}

std::string error_line(const json::value& id, RpcCode code, std::string_view message, json::object data) {
  json::object error;
  error["code"] = static_cast<int>(code);
  error["message"] = message;
  if (!data.empty()) error["data"] = std::move(data);
  json::object line;
  line["jsonrpc"] = "2.0";
  line["id"] = id;
  line["error"] = std::move(error);
  return json::serialize(line);
}

std::string notification_line(std::string_view method, json::object params) {
  json::object line;
  line["jsonrpc"] = "2.0";
  line["method"] = method;
  line["params"] = std::move(params);
  return json::serialize(line);
}

}  // namespace relay::mcp
