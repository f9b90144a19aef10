#include "mcp/rpc.h"

#include <algorithm>

namespace relay::mcp {
namespace {

bool is_request_id(const json::value& id) {
  if (const auto* text = id.if_string()) return text->size() <= kMaxRequestIdBytes;
  return id.is_number();
}

RpcError invalid(json::value id, std::string message) {
  return {std::move(id), RpcCode::InvalidRequest, std::move(message)};
}

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kNumberLength = "0123456789+-.eE";
constexpr std::string_view kIdName = "\"id\"";

std::string_view without_front_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}
std::string_view without_end_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// The position after the closing quote of the string at the start of `text`; npos when it is incomplete.
std::size_t end_of_string(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return std::string_view::npos;
}

json::value id_spelled(std::string_view text) {
  const auto value = parse_json(text);
  return value && is_request_id(*value) ? *value : json::value(nullptr);
}

/// The value at the start of `text`, when it is complete.
json::value id_in_front(std::string_view text) {
  const auto end = text.starts_with('"') ? end_of_string(text) : text.find_first_not_of(kNumberLength);
  return end == std::string_view::npos ? json::value(nullptr) : id_spelled(text.substr(0, end));
}

json::value id_in_prefix(std::string_view text) {
  int depth = 0;
  while (!text.empty()) {
    const char message = text.front();
    if (message == '{' || message == '[') ++depth;
    if (message == '}' || message == ']') --depth;
    const auto end = message == '"' ? end_of_string(text) : 1;
    if (end == std::string_view::npos) break;
    const auto rest = without_front_blanks(text.substr(end));
    if (depth == 1 && text.substr(0, end) == kIdName && rest.starts_with(':'))
      return id_in_front(without_front_blanks(rest.substr(1)));
    text.remove_prefix(end);
  }
  return nullptr;
}

/// `…,"id":7}`: the last brace closes the message, so the member before it belongs to the message. A quote inside a
/// string follows a backslash, never a comma or a colon.
json::value id_in_suffix(std::string_view text) {
  text = without_end_blanks(text);
  if (!text.ends_with('}')) return nullptr;
  text = without_end_blanks(text.substr(0, text.size() - 1));
  const auto before =
      text.ends_with('"') ? text.substr(0, text.size() - 1).rfind('"') : text.find_last_not_of(kNumberLength) + 1;
  if (before == std::string_view::npos) return nullptr;
  const auto value = text.substr(before);
  text = without_end_blanks(text.substr(0, before));
  if (!text.ends_with(':')) return nullptr;
  text = without_end_blanks(text.substr(0, text.size() - 1));
  if (!text.ends_with(kIdName)) return nullptr;
  text = without_end_blanks(text.substr(0, text.size() - kIdName.size()));
  return text.ends_with(',') || text.ends_with('{') ? id_spelled(value) : json::value(nullptr);
}

}  // namespace

json::value id_of_cut_line(std::string_view prefix, std::string_view suffix) {
  auto id = id_in_prefix(prefix);
  return id.is_null() ? id_in_suffix(suffix) : id;
}

RpcMessage read_message(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return invalid(nullptr, "a message is one JSON object per line");
  const auto* id = object->if_contains("id");
  const bool has_id = id != nullptr && is_request_id(*id);
  const json::value reply_id = has_id ? *id : json::value(nullptr);
  if (string_member(*object, "jsonrpc") != "2.0") return invalid(reply_id, R"("jsonrpc" must be "2.0")");
  if (!object->contains("method")) {
    if (object->contains("result") || object->contains("error")) return RpcResponse{};
    return invalid(reply_id, "the message has no \"method\"");
  }
  auto method = string_member(*object, "method");
  if (!method || method->empty() || method->size() > kMaxMethodBytes)
    return invalid(reply_id, "\"method\" must be a short string");
  if (id != nullptr && !has_id) return invalid(nullptr, "\"id\" must be a string or a number");
  json::object params;
  if (const auto* given = object->if_contains("params"); given != nullptr && !given->is_null()) {
    if (!given->is_object())
      return RpcError{reply_id, RpcCode::InvalidParams, "\"params\" must be an object with named members"};
    params = given->get_object();
  }
  if (!has_id) return RpcNotification{*std::move(method), std::move(params)};
  return RpcRequest{reply_id, *std::move(method), std::move(params)};
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
