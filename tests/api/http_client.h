/// An HTTP client for tests: one connection per request, or raw bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace relay::api_tests {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 0;
  std::string head;  // status line and headers
  std::string body;
  [[nodiscard]] json::object object() const { return parse_json_object(body).value_or(json::object{}); }
  [[nodiscard]] std::string code() const;  // of an error
};

class HttpClient {
 public:
  explicit HttpClient(const std::string& url);  // "http://127.0.0.1:3888"

  /// A body is sent as JSON. `more` replaces the default headers.
  [[nodiscard]] HttpResponse request(const std::string& method, const std::string& target, const std::string& body = {},
                                     const Headers& more = {}) const;
  /// Reads until the server closes the connection or a timeout.
  [[nodiscard]] std::string raw(std::string_view bytes) const;
  [[nodiscard]] int port() const { return port_; }

 private:
  int port_ = 0;
};

}  // namespace relay::api_tests
