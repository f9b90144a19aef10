#include "net/response_head.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "net/websocket_reader.h"

namespace relay::net {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return status < 300 ? "Success" : status < 400 ? "Redirection" : "Error";
  }
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.contains(c);
  });
}

bool is_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127; });
}

bool is_reserved(std::string_view name) {
  constexpr std::string_view kReserved[] = {"Connection", "Content-Length", "Content-Type", "Transfer-Encoding"};
  return std::any_of(std::begin(kReserved), std::end(kReserved),
                     [&](auto reserved) { return equals_ignore_case(reserved, name); }) ||
         equals_ignore_case(name.substr(0, 14), "Sec-WebSocket-");
}

Result<void> check(const ServerResponse& response) {
  if (response.status < 200 || response.status > 599)
    return fail(format("{} is not a valid response status", response.status));
  if (!is_value(response.content_type)) return fail("the content type has control characters");
  for (const auto& header : response.headers) {
    if (!is_token(header.name)) return fail(format("'{}' is not a valid header name", header.name));
    if (is_reserved(header.name)) return fail(format("the header {} is reserved for the server", header.name));
    if (!is_value(header.value)) return fail(format("the value of {} has control characters", header.name));
  }
  return {};
}

}  // namespace

void add_protective_headers(std::vector<HttpHeader>& headers) {
  const auto add = [&](std::string_view name, std::string_view value) {
    const bool is_there =
        std::ranges::any_of(headers, [&](const auto& header) { return equals_ignore_case(header.name, name); });
    if (!is_there) headers.push_back({std::string{name}, std::string{value}});
  };
  add("X-Content-Type-Options", "nosniff");
  add("X-Frame-Options", "DENY");
  add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

ServerResponse error_response(int status, std::string_view code, std::string_view message) {
  json::object error{{"code", code}, {"message", message}};
  ServerResponse response{.status = status,
                          .content_type = "application/json",
                          .body = json::serialize(json::object{{"error", std::move(error)}})};
  add_protective_headers(response.headers);
  return response;
}

bool requests_websocket(const ServerRequest& request) { return request.headers.lists("Upgrade", "websocket"); }

std::optional<std::string_view> websocket_key(const ServerRequest& request) {
  const auto key = request.headers.find("Sec-WebSocket-Key");
  const bool is_one = requests_websocket(request) && request.method == "GET" && key && key->size() == 24 &&
                      request.headers.lists("Connection", "Upgrade") &&
                      request.headers.find("Sec-WebSocket-Version") == "13";
  return is_one ? key : std::nullopt;
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

Result<std::string> response_head(const ServerResponse& response, Framing framing, HttpVersion version,
                                  KeepAlive keep_alive) {
  RELAY_TRY(check(response));
  auto text = format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  if (!response.content_type.empty()) text += format("Content-Type: {}\r\n", response.content_type);
  switch (framing.kind) {
    case Framing::Kind::Length: text += format("Content-Length: {}\r\n", framing.length); break;
    case Framing::Kind::Chunks: text += "Transfer-Encoding: chunked\r\n"; break;
    case Framing::Kind::Close:
    case Framing::Kind::NoBody: break;
  }
  if (keep_alive == KeepAlive::No)
    text += "Connection: close\r\n";
  else if (version == HttpVersion::Http10)
    text += "Connection: keep-alive\r\n";
  for (const auto& header : response.headers) text += format("{}: {}\r\n", header.name, header.value);
  return text += "\r\n";
}

Result<std::string> websocket_head(std::string_view client_key, std::string_view protocol) {
  auto text = format(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: {}\r\n",
      accept_key(client_key));
  if (!protocol.empty() && !is_token(protocol)) return fail(format("'{}' is not a valid protocol name", protocol));
  if (!protocol.empty()) text += format("Sec-WebSocket-Protocol: {}\r\n", protocol);
  return text += "\r\n";
}

}  // namespace relay::net
