/// A request of a client of the HTTP server, as a value.
///
/// Invariants of a request that reaches a handler: its path starts with '/', header names and values have no control
/// bytes, and the body is complete.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/peer_uid.h"

namespace relay::net {

struct HttpHeader {
  std::string name;
  std::string value;

  bool operator==(const HttpHeader&) const = default;
};

/// Headers in the order they arrived; names are case-insensitive.
class HttpHeaders {
 public:
  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }

  /// The first header with this name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  /// Is `word` one of the comma-separated values of this name, in any case? "Connection: keep-alive, Upgrade".
  [[nodiscard]] bool lists(std::string_view name, std::string_view word) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }

 private:
  std::vector<HttpHeader> fields_;
};

/// The client of a request.
struct HttpPeer {
  std::string address = {};  // "127.0.0.1"; empty when not connected by TCP
  std::uint16_t port = 0;
  std::optional<uid_t> uid = {};     // owner of the client program, from the kernel; see peer_uid.h
  std::optional<TcpEnds> ends = {};  // identify the client's socket
};

struct ServerRequest {
  std::string method = {};  // as sent: "GET"
  std::string path = {};    // escaped, without the query; request_target.h parses it
  std::string query = {};   // escaped, behind '?'
  HttpHeaders headers = {};
  std::string body = {};
  HttpPeer peer = {};
};

/// ASCII only: what HTTP calls case-insensitive.
bool equals_ignore_case(std::string_view a, std::string_view b);

}  // namespace relay::net
